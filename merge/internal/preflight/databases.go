package preflight

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/numbers"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// maxSkew is how far the target's clock may be from this process's: no minted
// id is of a later date than the target's.
const maxSkew = 10 * time.Minute

// A Check looks at the databases before anything is written.
type Check struct {
	*work.Job
	Conns   *chunk.Conns
	Sources map[string]*catalog.Catalog // which [Check.Databases] reads
	Target  *catalog.Catalog            // which [Check.Stops] reads
	Numbers map[string]*numbers.Choice  // by table, where new ids are numbers; by [Check.Stops]
}

// New returns a Check by sessions of the databases.
func New(j *work.Job, conns *chunk.Conns) *Check {
	return &Check{Job: j, Conns: conns, Sources: map[string]*catalog.Catalog{}, Numbers: map[string]*numbers.Choice{}}
}

// Databases tests all preconditions before rows are counted or anything is written.
func (p *Check) Databases(ctx context.Context) error {
	if err := p.distinct(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(p.Order, func(t *plan.Table) bool { return len(t.NewIDs) > 0 && !t.IDs.AreNumbers() }) {
		var micros int64
		if err := p.Conns.Target.QueryRowContext(ctx, "SELECT "+p.Engine.Now).Scan(&micros); err != nil {
			return p.Engine.Failed("read the clock", err)
		}
		here, there := time.Now(), time.UnixMicro(micros)
		if skew := here.Sub(there); skew.Abs() > maxSkew {
			return fmt.Errorf("the target: %w", &sqlsnow.ClockError{Database: there, Local: here, MaxSkew: maxSkew})
		}
	}
	var errs []error
	for _, source := range p.Plan.Sources {
		missing, err := p.missing(ctx, source)
		if err != nil {
			return err
		}
		errs = append(errs, missing...)
	}
	return errors.Join(errs...)
}

// withoutTransactions returns an error for each table of a MySQL target that would keep rows whose transaction is
// rolled back: the run that continues would copy them once more. Tables that are not there yet are none.
func (p *Check) withoutTransactions(ctx context.Context) (errs []error, err error) {
	if p.Engine.Kind != sqlsnow.MySQL {
		return nil, nil
	}
	const text = `SELECT TABLE_NAME, COALESCE(ENGINE, '') FROM information_schema.TABLES WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_TYPE = 'BASE TABLE'
		AND ENGINE NOT IN (SELECT ENGINE FROM information_schema.ENGINES WHERE TRANSACTIONS = 'YES') ORDER BY TABLE_NAME`
	in := p.Conns.Target.Engine
	tables := map[string]map[string]*plan.Table{} // by database and name
	for _, t := range p.Order {
		database, name := in.Locate(t.Name)
		if tables[database] == nil {
			tables[database] = map[string]*plan.Table{}
		}
		tables[database][name] = t
	}
	for _, database := range slices.Sorted(maps.Keys(tables)) {
		err = chunk.Visit(ctx, p.Conns.Target, text, []any{database}, func(rows *sql.Rows) error {
			var name, engine string
			err := rows.Scan(&name, &engine)
			if t := tables[database][name]; t != nil {
				errs = append(errs, &plan.Error{Table: t.Name, Reason: "in the target it has the engine " + engine + ", which has no transactions: make it with InnoDB"})
			}
			return err
		})
		if err != nil {
			return nil, p.Engine.Failed("look at the engines of the target", err)
		}
	}
	return errs, nil
}

// missing returns what a source has and the plan does not: it would be lost.
func (p *Check) missing(ctx context.Context, source string) (errs []error, err error) {
	s, err := p.Conns.Source(ctx, source)
	if err != nil {
		return nil, err
	}
	c, err := catalog.Read(ctx, p.Engine.Kind, s, s.Engine.Databases())
	if err != nil {
		return nil, dialect.OfSource(source, p.Engine.Failed("inspect", err))
	}
	p.Sources[source] = c
	errs = c.CheckInheritance(p.Plan, source)
	for _, found := range c.Tables {
		t := p.Plan.Table(found.Name)
		if t != nil && t.Skip {
			continue
		}
		if t == nil || !t.In(source) {
			errs = append(errs, &plan.Error{Table: found.Name, Reason: fmt.Sprintf("source %q has it, and the plan does not: inspect again, or add it with skip", source)})
			continue
		}
		for _, column := range found.Columns {
			if c := t.Column(column.Name); (c == nil || !c.In(source)) && !slices.Contains(t.Without, column.Name) {
				errs = append(errs, &plan.Error{
					Table: t.Name, Column: column.Name,
					Reason: fmt.Sprintf("source %q has it, and the plan does not: inspect again, or name it in the table's without", source),
				})
			}
		}
	}
	return errs, nil
}

// distinct returns [report.ErrSameDatabase] where two of the databases are one.
func (p *Check) distinct(ctx context.Context) error {
	names, sessions := []string{"the target"}, []*chunk.Session{p.Conns.Target}
	for _, source := range p.Plan.Sources {
		s, err := p.Conns.Source(ctx, source)
		if err != nil {
			return err
		}
		for i, other := range sessions {
			if err := chunk.CheckDistinct(ctx, s, other, fmt.Sprintf("source %q", source), names[i]); err != nil {
				return err
			}
		}
		names, sessions = append(names, fmt.Sprintf("source %q", source)), append(sessions, s)
	}
	return nil
}

// fits returns a [*plan.Error] if a table or a column of the plan is missing in
// a source or in the target.
func (p *Check) fits(ctx context.Context) error {
	var errs []error
	for _, t := range p.Order {
		look := func(q *chunk.Session, where string, columns []*plan.Column) {
			text := "SELECT " + p.Engine.SelectList(columns) + " FROM " + q.Engine.Table(t.Name) + " WHERE 1 = 0"
			_, err := chunk.ReadAll(ctx, p.Engine, q, text, columns, nil)
			if err != nil && p.Engine.IsMissing(err) {
				err = &plan.Error{Table: t.Name, Reason: where + " does not have it as the plan says: " + err.Error()}
			}
			if err = p.Engine.Failed("look at table "+strconv.Quote(t.Name)+" of "+where, err); err != nil {
				errs = append(errs, err)
			}
		}
		look(p.Conns.Target, "the target", slices.DeleteFunc(slices.Clone(t.Columns), func(c *plan.Column) bool { return c.Generated != "" && !ledger.IsComputedAlike(t, c) }))
		for _, source := range p.Plan.SourcesOf(t) {
			q, err := p.Conns.Source(ctx, source)
			if err != nil {
				return err
			}
			look(q, "source "+strconv.Quote(source), ledger.NewSourceTable(0, source, t).WithComputed().Columns)
		}
	}
	return errors.Join(errs...)
}

// identities returns a [*plan.Error] if the primary key that the plan gives a table, or the key of its rows, does
// not tell the rows of a source apart. Rows without a key can't be told from the rows that they clash with: their
// unique keys must do, too.
func (p *Check) identities(ctx context.Context, source string, t *plan.Table) error {
	found := p.Sources[source].TableLike(t.Name)
	if found == nil {
		return nil
	}
	keys := [][]string{t.PrimaryKey}
	if key := t.RowKey(); !slices.Equal(key, t.PrimaryKey) {
		keys = append(keys, key)
	}
	for _, key := range keys {
		if len(key) == 0 || p.Engine.Kind != sqlsnow.SQLite && tellsApart(found, key) {
			continue
		}
		if err := p.identity(ctx, source, t, key, false); err != nil {
			return err
		}
	}
	for _, u := range t.Unique {
		missing := func(name string) bool {
			c := t.Column(name)
			return c == nil || c.Generated != "" || !c.In(source)
		}
		if len(t.RowKey()) > 0 || slices.ContainsFunc(u.Columns, missing) || Guards(found, u.Columns) {
			continue
		}
		if err := p.identity(ctx, source, t, u.Columns, true); err != nil {
			return err
		}
	}
	return nil
}

// identity returns a [*plan.Error] if some columns do not tell the rows of a source apart, except rows with NULL
// if nullable.
func (p *Check) identity(ctx context.Context, source string, t *plan.Table, key []string, nullable bool) error {
	s, err := p.Conns.Source(ctx, source)
	if err != nil {
		return err
	}
	count := func(text string) (n int64, err error) {
		if err := s.QueryRowContext(ctx, text).Scan(&n); err != nil {
			return 0, p.Engine.Failed("look for rows of table "+strconv.Quote(t.Name)+" with equal keys", err)
		}
		return n, nil
	}
	fault := func(reason string, args ...any) error {
		return &plan.Error{Table: t.Name, Reason: fmt.Sprintf(reason, args...)}
	}
	list, table := p.Engine.QuoteAll(key), s.Engine.Table(t.Name)
	var unknown, known []string
	for _, name := range key {
		unknown, known = append(unknown, p.Engine.Quote(name)+" IS NULL"), append(known, p.Engine.Quote(name)+" IS NOT NULL")
	}
	if !nullable {
		n, err := count("SELECT COUNT(*) FROM " + table + " WHERE " + strings.Join(unknown, " OR "))
		if err != nil {
			return err
		}
		if n > 0 {
			return fault("%d rows of source %q have NULL in the key %q of the plan", n, source, key)
		}
	}
	text := "SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM " + table + " WHERE " + strings.Join(known, " AND ") + " GROUP BY " + list + " HAVING COUNT(*) > 1) AS equals"
	n, err := count(text)
	if err == nil && n > 0 {
		err = fault("%d values of the key %q of the plan are those of several rows of source %q each", n, key, source)
	}
	return err
}

// tellsApart reports whether a source itself ensures that the values of columns identify one row each.
func tellsApart(t *catalog.Table, columns []string) bool {
	known := func(name string) bool { c := t.Column(name); return c != nil && !c.Nullable }
	return Guards(t, columns) && !slices.ContainsFunc(columns, func(name string) bool { return !known(name) })
}

// Guards reports whether a source itself ensures that no two rows have the same values in columns, except for NULL.
func Guards(t *catalog.Table, columns []string) bool {
	within := func(key []string) bool {
		return len(key) > 0 && !slices.ContainsFunc(key, func(name string) bool { return !slices.Contains(columns, name) })
	}
	return within(t.PrimaryKey) || slices.ContainsFunc(t.Unique, func(u *plan.Unique) bool { return within(u.Columns) })
}
