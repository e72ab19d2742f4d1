package plan

import (
	"fmt"
	"slices"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// NameFault says why the values of a column of RoleName can't follow the rows whose names they are, or "". A name must
// be unique in its source, and no row may clash with another one because of it: which rows clash is decided by the old
// names.
func (p *Plan) NameFault(t *Table, c *Column) string {
	if len(c.Refers) != 1 {
		return "is a name: want one table, and its column with the names"
	}
	parent := p.Table(c.Refers[0].Table)
	if parent == nil || parent.Skip {
		return fmt.Sprintf("has names of table %q, which does not exist or is skipped", c.Refers[0].Table)
	}
	of := parent.Column(c.Refers[0].Path)
	d := dialectOf(p.Dialect)
	switch {
	case of == nil:
		return fmt.Sprintf("has names of %q, which is no column", parent.Name+"."+c.Refers[0].Path)
	case of == c:
		return "has names of itself"
	case c.Orphans != "" || c.Gone != "" || len(c.None) > 0:
		return "is a name: none, orphans and gone are for ids"
	case c.Combine != CombineKeep || t.SetByRenames(c) || t.Created == c.Name:
		return "is a name, so combine, set and created can't have it"
	case d != sqldialect.SQLite && sqltype.Of(d, c.Type).Kind != sqltype.Text:
		return fmt.Sprintf("is a name, but type %q is no text", c.Type)
	case t.declares(c):
		return "is a name, and a foreign key has it: choose keep, match or fail for the names"
	}
	for _, u := range parent.Unique {
		if u.Rule == RuleSuffix && len(u.Columns) > 1 && parent.RenameColumn(u, d) == of {
			return fmt.Sprintf("has names of %q, of which one source may have several: they are unique only with %q", parent.Name+"."+of.Name, u.Columns)
		}
	}
	for _, columns := range t.uniqueColumns() {
		if slices.Contains(columns, c.Name) && !p.keepsApart(t, columns) {
			return fmt.Sprintf("is a name in the unique key %q: rows with an old name could clash in it, so the key needs the id of a row that is in one source only", columns)
		}
	}
	return ""
}

// uniqueColumns returns the columns of the primary key and of the unique keys.
func (t *Table) uniqueColumns() (all [][]string) {
	if len(t.PrimaryKey) > 0 {
		all = append(all, t.PrimaryKey)
	}
	for _, u := range t.Unique {
		all = append(all, u.Columns)
	}
	return all
}

// keepsApart reports whether rows of two sources can't clash in some columns: one of them has the id of a row that
// no other source has.
func (p *Plan) keepsApart(t *Table, columns []string) bool {
	return slices.ContainsFunc(columns, func(name string) bool {
		c := t.Column(name)
		if c == nil || len(c.None) > 0 || c.BecomesNull() {
			return false
		}
		parent := p.Table(t.IDsOf(name))
		return parent != nil && !parent.Merges(p.Sources)
	})
}
