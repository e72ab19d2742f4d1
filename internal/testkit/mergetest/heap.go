package mergetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// compareHeap compares all rows of a table where nothing tells them apart. Columns that a source lacks are NULL.
func (o *oracle) compareHeap(t *table) {
	o.Helper()
	of := func(value func(c *column) *string) string {
		r := make(row)
		for _, c := range t.columns {
			if r[c.name] = value(c); c.role == plan.RoleJSON && r[c.name] != nil {
				text := fmt.Sprint(parse(*r[c.name]))
				r[c.name] = &text
			}
		}
		return t.show(r)
	}
	var want, got []string
	for _, s := range o.order {
		for _, r := range s.rows[t.name] {
			if o.leftOut[t.mark(r)] {
				continue
			}
			want = append(want, of(func(c *column) *string { return o.mapped(s, c, r) }))
		}
	}
	for _, r := range o.rows[t.name] {
		got = append(got, of(func(c *column) *string { return r[c.name] }))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		o.Errorf("%s: the target has %d rows, want %d:\n%s\nwant:\n%s", t.name, len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
