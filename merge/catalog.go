package merge

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
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

// CheckInheritance returns an error for each two tables of a plan whose rows would be
// merged twice, because one inherits from the other.
func (c *catalog) CheckInheritance(p *plan.Plan, source string) (errs []error) {
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

// readCatalog reads the schema that a session is in. An error is the driver's.
func readCatalog(ctx context.Context, d sqldialect.Dialect, r reader) (*catalog, error) {
	c := &catalog{}
	load := c.loadMySQL
	switch d {
	case sqldialect.Postgres:
		load = c.loadPostgres
	case sqldialect.SQLite:
		load = c.loadSQLite
	}
	if err := load(ctx, r); err != nil {
		return nil, err
	}
	for _, t := range c.tables {
		for _, k := range t.ForeignKeys {
			c.spell(t, k)
		}
	}
	return c, nil
}

// spell writes the names in a foreign key as the tables have them: SQLite
// takes other cases, and foreign keys that leave out the columns of a primary key.
func (c *catalog) spell(t *found, k *plan.ForeignKey) {
	write := func(t *found, names []string) {
		for i, name := range names {
			for _, column := range t.Columns {
				if strings.EqualFold(column.Name, name) {
					names[i] = column.Name
				}
			}
		}
	}
	write(t, k.Columns)
	for _, parent := range c.tables {
		if strings.EqualFold(parent.Name, k.Table) && c.table(k.Table) == nil {
			k.Table = parent.Name
		}
	}
	if parent := c.table(k.Table); parent != nil {
		if slices.Contains(k.Refers, "") {
			k.Refers = slices.Clone(parent.PrimaryKey)
		}
		write(parent, k.Refers)
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
