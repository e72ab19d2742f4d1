package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// After runs the statements of the plan that are for the target when it is verified, each of them once. The report
// of verification is kept with them: from now on rows are not as they were copied. It says in found how far the
// statements are.
func After(ctx context.Context, j *work.Job, found *report.Report) (err error) {
	if len(j.Plan.After) == 0 {
		return nil
	}
	c, err := j.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	w := &work.Writer{Job: j, Conns: c}
	return leased(ctx, w, func(ctx context.Context) error {
		err := after(ctx, w, found)
		if ctx.Err() == nil {
			done, failed := work.Statements(ctx, j, ledger.Of(c.Target))
			err = errors.Join(err, failed)
			found.After = done
		}
		return err
	})
}

func after(ctx context.Context, w *work.Writer, found *report.Report) error {
	written := ledger.Statements{Ledger: ledger.Of(w.Conns.Target), Run: w.ID}
	begun, err := written.All(ctx)
	if err != nil {
		return err
	}
	if len(begun) == 0 {
		text, err := json.Marshal(found)
		if err != nil {
			return err
		}
		kept := ledger.Statement{SQL: string(text), State: ledger.StatementDone}
		if err := w.Lease.Transaction(ctx, w.Conns.Target, func() error { return written.Insert(ctx, kept) }); err != nil {
			return w.Engine.Failed("keep the report", err)
		}
	}
	w.Tell(report.Event{Kind: report.EventPhase, Phase: work.PhaseAfter, Total: -1})
	for i, text := range w.Plan.After {
		if err := w.Pause(ctx); err != nil {
			return err
		}
		s := ledger.Statement{Number: i + 1, SQL: text, State: ledger.StatementBegun}
		if at := slices.IndexFunc(begun, func(b ledger.Statement) bool { return b.Number == s.Number }); at >= 0 {
			switch was := begun[at]; {
			case was.SQL != s.SQL:
				return &report.StatementError{Number: s.Number, Statement: text, Err: fmt.Errorf("another one has run in its place: %q", was.SQL)}
			case was.State == ledger.StatementDone:
				continue
			}
			undone, err := undoes(ctx, w, text)
			if err != nil {
				return err
			}
			if !undone {
				return &report.StatementError{Number: s.Number, Statement: text, Err: report.ErrMayHaveRun}
			}
		} else if err := w.Lease.Transaction(ctx, w.Conns.Target, func() error { return written.Insert(ctx, s) }); err != nil {
			return w.Engine.Failed("write down a statement", err)
		}
		if err := statement(ctx, w, s); err != nil {
			return err
		}
	}
	return nil
}

// statement runs a statement, which is written down as begun.
func statement(ctx context.Context, w *work.Writer, s ledger.Statement) error {
	target := w.Conns.Target
	written := ledger.Statements{Ledger: ledger.Of(target), Run: w.ID}
	var refused error
	err := w.Lease.Transaction(ctx, target, func() error {
		result, err := target.ExecContext(ctx, target.Engine.Expand(s.SQL))
		if refused = err; err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err == nil { // some drivers do not say
			s.Rows = n
		}
		return written.End(ctx, s)
	})
	if err == nil {
		return nil
	}
	err = w.Engine.Failed("run a statement", err)
	var code *sqlsnow.DatabaseError
	// the database has answered that it did not do it
	if refused != nil && ctx.Err() == nil && errors.As(err, &code) && code.Code != "" {
		forget := w.Lease.Transaction(ctx, target, func() error { return written.Forget(ctx, s) })
		if forget != nil {
			err = errors.Join(err, w.Engine.Failed("forget a statement", forget))
		}
	}
	return &report.StatementError{Number: s.Number, Statement: s.SQL, Err: err}
}

// undoes reports whether a statement that did not end has changed nothing: MySQL commits what changes schemas at
// once, and does not undo what was done in tables without transactions. Which tables a statement changes is not
// known: triggers may change others.
func undoes(ctx context.Context, w *work.Writer, text string) (bool, error) {
	if w.Engine.Kind != sqlsnow.MySQL {
		return true, nil
	}
	words := strings.Fields(text)
	if len(words) == 0 || !slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "REPLACE"}, strings.ToUpper(words[0])) {
		return false, nil
	}
	var n int64
	err := w.Conns.Target.QueryRowContext(ctx, `SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE'
		AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
		AND ENGINE NOT IN (SELECT ENGINE FROM information_schema.ENGINES WHERE TRANSACTIONS = 'YES')`).Scan(&n)
	return n == 0, w.Engine.Failed("look for tables without transactions", err)
}
