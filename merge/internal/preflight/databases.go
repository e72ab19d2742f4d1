package phases

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
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// maxSkew is how far the target's clock may be from this process's: no minted
// id is of a later date than the target's.
const maxSkew = 10 * time.Minute

// A preflight looks at the databases before anything is written.
type preflight struct {
	*Job
	conns   *chunk.Conns
	sources map[string]*catalog.Catalog
	target  *catalog.Catalog
	numbers map[string]*numbering // by table, where new ids are numbers
}

func (j *Job) newPreflight(conns *chunk.Conns) *preflight {
	return &preflight{Job: j, conns: conns, sources: map[string]*catalog.Catalog{}, numbers: map[string]*numbering{}}
}

// check sees to what must be so before anything is written, or counted.
func (p *preflight) check(ctx context.Context) error {
	if err := p.distinct(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(p.Order, func(t *plan.Table) bool { return len(t.NewIDs) > 0 && !t.IDs.AreNumbers() }) {
		var micros int64
		if err := p.conns.Target.QueryRowContext(ctx, "SELECT "+p.Engine.Now).Scan(&micros); err != nil {
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
func (p *preflight) withoutTransactions(ctx context.Context) (errs []error, err error) {
	if p.Engine.Kind != sqlsnow.MySQL {
		return nil, nil
	}
	const text = `SELECT TABLE_NAME, COALESCE(ENGINE, '') FROM information_schema.TABLES WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_TYPE = 'BASE TABLE'
		AND ENGINE NOT IN (SELECT ENGINE FROM information_schema.ENGINES WHERE TRANSACTIONS = 'YES') ORDER BY TABLE_NAME`
	in := p.conns.Target.Engine
	tables := map[string]map[string]*plan.Table{} // by database and name
	for _, t := range p.Order {
		database, name := in.Locate(t.Name)
		if tables[database] == nil {
			tables[database] = map[string]*plan.Table{}
		}
		tables[database][name] = t
	}
	for _, database := range slices.Sorted(maps.Keys(tables)) {
		err = chunk.Visit(ctx, p.conns.Target, text, []any{database}, func(rows *sql.Rows) error {
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
func (p *preflight) missing(ctx context.Context, source string) (errs []error, err error) {
	s, err := p.conns.Source(ctx, source)
	if err != nil {
		return nil, err
	}
	c, err := catalog.Read(ctx, p.Engine.Kind, s, s.Engine.Databases())
	if err != nil {
		return nil, dialect.OfSource(source, p.Engine.Failed("inspect", err))
	}
	p.sources[source] = c
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
func (p *preflight) distinct(ctx context.Context) error {
	names, sessions := []string{"the target"}, []*chunk.Session{p.conns.Target}
	for _, source := range p.Plan.Sources {
		s, err := p.conns.Source(ctx, source)
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
func (p *preflight) fits(ctx context.Context) error {
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
		look(p.conns.Target, "the target", slices.DeleteFunc(slices.Clone(t.Columns), func(c *plan.Column) bool { return c.Generated != "" && !t.IsComputedAlike(c) }))
		for _, source := range p.Plan.SourcesOf(t) {
			q, err := p.conns.Source(ctx, source)
			if err != nil {
				return err
			}
			look(q, "source "+strconv.Quote(source), ledger.NewSourceTable(0, source, t).WithComputed().Columns)
		}
	}
	return errors.Join(errs...)
}

// identities returns a [*plan.Error] if the primary key that the plan gives a table, or the key of its rows, does
// not tell the rows of a source apart. Rows without a key can't be told from those that they clash with: their
// unique keys must do, too.
func (p *preflight) identities(ctx context.Context, source string, t *plan.Table) error {
	found := p.sources[source].TableLike(t.Name)
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
		if len(t.RowKey()) > 0 || slices.ContainsFunc(u.Columns, missing) || guards(found, u.Columns) {
			continue
		}
		if err := p.identity(ctx, source, t, u.Columns, true); err != nil {
			return err
		}
	}
	return nil
}

// identity returns a [*plan.Error] if some columns do not tell the rows of a source apart, but for those with NULL
// if nullable.
func (p *preflight) identity(ctx context.Context, source string, t *plan.Table, key []string, nullable bool) error {
	s, err := p.conns.Source(ctx, source)
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

// tellsApart reports whether a source itself sees to it that the values of columns are of one row each.
func tellsApart(t *catalog.Table, columns []string) bool {
	known := func(name string) bool { c := t.Column(name); return c != nil && !c.Nullable }
	return guards(t, columns) && !slices.ContainsFunc(columns, func(name string) bool { return !known(name) })
}

// guards reports whether a source itself sees to it that no two rows have the same values in columns, but for NULL.
func guards(t *catalog.Table, columns []string) bool {
	within := func(key []string) bool {
		return len(key) > 0 && !slices.ContainsFunc(key, func(name string) bool { return !slices.Contains(columns, name) })
	}
	return within(t.PrimaryKey) || slices.ContainsFunc(t.Unique, func(u *plan.Unique) bool { return within(u.Columns) })
}

// A numberCheck looks whether there is room for new ids that are numbers.
type numberCheck struct{ *preflight }

// choose chooses the numbers of all tables whose new ids are numbers, and returns why there are none for some. The
// run chooses again, in the transaction that writes them down.
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
	found := p.target.TableLike(t.Name)
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
		found := p.target.TableLike(t.Name)
		if !t.IDs.AreNumbers() || found == nil {
			continue
		}
		for _, c := range t.Columns {
			reason := ""
			switch {
			case !c.Numbered || c.Generated != "":
			case !numbers(found, c.Name):
				reason = "the sources number it, and the target does not: a program that gives no id could not insert a row"
			case p.Engine.Kind == sqlsnow.SQLite && t.Leave > 0 && c.Role == plan.RoleKey && catalog.ColumnLike(found.Table, c.Name).Options != "AUTOINCREMENT":
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
	return slices.ContainsFunc(found.Numbered, func(name string) bool { return sameNames([]string{name}, []string{column}) }) && catalog.ColumnLike(found.Table, column) != nil
}
