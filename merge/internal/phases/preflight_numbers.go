package phases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A numberCheck looks whether there is room for new ids that are numbers.
type numberCheck struct{ *preflight }

// choose chooses the numbers of all tables whose new ids are numbers, and returns why there are none for some. The run chooses
// again, in the transaction that writes them down.
func (p numberCheck) choose(ctx context.Context) (errs []error, err error) {
	tables := numbered(p.Job)
	if len(tables) == 0 {
		return nil, nil
	}
	var left map[string][]ledger.Numbers
	l := ledger.Of(p.conns.Target)
	if _, missing := l.Load(ctx, p.ID, p.Plan); missing == nil { // there is no ledger before the first run
		if left, err = l.Left(ctx); err != nil {
			return nil, err
		}
	}
	for _, t := range tables {
		n, err := newNumbering(ctx, p.Job, p.conns, t, p.keyOf(t), left[t.Name])
		if errors.As(err, new(*report.RoomError)) || errors.As(err, new(*plan.Error)) {
			errs = append(errs, err)
		} else if err != nil {
			return nil, err
		} else {
			p.numbers[t.Name] = n
		}
	}
	for _, t := range p.Order {
		if t.IDs.AreNumbers() {
			if err := p.countable(ctx, t); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errs, ctx.Err()
}

// countable returns an error if the run could not see to it that the target counts on above the new ids.
func (p numberCheck) countable(ctx context.Context, t *plan.Table) error {
	found := tableOf(p.target, t.Name)
	if found == nil || len(found.Numbered) == 0 {
		return nil
	}
	s := p.conns.Target
	what := "let the target number table " + strconv.Quote(t.Name) + " above its rows"
	switch p.Engine.Kind {
	case sqlsnow.MySQL:
		if t.Leave == 0 {
			return nil // rows that are inserted do that
		}
		var prepared interface{ Close() error }
		var err error
		if prepared, err = s.PrepareContext(ctx, setCounter(s.Engine.Table(t.Name), 1)); err == nil {
			err = prepared.Close()
		}
		return p.Engine.Failed(what, err)
	case sqlsnow.Postgres:
		for _, name := range found.Numbered {
			sequence, err := sequenceOf(ctx, s, t.Name, name)
			if err != nil || sequence == "" {
				return err
			}
			var may bool
			of := "has_sequence_privilege(current_user, " + p.Engine.Kind.Literal(sequence) + ", "
			if err := s.QueryRowContext(ctx, "SELECT "+of+"'SELECT') AND "+of+"'UPDATE')").Scan(&may); err != nil {
				return p.Engine.Failed(what, err)
			}
			if !may {
				return &plan.Error{Table: t.Name, Column: name, Reason: "the target's account may not set its sequence, " + sequence + ": grant SELECT and UPDATE on it"}
			}
		}
	}
	return nil
}

// uncounted returns as open the columns that the sources number and the target does not, and what is left in vain.
func (p numberCheck) uncounted() (open []report.Open) {
	for _, t := range p.Order {
		found := tableOf(p.target, t.Name)
		if !t.IDs.AreNumbers() || found == nil {
			continue
		}
		for _, c := range t.Columns {
			reason := ""
			switch {
			case !c.Numbered || c.Generated != "":
			case !numbers(found, c.Name):
				reason = "the sources number it, and the target does not: a program that gives no id could not insert a row"
			case p.Engine.Kind == sqlsnow.SQLite && t.Leave > 0 && c.Role == plan.RoleKey && columnOf(found.Table, c.Name).Options != "AUTOINCREMENT":
				reason = fmt.Sprintf("without AUTOINCREMENT the target takes the number after the highest row, so that the %d numbers above the new ids do not stay free", t.Leave)
			}
			if reason != "" {
				open = append(open, report.Open{Kind: report.OpenUnchecked, Table: t.Name, Column: c.Name, Reason: reason})
			}
		}
	}
	return open
}

// numbers reports whether a table of the target numbers a column.
func numbers(found *catalog.Table, column string) bool {
	return slices.ContainsFunc(found.Numbered, func(name string) bool { return sameNames([]string{name}, []string{column}) }) && columnOf(found.Table, column) != nil
}
