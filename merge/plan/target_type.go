package plan

import (
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// TargetType returns the type of a column in the target, which [Plan.Schema] writes: the column's own, made wide
// enough for what its role says. Keys and references have 64 bits, or decimals and texts the digits of that. Both sides
// of a reference are of one type. Where no foreign key ties them, a reference stays signed if a negative number stands
// for no row, and a type that holds 64 bits stays. A short text with a list of new ids, or with JSON or a format that
// has some, gets as long as the most and longest ids in it, unless it is in a key or an index, or has numbers of fixed
// width. Integers with packed ids stay as they are. A MySQL TEXT stays as it is, and so does every type where all new
// ids in the column are numbers, see [IDs]: a dry run says what does not fit.
func (p *Plan) TargetType(t *Table, c *Column) string {
	d := dialectOf(p.Dialect)
	if d == sqldialect.SQLite {
		return c.Type
	}
	if p.numbersOnly(t, c) {
		if key := p.keyOf(c); c.Role == RoleReference && key != nil && t.declares(c) { // the sources' types may differ
			if typ, ok := sqltype.Widest(d, key.Type, c.Type); ok {
				return typ
			}
		}
		return c.Type
	}
	switch c.Role {
	case RoleKey, RolePolymorphic:
		return sqltype.Wide(d, c.Type)
	case RoleReference:
		own := sqltype.Of(d, c.Type)
		if key := p.keyOf(c); key != nil && own.IsNumber() && (t.declares(c) || own.UnfitForIDs(c.Type) != "" && !c.isNegative()) {
			return sqltype.Wide(d, key.Type)
		}
		return sqltype.Wide(d, c.Type)
	case RoleList, RoleJSON:
		if _, array := sqltype.Element(d, c.Type); array {
			return sqltype.Wide(d, c.Type)
		}
		if p.getsNewIDs(c) && !t.indexes(c) {
			return sqltype.WideList(d, c.Type, max(1, len(c.Separator)), c.Default != nil)
		}
	case RolePacked:
		if c.Format != string(packed.Fixed) && sqltype.Of(d, c.Type).Kind == sqltype.Text && p.getsNewIDs(c) && !t.indexes(c) {
			return sqltype.WideList(d, c.Type, 1, c.Default != nil)
		}
	}
	return c.Type
}

// isNegative reports whether a negative number stands for no row, which an unsigned type would refuse.
func (c *Column) isNegative() bool {
	return slices.ContainsFunc(c.None, func(none string) bool { return strings.HasPrefix(none, "-") }) ||
		c.Default != nil && strings.HasPrefix(strings.TrimLeft(*c.Default, "('"), "-")
}

// declares reports whether a column is in a foreign key.
func (t *Table) declares(c *Column) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(k *ForeignKey) bool { return slices.Contains(k.Columns, c.Name) })
}

// keyOf returns the key that a reference refers to, or nil.
func (p *Plan) keyOf(c *Column) *Column {
	if len(c.Refers) != 1 {
		return nil
	}
	if parent := p.Table(c.Refers[0].Table); parent != nil {
		return parent.Key()
	}
	return nil
}

// getsNewIDs reports whether a column may hold new ids.
func (p *Plan) getsNewIDs(c *Column) bool {
	return slices.ContainsFunc(c.Refers, func(r *Reference) bool {
		parent := p.Table(r.Table)
		return parent != nil && len(parent.NewIDs) > 0
	})
}

// indexes reports whether a column is in a key or an index, which limits its length.
func (t *Table) indexes(c *Column) bool {
	return slices.Contains(t.PrimaryKey, c.Name) ||
		slices.ContainsFunc(t.Unique, func(u *Unique) bool { return slices.Contains(u.Columns, c.Name) }) ||
		slices.ContainsFunc(t.Indexes, func(i *Index) bool {
			return slices.Contains(i.Columns, c.Name) || strings.Contains(i.Statement, c.Name)
		})
}

// numbersOnly reports whether a column holds ids of tables alone whose new ids are numbers, so that its type need
// not change.
func (p *Plan) numbersOnly(t *Table, c *Column) (only bool) {
	if c.Role == RoleKey {
		return t.IDs.AreNumbers()
	}
	if !c.HoldsReferences() {
		return false
	}
	for _, r := range c.Refers {
		if r.Table == "" {
			continue
		}
		parent := p.Table(r.Table)
		if parent == nil || !parent.IDs.AreNumbers() {
			return false
		}
		only = true
	}
	return only
}
