package plan

import (
	"slices"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// packed complains of a format that is none, of places that the format does not have, and of types that can't have
// such values.
func (c *columnChecker) packed(s sqltype.Type) {
	column := c.column
	format, err := packed.ParseFormat(column.Format)
	if err != nil {
		c.fault("%v", err)
		return
	}
	c.distinct("place", func(r *Reference) string { return r.Path })
	var places []string
	for _, r := range column.Refers {
		c.faultIf(r.Value != "", "a place has no value")
		places = append(places, r.Path)
	}
	if format.Kind == packed.Hooks {
		c.faultIf(column.Separator != "", "separator is for fields")
	} else if _, err := format.New(places, column.Separator, [2]bool{}); err != nil {
		c.fault("%v", err)
	}
	switch typed := c.dialect != sqldialect.SQLite; {
	case typed && format.Number() && s.Kind != sqltype.Integer:
		c.fault("its format is of integers, but type %q is none", column.Type)
	case typed && format.Kind != packed.Hooks && !format.Number() && s.Kind != sqltype.Text && s.Kind != sqltype.Bytes:
		c.fault("its format is of texts, but type %q is none", column.Type)
	}
	c.faultIf(format.Half() == (column.By == ""), "by is %q: halves have the column of the other half there, and other formats nothing", column.By)
	if format.Half() && column.By != "" {
		c.half(format)
	}
}

// half complains of two columns that are not the halves of one id.
func (c *columnChecker) half(format packed.Format) {
	column, other := c.column, c.table.Column(c.column.By)
	if other == nil || other == column || other.Role != RolePacked || other.By != column.Name {
		c.fault("by is %q: want the column with the other half, whose by is %q", column.By, column.Name)
		return
	}
	theirs, err := packed.ParseFormat(other.Format)
	switch {
	case err != nil: // which is a fault of the other column
	case !theirs.Half() || theirs.Kind == format.Kind || theirs.Bits != format.Bits:
		c.fault("format is %q, and that of the other half %q: want high and low of the same number of bits", column.Format, other.Format)
	case !slices.EqualFunc(column.Refers, other.Refers, func(a, b *Reference) bool { return *a == *b }) || !slices.Equal(column.None, other.None) || column.Orphans != other.Orphans || column.Gone != other.Gone:
		c.fault("refers, none, orphans and gone differ from those of the other half, %q", other.Name)
	}
	c.beside(other)
}
