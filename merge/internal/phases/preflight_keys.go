package phases

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// identities returns a [*plan.Error] if the primary key that the plan gives a table, or the key of its rows, does not tell the
// rows of a source apart. Rows without a key can't be told from those that they clash with: their unique keys must do, too.
func (p *preflight) identities(ctx context.Context, source string, t *plan.Table) error {
	found := tableOf(p.sources[source], t.Name)
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

// identity returns a [*plan.Error] if some columns do not tell the rows of a source apart, but for those with NULL if nullable.
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
