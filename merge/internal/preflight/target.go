package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/earlier"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Stops returns what would stop a run whatever the rows are: it is the same to a dry run and to a run, and writes
// nothing.
func (p *Check) Stops(ctx context.Context) (errs []error, err error) {
	if p.Target, err = catalog.Read(ctx, p.Engine.Kind, p.Conns.Target, p.Conns.Target.Engine.Databases()); err != nil {
		return nil, p.Engine.Failed("inspect the target", err)
	}
	if errs, err = p.withoutTransactions(ctx); err != nil {
		return nil, err
	}
	if err := p.fits(ctx); err != nil {
		errs = append(errs, err)
	}
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if err := p.encoding(ctx); errors.As(err, new(*plan.Error)) {
		errs = append(errs, err)
	} else if err != nil {
		return nil, err
	}
	lacking, err := p.extensions(ctx)
	if err != nil {
		return nil, err
	}
	errs = append(errs, lacking...)
	for _, t := range p.Order {
		if found := p.Target.TableLike(t.Name); found != nil {
			errs = append(errs, p.structure(t, found)...)
			if len(errs) == 0 {
				add(p.writable(ctx, t))
			}
		}
		for _, source := range p.Plan.SourcesOf(t) {
			if err := p.identities(ctx, source, t); errors.As(err, new(*plan.Error)) {
				errs = append(errs, err)
			} else if err != nil {
				return nil, err
			}
			for _, lost := range []func(context.Context, string, *plan.Table) ([]error, error){p.largeObjects, p.characters} {
				found, err := lost(ctx, source, t)
				if err != nil {
					return nil, err
				}
				errs = append(errs, found...)
			}
		}
	}
	if len(errs) == 0 {
		add(p.ledger(ctx))
		for _, source := range p.Plan.Sources {
			if _, err := earlier.Find(ctx, p.Job, p.Conns, source); err != nil {
				errs = append(errs, err)
			}
		}
		add(p.measurable(ctx))
		none, err := chooseNumbers(ctx, p)
		if err != nil {
			return nil, err
		}
		errs = append(errs, none...)
	}
	return errs, ctx.Err()
}

// structure returns how a table of the target differs from the plan, where rows could not be written for it.
func (p *Check) structure(t *plan.Table, found *catalog.Table) (errs []error) {
	fault := func(column, reason string, args ...any) {
		errs = append(errs, &plan.Error{Table: t.Name, Column: column, Reason: "the target " + fmt.Sprintf(reason, args...)})
	}
	for _, is := range found.Columns {
		c := catalog.ColumnLike(t, is.Name)
		written := c != nil && c.Generated == ""
		switch {
		case written && is.Generated != "":
			fault(is.Name, "computes it, and the plan has values for it: make it plain there, or name it in the table's without")
		case !written && is.Generated == "" && c != nil:
			fault(is.Name, "does not compute it, and the plan says that it is generated")
		case is.Generated != "" || is.Nullable || is.Default != nil || slices.Contains(found.Numbered, is.Name):
		case !written:
			fault(is.Name, "wants a value for it, and the plan has none: make it nullable there, or give it a default")
		default:
			for _, source := range p.Plan.SourcesOf(t) {
				if !c.In(source) {
					fault(is.Name, "wants a value for it, and source %q has none: make it nullable there, or give it a default", source)
				}
			}
		}
	}
	for _, k := range found.ForeignKeys {
		known := slices.ContainsFunc(t.ForeignKeys, func(o *plan.ForeignKey) bool {
			return strings.EqualFold(o.Table, k.Table) && slices.EqualFunc(o.Columns, k.Columns, strings.EqualFold) && slices.EqualFunc(o.Refers, k.Refers, strings.EqualFold)
		})
		null := slices.ContainsFunc(k.Columns, func(name string) bool { // it is checked for no row
			return catalog.ColumnLike(t, name) == nil && catalog.ColumnLike(found.Table, name).Default == nil
		})
		if known || null || p.Unchecked {
			continue
		}
		if of := p.ForeignKey(t, k); of == nil || of.Parent.Skip || !p.parentsFirst(t, of.Parent) {
			fault(k.Columns[0], "has a foreign key to %q there that the plan does not have: drop it until the merge is verified", k.Table)
		}
	}
	return errs
}

// parentsFirst reports whether all rows of parent are copied before the rows of t.
func (p *Check) parentsFirst(t, parent *plan.Table) bool {
	at := func(t *plan.Table) int {
		return slices.IndexFunc(p.Stages, func(st plan.Stage) bool { return st.Table == t })
	}
	return at(parent) < at(t)
}

// errUndone ends a transaction that was to show whether it is possible.
var errUndone = errors.New("it was only tried")

// try does something in a transaction of the target, and undoes it.
func (p *Check) try(ctx context.Context, statements ...string) error {
	err := p.Conns.Target.Try(ctx, nil, func() error {
		for _, text := range statements {
			if _, err := p.Conns.Target.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return errUndone
	})
	if errors.Is(err, errUndone) {
		return nil
	}
	return err
}

// writable returns an error if no row could be inserted into a table of the target, or updated where phase link
// does that. It writes no row. Statements on no row run triggers of PostgreSQL too, so that they are not tried
// where there are some.
func (p *Check) writable(ctx context.Context, t *plan.Table) error {
	triggers, err := p.triggers(ctx, t)
	if err != nil || len(triggers) > 0 {
		return err
	}
	var names, same []string
	for _, c := range t.Columns {
		if c.Generated == "" {
			names = append(names, c.Name)
		}
	}
	for _, st := range p.Stages {
		if st.Table == t {
			for _, c := range st.Deferred {
				same = append(same, p.Engine.Quote(c.Name)+" = "+p.Engine.Quote(c.Name))
			}
		}
	}
	table, list := p.Conns.Target.Engine.Table(t.Name), p.Engine.QuoteAll(names)
	statements := []string{"INSERT INTO " + table + " (" + list + ") SELECT " + list + " FROM " + table + " WHERE 1 = 0"}
	if len(same) > 0 {
		statements = append(statements, "UPDATE "+table+" SET "+strings.Join(same, ", ")+" WHERE 1 = 0")
	}
	return p.Engine.Failed("write to table "+strconv.Quote(t.Name)+" of the target", p.try(ctx, statements...))
}

// triggers returns the names of the triggers of a table of the target that run for rows that are copied.
func (p *Check) triggers(ctx context.Context, t *plan.Table) (names []string, err error) {
	text := map[sqlsnow.Dialect]string{
		sqlsnow.MySQL: `SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND EVENT_OBJECT_TABLE = ? AND EVENT_MANIPULATION <> 'DELETE' ORDER BY 1`,
		sqlsnow.Postgres: `SELECT tgname::text FROM pg_trigger g JOIN pg_class k ON k.oid = g.tgrelid JOIN pg_namespace n ON n.oid = k.relnamespace
			WHERE n.nspname = COALESCE(NULLIF($1::text, ''), current_schema()) AND k.relname = $2
			AND NOT g.tgisinternal AND g.tgenabled IN ('O', 'A') AND g.tgtype & 20 <> 0 ORDER BY 1`,
		sqlsnow.SQLite: `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND ?1 = '' AND lower(tbl_name) = lower(?2) ORDER BY name`,
	}[p.Engine.Kind]
	database, table := p.Conns.Target.Engine.Locate(t.Name)
	rows, err := chunk.ReadAll(ctx, p.Engine, p.Conns.Target, text, []*plan.Column{{Name: "name", Type: "text"}}, []any{database, table})
	for _, row := range rows {
		names = append(names, fmt.Sprint(row[0]))
	}
	return names, p.Engine.Failed("look for triggers of table "+strconv.Quote(t.Name), err)
}

// Computed returns the generated columns that verification compares, and that source and target do not compute by
// the same expression, as the databases write it.
func (p *Check) Computed() (open []report.Open) {
	for _, t := range p.Order {
		target := p.Target.TableLike(t.Name)
		for _, source := range p.Plan.SourcesOf(t) {
			from := p.Sources[source].TableLike(t.Name)
			if from == nil || target == nil {
				continue
			}
			for _, c := range ledger.NewSourceTable(0, source, t).Computed {
				is, was := catalog.ColumnLike(target.Table, c.Name), catalog.ColumnLike(from.Table, c.Name)
				if is != nil && was != nil && is.Generated != "" && is.Generated != was.Generated {
					open = append(open, report.Open{
						Kind: report.OpenUnchecked, Source: source, Table: t.Name, Column: c.Name,
						Reason: fmt.Sprintf("the target computes it as %s, and the source as %s: verification fails if the values differ; if they may, list it under plain", is.Generated, was.Generated),
					})
				}
			}
		}
	}
	return open
}

// Running returns the triggers of the target as open: what they do is not known.
func (p *Check) Running(ctx context.Context) (open []report.Open, err error) {
	for _, t := range p.Order {
		names, err := p.triggers(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			open = append(open, report.Open{
				Kind: report.OpenUnchecked, Table: t.Name,
				Reason: fmt.Sprintf("trigger %q of the target runs for each row that is copied, and what it does is not known: drop or disable it until the merge is verified", name),
			})
		}
	}
	return open, nil
}

// Run reads the run of the plan, which is nil if there is none, and reports whether the target has a ledger.
func (p *Check) Run(ctx context.Context) (r *ledger.Run, made bool, err error) {
	r, err = ledger.Of(p.Conns.Target).Load(ctx, p.ID, p.Plan)
	if err != nil && p.Engine.IsMissing(err) {
		return nil, false, nil
	}
	return r, err == nil, err
}

// others returns an error if runs of other plans are in the way of one of this plan, which is nil if it would be new.
func (p *Check) others(ctx context.Context, r *ledger.Run) error {
	l := ledger.Of(p.Conns.Target)
	if _, err := l.Abandoned(ctx, p.ID); err != nil || r != nil {
		return err
	}
	return l.CheckMerged(ctx, p.Plan)
}

// ledger returns an error if the ledger could not be made in the target, or not be written, or has a run that is in
// the way.
func (p *Check) ledger(ctx context.Context) error {
	r, made, err := p.Run(ctx)
	if err == nil && made {
		err = p.others(ctx, r)
	}
	switch {
	case err != nil:
		return err
	case made:
		err = p.try(ctx, "UPDATE snow_merge_lease SET id = id WHERE 1 = 0")
	// a statement that makes a table can't be undone, but preparing it asks for the right to
	case p.Engine.Kind == sqlsnow.MySQL:
		var s interface{ Close() error }
		if s, err = p.Conns.Target.PrepareContext(ctx, "CREATE TABLE snow_merge_lease_tried (id INT)"); err == nil {
			err = s.Close()
		}
	default:
		err = p.try(ctx, "CREATE TABLE snow_merge_lease_tried (id INT)")
	}
	return p.Engine.Failed("make the ledger in the target", err)
}

// measurable returns an error if a database does not answer an assertion.
func (p *Check) measurable(ctx context.Context) error {
	for _, a := range p.Assertions {
		if _, err := a.Measure(ctx, p.Conns.Target); err != nil {
			return fmt.Errorf("the target: %w", err)
		}
		for _, name := range p.Plan.Sources {
			s, err := p.Conns.Source(ctx, name)
			if err == nil {
				_, err = a.Measure(ctx, s)
			}
			if err != nil {
				return &report.SourceError{Source: name, Err: err}
			}
		}
	}
	return nil
}

// KeyOf returns the key of a table as the target has it.
func (p *Check) KeyOf(t *plan.Table) *plan.Column {
	if found := p.Target.TableLike(t.Name); found != nil {
		if c := catalog.ColumnLike(found.Table, t.Key().Name); c != nil {
			return c
		}
	}
	return t.Key()
}
