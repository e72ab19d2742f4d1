package plan

import (
	"slices"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// NumberBounds returns the lowest and the highest number that RuleRenumber gives in a column.
func (u *Unique) NumberBounds(d sqldialect.Dialect, c *Column) (least, most int64) {
	if u.Most != 0 {
		return u.Least, u.Most
	}
	return u.Least, sqltype.Of(d, c.Type).Highest()
}

// Renumbers reports whether rows may get another number in a column, by RuleRenumber.
func (t *Table) Renumbers(d sqldialect.Dialect, column *Column) bool {
	return slices.ContainsFunc(t.Unique, func(u *Unique) bool { return u.Rule == RuleRenumber && t.RenameColumn(u, d) == column })
}

// renumbering complains of a key in which rows can't be numbered anew. A run decides on a part of the rows at a time: which rows have
// a number must be known before all of them are decided on.
func (c *checker) renumbering(t *Table, u *Unique, name string) {
	fault := func(is bool, column, format string, args ...any) {
		c.faultIf(is, t.Name, column, name+": "+format, args...)
	}
	fault(u.renames() || u.Suffix != "", "", "suffix, template, pattern, winner, both and set are for rule suffix")
	fault(len(t.RowKey()) == 0, "", "rule renumber: nothing tells the rows of a table without a primary key apart: name columns that are unique as primary_key")
	fault(t.Merges(), "", "rule renumber: rows of the table may be merged by another unique key, and then need no number: choose one of both")
	column := t.RenameColumn(u, c.dialect)
	switch {
	case column == nil:
		fault(true, "", "rename: want one of its columns that is an integer")
		return
	case column.Role != RolePlain || column.Generated != "" || !slices.Contains(u.Columns, column.Name) || sqltype.Of(c.dialect, column.Type).Kind != sqltype.Integer:
		fault(true, column.Name, "can't be numbered anew: it is no plain integer of the key")
		return
	}
	fault(len(u.Columns) == 1, column.Name, "rule renumber: want other columns in the key, such as that of an account, whose rows are numbered")
	least, most := u.NumberBounds(c.dialect, column)
	fault(least > most, column.Name, "least %d is above most %d", least, most)
	fault(most > sqltype.Of(c.dialect, column.Type).Highest(), column.Name, "most %d does not fit in %s", most, column.Type)
	fault(len(column.Sources) > 0, column.Name, "rule renumber: some sources do not have it")
	others := slices.ContainsFunc(t.Unique, func(other *Unique) bool { return other != u && slices.Contains(other.Columns, column.Name) })
	others = others || slices.Contains(t.PrimaryKey, column.Name) && !slices.Equal(t.PrimaryKey, u.Columns)
	fault(others, column.Name, "can't be numbered anew: it is in another unique key too")
	if tied := c.plan.Tied(t, column.Name); len(tied) > 0 {
		fault(true, column.Name, "can't be numbered anew: foreign keys tie %s to it, whose values would not follow", several(tied))
	}
	for _, of := range u.Columns {
		other := t.Column(of)
		if other == nil || other == column {
			continue
		}
		integer := sqltype.Of(c.dialect, other.Type).Kind == sqltype.Integer
		fault(other.Role != RoleReference && (other.Role != RolePlain || !integer), of, "rule renumber: want references and plain integers beside %q", column.Name)
		if parent := c.plan.Table(t.IDsOf(of)); other.Role == RoleReference && parent != nil {
			fault(!parent.Merges(), of, "rule renumber: rows of table %q do not become one with others, so that their numbers can't clash", parent.Name)
		}
		fault(other.BecomesNull(), of, "rule renumber: an id may become NULL, and its row then needs no number: choose drop or an error for orphans and gone")
	}
	for _, other := range t.Columns {
		fault(other.DropsRows() && !slices.Contains(u.Columns, other.Name), other.Name, "rule renumber: it leaves rows out, which then need no number: only columns of the key may do that")
	}
}
