package merge

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A catalog is what one source has, as a plan of that source alone would say
// it, all columns plain.
type catalog struct {
	tables       []*found
	types, notes []string
}

// A found is a table of a source.
type found struct {
	*plan.Table
	numbered string   // the column whose values the database counts up by itself, or ""
	heirs    []string // PostgreSQL: tables whose rows are read with its own, because they inherit from it
}

func (c *catalog) table(name string) *found {
	for _, t := range c.tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// doubled returns an error for each two tables of a plan whose rows would be
// merged twice, because one inherits from the other.
func (c *catalog) doubled(p *plan.Plan, source string) (errs []error) {
	copied := func(name string) bool {
		t := p.Table(name)
		return t != nil && !t.Skip && t.In(source)
	}
	for _, t := range c.tables {
		for _, heir := range t.heirs {
			if copied(t.Name) && copied(heir) {
				errs = append(errs, &plan.Error{
					Table: t.Name, Reason: fmt.Sprintf("in source %q table %q inherits from it, so that its rows would be merged twice: skip one of the two", source, heir),
				})
			}
		}
	}
	return errs
}

// reader is what reads: a *sql.DB, *sql.Conn or *sql.Tx.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// readCatalog reads the schema that a session is in.
func readCatalog(ctx context.Context, e *engine, r reader) (*catalog, error) {
	c := &catalog{}
	load := c.loadMySQL
	switch e.dialect {
	case sqlsnow.Postgres:
		load = c.loadPostgres
	case sqlsnow.SQLite:
		load = c.loadSQLite
	}
	if err := load(ctx, r); err != nil {
		return nil, e.failed("inspect", err)
	}
	for _, t := range c.tables {
		for _, k := range t.ForeignKeys {
			c.settle(t, k)
		}
	}
	return c, nil
}

// settle writes the names in a foreign key as the tables have them: SQLite
// allows others in case, and to leave out the columns of a primary key.
func (c *catalog) settle(t *found, k *plan.ForeignKey) {
	spell := func(t *found, names []string) {
		for i, name := range names {
			for _, column := range t.Columns {
				if strings.EqualFold(column.Name, name) {
					names[i] = column.Name
				}
			}
		}
	}
	spell(t, k.Columns)
	for _, parent := range c.tables {
		if strings.EqualFold(parent.Name, k.Table) && c.table(k.Table) == nil {
			k.Table = parent.Name
		}
	}
	if parent := c.table(k.Table); parent != nil {
		if slices.Contains(k.Refers, "") {
			k.Refers = slices.Clone(parent.PrimaryKey)
		}
		spell(parent, k.Refers)
	}
}

// ours reports whether a table is one of this module, which is not merged.
func ours(table string) bool {
	switch table {
	case "snow_namespaces", "snow_workers", "snow_segments", "snow_migrations":
		return true
	}
	return strings.HasPrefix(table, "snow_merge_")
}

func addNote(t *plan.Table, format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(t.Notes, note) {
		t.Notes = append(t.Notes, note)
	}
}

// each calls do with the Scan of each row of a query.
func each(ctx context.Context, r reader, query string, args []any, do func(scan func(...any) error) error) error {
	rows, err := r.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// names is a JSON array of texts, as a database aggregates names that may have
// any character in them.
type names []string

// Scan implements [sql.Scanner].
func (n *names) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*n = nil
		return nil
	case string:
		return json.Unmarshal([]byte(v), n)
	case []byte:
		return json.Unmarshal(v, n)
	}
	return fmt.Errorf("names are a %T", src)
}
