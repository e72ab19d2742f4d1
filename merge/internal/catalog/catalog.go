package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
)

// A Catalog is the schema of one database, as a plan of that database alone would have it, all columns plain.
type Catalog struct {
	Tables []*Table
	Types  []string // see plan.Plan
	Notes  []string
}

// A Table is a table of a database.
type Table struct {
	*plan.Table
	Numbered []string // the columns that the database numbers itself
	Heirs    []string // PostgreSQL: the tables that inherit from it, whose rows are read with its own
}

// Table returns the table of a name, or nil.
func (c *Catalog) Table(name string) *Table {
	for _, t := range c.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// CheckInheritance returns an error for each two tables of a plan of which one inherits from the other, so that its rows
// would be merged twice.
func (c *Catalog) CheckInheritance(p *plan.Plan, source string) (errs []error) {
	copied := func(name string) bool {
		t := p.Table(name)
		return t != nil && !t.Skip && t.In(source)
	}
	for _, t := range c.Tables {
		for _, heir := range t.Heirs {
			if copied(t.Name) && copied(heir) {
				errs = append(errs, &plan.Error{
					Table: t.Name, Reason: fmt.Sprintf("in source %q table %q inherits from it, so that its rows would be merged twice: skip one of the two", source, heir),
				})
			}
		}
	}
	return errs
}

// A Querier is a *sql.DB, *sql.Conn or *sql.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Read reads the schema that a session is in. Its errors are those of the driver.
func Read(ctx context.Context, d sqldialect.Dialect, r Querier) (*Catalog, error) {
	c := &Catalog{}
	var err error
	switch d {
	case sqldialect.MySQL:
		err = (&mysqlReader{Catalog: c}).load(ctx, r)
	case sqldialect.Postgres:
		err = (&postgresReader{c}).load(ctx, r)
	case sqldialect.SQLite:
		err = loadSQLite(ctx, c, r)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range c.Tables {
		for _, k := range t.ForeignKeys {
			c.spell(t, k)
		}
	}
	return c, nil
}

// spell writes the names in a foreign key as the tables have them: SQLite allows another case, and allows to leave
// out the columns of a primary key.
func (c *Catalog) spell(t *Table, k *plan.ForeignKey) {
	write := func(t *Table, names []string) {
		for i, name := range names {
			for _, column := range t.Columns {
				if strings.EqualFold(column.Name, name) {
					names[i] = column.Name
				}
			}
		}
	}
	write(t, k.Columns)
	for _, parent := range c.Tables {
		if strings.EqualFold(parent.Name, k.Table) && c.Table(k.Table) == nil {
			k.Table = parent.Name
		}
	}
	if parent := c.Table(k.Table); parent != nil {
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
func each(ctx context.Context, r Querier, query string, args []any, do func(scan func(...any) error) error) error {
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
