package plan

import (
	"slices"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// Combine says what value a row gets in a column when rows of other sources are merged into it. NULL counts as no value.
type Combine string

// The ways to combine values.
const (
	CombineKeep  Combine = ""      // its own, even if that is NULL
	CombineSum   Combine = "sum"   // the sum of all; it is an error if that does not fit
	CombineMax   Combine = "max"   // the greatest: numbers are compared as numbers, all else as texts
	CombineMin   Combine = "min"   // the least
	CombineFirst Combine = "first" // the first that is not NULL, by the precedence of sources
	CombineLast  Combine = "last"  // the last that is not NULL
)

// Combines reports whether rows get values in a column that come from rows merged into them.
func (t *Table) Combines() bool {
	return slices.ContainsFunc(t.Columns, func(c *Column) bool { return c.Combine != CombineKeep })
}

// combining complains of a column whose values can't be combined.
func (c *columnChecker) combining() {
	t, column := c.table, c.column
	if column.Combine == CombineKeep {
		return
	}
	c.faultIf(!slices.Contains([]Combine{CombineSum, CombineMax, CombineMin, CombineFirst, CombineLast}, column.Combine),
		"combine %q: want sum, max, min, first, last or nothing", column.Combine)
	c.faultIf(!t.Merges() || t.Key() == nil, "combine is for tables with a key, of which a unique key has rule keep or match")
	inKey := slices.Contains(t.RowKey(), column.Name) || slices.ContainsFunc(t.Unique, func(u *Unique) bool { return slices.Contains(u.Columns, column.Name) })
	c.faultIf(column.Role != RolePlain || column.Generated != "" || inKey, "combine: want a plain column that is in no unique key")
	s := sqltype.Of(c.dialect, column.Type)
	number := s.Kind == sqltype.Integer || slices.Contains([]string{"decimal", "numeric", "dec", "float", "double", "real"}, sqltype.Word(column.Type))
	c.faultIf(column.Combine == CombineSum && c.dialect != sqldialect.SQLite && !number, "combine is sum, but type %q is no number", column.Type)
	c.faultIf(s.Kind == sqltype.Bytes || s.Kind == sqltype.JSON, "combine: type %q has no order", column.Type)
}
