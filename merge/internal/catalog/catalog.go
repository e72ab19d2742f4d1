package catalog

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// A Catalog is the schema of one database, as a plan of that database alone would have it, all columns plain.
type Catalog struct {
	Databases []string // of several, whose names are prefixes of the tables' names
	Tables    []*Table
	Types     []string // see plan.Plan
	Notes     []string
	Joins     []Join // in views, triggers and routines whose text the account may read
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

// CheckInheritance returns an error for each pair of tables of a plan where one inherits from the other, so that its
// rows would be merged twice.
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

// TableLike returns the table of a name, whose letters may differ in case if there is none of this very name, or nil.
func (c *Catalog) TableLike(name string) *Table {
	if t := c.Table(name); t != nil {
		return t
	}
	if at := slices.IndexFunc(c.Tables, func(t *Table) bool { return strings.EqualFold(t.Name, name) }); at >= 0 {
		return c.Tables[at]
	}
	return nil
}

// ColumnLike returns the column of a name, whose letters may differ in case if there is none of this very name, or nil.
func ColumnLike(t *plan.Table, name string) *plan.Column {
	if c := t.Column(name); c != nil {
		return c
	}
	if at := slices.IndexFunc(t.Columns, func(c *plan.Column) bool { return strings.EqualFold(c.Name, name) }); at >= 0 {
		return t.Columns[at]
	}
	return nil
}

// spell writes the names in a foreign key as the tables have them: SQLite allows another case, and allows to leave
// out the columns of a primary key.
func (c *Catalog) spell(t *Table, k *plan.ForeignKey) {
	write := func(t *Table, names []string) {
		for i, name := range names {
			if column := ColumnLike(t.Table, name); column != nil {
				names[i] = column.Name
			}
		}
	}
	write(t, k.Columns)
	if parent := c.TableLike(k.Table); parent != nil {
		k.Table = parent.Name
		if slices.Contains(k.Refers, "") {
			k.Refers = slices.Clone(parent.PrimaryKey)
		}
		write(parent, k.Refers)
	}
}

// AddNote appends a note that the table does not have yet.
func AddNote(t *plan.Table, format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(t.Notes, note) {
		t.Notes = append(t.Notes, note)
	}
}
