package mergetest

import (
	"fmt"
	"slices"

	"github.com/shardsnow/snow/merge/plan"
)

// call gives some tables a column with the names of rows that may be renamed. It takes nothing from the world's random
// numbers.
func (w *world) call(seed uint64) {
	var names []*plan.Reference
	for _, t := range w.tables {
		for _, u := range t.unique {
			if u.rule == plan.RuleSuffix && len(u.columns) == 1 {
				names = append(names, &plan.Reference{Table: t.name, Path: u.rename})
			}
		}
	}
	for i, t := range w.tables {
		if len(names) > 0 && t.shape != dictionary && (seed+uint64(i))%2 == 0 {
			t.columns = append(t.columns, &column{name: "called", role: plan.RoleName, value: text, nullable: true, refers: names[i%len(names):][:1]})
		}
	}
}

// called is the name that row i of a table has in such a column: of some row, or of none.
func (c *column) called(i int) any {
	if i%9 == 0 {
		return nil
	}
	return fmt.Sprintf("%s %d", c.refers[0].Path, i*7%45)
}

// newName is the name in the target of the row that has a name in a source, or that name if it has none.
func (o *oracle) newName(s *source, ref *plan.Reference, v *string) *string {
	t := o.w.table(ref.Table)
	at := slices.IndexFunc(s.rows[t.name], func(r row) bool { return r[ref.Path] != nil && *r[ref.Path] == *v })
	if at < 0 || o.gone[t.mark(s.rows[t.name][at])] {
		return v
	}
	there := o.found[t.name][t.mark(s.rows[t.name][at])]
	if there == nil {
		return v // it is told of elsewhere
	}
	return there[ref.Path]
}
