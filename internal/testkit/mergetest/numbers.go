package mergetest

import (
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/plan"
)

// numbered checks new ids that are numbers: rows that had ids of snow keep them; dense ids follow on each other in
// the order of the sources and of the old ids, from where a merge has begun; with offsets the ids of a source all
// differ by the same number from the old ones.
func (o *oracle) numbered() {
	o.Helper()
	for _, t := range o.w.tables {
		if !t.newIDs.AreNumbers() || !t.ids() {
			continue
		}
		merges := t.shape == dictionary || slices.ContainsFunc(t.unique, func(u *unique) bool { return u.rule == plan.RuleKeep })
		highest := int64(0) // of the merges before, and of the rows that keep their ids
		for _, merged := range o.w.merges {
			var made []int64
			top := highest
			for _, s := range merged {
				ids := o.ids[s][t.name]
				offset := int64(-1)
				for _, old := range slices.Sorted(maps.Keys(ids)) {
					id := ids[old]
					switch {
					case merges && !o.own(s, t, id):
					case !s.mints:
						if top = max(top, id); id != old {
							o.Errorf("source %s: %s %d has become %d", s.name, t.name, old, id)
						}
					case t.newIDs == plan.IDsDense:
						made = append(made, id)
					case offset < 0:
						offset = id - old
						fallthrough
					default:
						if highest = max(highest, id); offset < 0 || id-old != offset {
							o.Errorf("source %s: %s %d has become %d, want the offset %d", s.name, t.name, old, id, offset)
						}
					}
				}
			}
			for i, id := range made {
				if want := made[0] + int64(i); id != want || id <= top {
					o.Errorf("%s: the row in place %d has become %d, want %d, above %d", t.name, i, id, want, top)
				}
				highest = max(highest, id)
			}
			highest = max(highest, top)
		}
	}
}

// own reports whether a row of the target came from source s, and not from
// another one that it was merged with.
func (o *oracle) own(s *source, t *table, id int64) bool {
	for _, earlier := range o.order[:slices.Index(o.order, s)] {
		for _, other := range o.ids[earlier][t.name] {
			if other == id {
				return false
			}
		}
	}
	return true
}
