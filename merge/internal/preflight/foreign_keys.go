package preflight

import (
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/plan"
)

// A ForeignKey is one of the target, by the tables and columns of the plan.
type ForeignKey struct {
	Columns []*plan.Column
	Parent  *plan.Table
	Refers  []*plan.Column
}

// ForeignKey returns nil for a foreign key of the target that is between other columns than the plan has, whose
// columns hold other ids than the ones that they refer to, or one of whose columns has other values in the target for
// what the plan does to rows.
func (p *Check) ForeignKey(t *plan.Table, k *plan.ForeignKey) *ForeignKey {
	at := slices.IndexFunc(p.Plan.Tables, func(t *plan.Table) bool { return strings.EqualFold(t.Name, k.Table) })
	if at < 0 || len(k.Columns) != len(k.Refers) {
		return nil
	}
	of := &ForeignKey{Parent: p.Plan.Tables[at]}
	for i, name := range k.Columns {
		c, r := catalog.ColumnLike(t, name), catalog.ColumnLike(of.Parent, k.Refers[i])
		if c == nil || r == nil || p.changes(t, c) || !of.Parent.Skip && (t.IDsOf(c.Name) != of.Parent.IDsOf(r.Name) || p.changes(of.Parent, r)) {
			return nil
		}
		of.Columns, of.Refers = append(of.Columns, c), append(of.Refers, r)
	}
	return of
}

// changes reports whether rows may get other values in a column: new names, what is set with them, or what is combined.
func (p *Check) changes(t *plan.Table, c *plan.Column) bool {
	return c.Combine != plan.CombineKeep || t.SetByRenames(c) || slices.ContainsFunc(t.Unique, func(u *plan.Unique) bool { return u.Rule == plan.RuleSuffix && t.RenameColumn(u, p.Engine.Kind) == c })
}
