package phases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// After runs the statements of the plan that are for the target when it is verified, each of them once. The report
// of verification is kept with them: from now on rows are not as they were copied. It says in found how far the
// statements are.
func After(ctx context.Context, j *Job, found *report.Report) (err error) {
	if len(j.Plan.After) == 0 {
		return nil
	}
	c, err := j.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	ctx, lease, err := ledger.TakeLease(ctx, c.Target, j.renewer(), j.ID, j.Holder, j.LeaseTime)
	if err != nil {
		return err
	}
	defer lease.Release()
	w := &writing{Job: j, conns: c, lease: lease}
	err = w.after(ctx, found)
	if ctx.Err() == nil {
		done, failed := j.statements(ctx, ledger.Of(c.Target))
		err = errors.Join(err, failed)
		found.After = done
	}
	if cause := context.Cause(ctx); err != nil && errors.As(cause, new(*report.OvertakenError)) {
		return cause
	}
	return err
}

// renewer opens sessions that renew the lease, where several connections can write.
func (j *Job) renewer() func(context.Context) (*chunk.Session, error) {
	if j.Engine.Writers <= 1 {
		return nil
	}
	return func(ctx context.Context) (*chunk.Session, error) {
		return j.Target.Open(ctx, j.Engine, j.Engine.Target)
	}
}

func (w *writing) after(ctx context.Context, found *report.Report) error {
	l := ledger.Of(w.conns.Target)
	begun, err := l.Statements(ctx, w.ID)
	if err != nil {
		return err
	}
	if len(begun) == 0 {
		text, err := json.Marshal(found)
		if err != nil {
			return err
		}
		kept := ledger.Statement{SQL: string(text), State: ledger.StatementDone}
		if err := w.lease.Transaction(ctx, w.conns.Target, func() error { return l.InsertStatement(ctx, w.ID, kept) }); err != nil {
			return w.Engine.Failed("keep the report", err)
		}
	}
	w.tell(report.Event{Kind: report.EventPhase, Phase: phaseAfter, Total: -1})
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
			undone, err := w.undoes(ctx, text)
			if err != nil {
				return err
			}
			if !undone {
				return &report.StatementError{Number: s.Number, Statement: text, Err: report.ErrMayHaveRun}
			}
		} else if err := w.lease.Transaction(ctx, w.conns.Target, func() error { return l.InsertStatement(ctx, w.ID, s) }); err != nil {
			return w.Engine.Failed("write down a statement", err)
		}
		if err := w.statement(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// statement runs a statement, which is written down as begun.
func (w *writing) statement(ctx context.Context, s ledger.Statement) error {
	target, l := w.conns.Target, ledger.Of(w.conns.Target)
	var refused error
	err := w.lease.Transaction(ctx, target, func() error {
		result, err := target.ExecContext(ctx, target.Engine.Expand(s.SQL))
		if refused = err; err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err == nil { // some drivers do not say
			s.Rows = n
		}
		return l.EndStatement(ctx, w.ID, s)
	})
	if err == nil {
		return nil
	}
	err = w.Engine.Failed("run a statement", err)
	var code *sqlsnow.DatabaseError
	if refused != nil && ctx.Err() == nil && errors.As(err, &code) && code.Code != "" { // the database has answered that it did not do it
		forget := w.lease.Transaction(ctx, target, func() error { return l.ForgetStatement(ctx, w.ID, s) })
		if forget != nil {
			err = errors.Join(err, w.Engine.Failed("forget a statement", forget))
		}
	}
	return &report.StatementError{Number: s.Number, Statement: s.SQL, Err: err}
}

// undoes reports whether a statement that did not end has changed nothing: MySQL commits what changes schemas at
// once, and does not undo what was done in tables without transactions. Which tables a statement changes is not
// known: triggers may change others.
func (w *writing) undoes(ctx context.Context, text string) (bool, error) {
	if w.Engine.Kind != sqlsnow.MySQL {
		return true, nil
	}
	words := strings.Fields(text)
	if len(words) == 0 || !slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "REPLACE"}, strings.ToUpper(words[0])) {
		return false, nil
	}
	var n int64
	err := w.conns.Target.QueryRowContext(ctx, `SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE'
		AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
		AND ENGINE NOT IN (SELECT ENGINE FROM information_schema.ENGINES WHERE TRANSACTIONS = 'YES')`).Scan(&n)
	return n == 0, w.Engine.Failed("look for tables without transactions", err)
}

// verified returns the report of the verification after which the statements of the plan began, or nil if they have
// not.
func (v *verifying) verified(ctx context.Context, target *chunk.Session) (*report.Report, error) {
	text, err := ledger.Of(target).Verified(ctx, v.ID)
	if err != nil || text == "" {
		return nil, err
	}
	found := &report.Report{}
	if err := json.Unmarshal([]byte(text), found); err != nil {
		return nil, fmt.Errorf("read the report of the ledger: %w", err)
	}
	return found, nil
}
