package inspect

import (
	"slices"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
)

// uniqueKey makes an integer with a unique key of its own the key of a table whose primary key is another one: if
// sources count it up, or foreign keys refer to it, or it is a member of the primary key, which tells rows apart
// without it. It may be a reference to another table then: the solver weighs that, and asks.
func (i *inspector) uniqueKey(t *plan.Table) {
	var found []*plan.Column
	for _, u := range t.Unique {
		if len(u.Columns) != 1 {
			continue
		}
		c := t.Column(u.Columns[0])
		if c == nil || c.Nullable || c.Generated != "" || len(c.Sources) > 0 || len(u.Suspects) > 0 || !sqltype.Of(i.dialect, c.Type).IsNumber() {
			continue
		}
		if slices.ContainsFunc(t.ForeignKeys, func(k *plan.ForeignKey) bool { return slices.Contains(k.Columns, c.Name) }) {
			continue
		}
		if i.numbers(t, c) || i.referred(t, c) || slices.Contains(t.PrimaryKey, c.Name) {
			found = append(found, c)
		}
	}
	if len(found) == 1 {
		found[0].Role = plan.RoleKey
	}
}

// referred reports whether foreign keys refer to a column alone.
func (i *inspector) referred(t *plan.Table, c *plan.Column) bool {
	return slices.ContainsFunc(i.plan.Tables, func(child *plan.Table) bool {
		return slices.ContainsFunc(child.ForeignKeys, func(k *plan.ForeignKey) bool {
			return k.Table == t.Name && slices.Equal(k.Refers, []string{c.Name})
		})
	})
}
