package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// Values without a name that says they are ids may be ids if there are at least this many different ones, or fewer that
// are not small.
const (
	FewestUnnamed = 20
	fewestLarge   = 5
	large         = 1000
)

// unnamed looks for the tables whose ids values could be, where no name says so: all values must be ids of a table,
// and reach far enough that it is no accident of small numbers. Numbers that ascend with the rows look like ids of
// their own table.
func (f *referenceFinder) unnamed(ctx context.Context, t *plan.Table, c *plan.Column, values ids) parentage {
	if !many(values) {
		return parentage{}
	}
	tables := slices.DeleteFunc(f.having(ctx, c, values, 1), func(owner *plan.Table) bool { return owner == t })
	if len(tables) == 0 {
		return parentage{}
	}
	found := parentage{why: fmt.Sprintf("all of %d sampled values could be ids of %s", values.some(surveyedKeys).count(), strings.Join(names(tables), ", "))}
	if len(tables) == 1 {
		found.only = tables[0]
	}
	return found
}

// having returns the tables that have a share of some values or more as ids, and that the values reach, see reaches.
func (f *referenceFinder) having(ctx context.Context, c *plan.Column, values ids, share float64) (owners []*plan.Table) {
	for _, t := range f.plan.Tables {
		if t.Key() != nil && t.Key() != c && f.reaches(values, t) && f.lookUp(ctx, values.some(surveyedKeys), t, t.Key()).share() >= share {
			owners = append(owners, t)
		}
	}
	return owners
}

// many reports whether there are enough values, for their size, to be found among the ids of a table by no accident.
func many(values ids) bool {
	least := int64(large)
	for _, of := range values {
		for _, id := range of {
			least = min(least, id)
		}
	}
	n := values.count()
	return n >= FewestUnnamed || n >= fewestLarge && least >= large
}

// Reaches reports whether the highest of some values is in the upper half of the ids of a table, which are from low to
// high. Small numbers are ids of every table.
func Reaches(values []int64, low, high int64) bool {
	return len(values) > 0 && slices.Max(values) >= low+(high-low)/2
}

// reaches reports whether values reach the ids of a table in some source, see [Reaches].
func (f *referenceFinder) reaches(values ids, t *plan.Table) bool {
	for source, of := range values {
		r := f.ranges[tableOf{source, t.Name}]
		if r.any && Reaches(of, r.min, r.max) {
			return true
		}
	}
	return false
}

// names returns the names of tables.
func names(tables []*plan.Table) (all []string) {
	for _, t := range tables {
		all = append(all, t.Name)
	}
	return all
}
