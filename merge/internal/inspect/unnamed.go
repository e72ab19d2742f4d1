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
	fewestUnnamed = 20
	fewestLarge   = 5
	large         = 1000
)

// unnamed looks for the tables whose ids values could be, where no name says so: all values must be ids of a table, and
// reach far enough that it is no accident of small numbers. Numbers that ascend with the rows look like ids of their own table.
func (f *referenceFinder) unnamed(ctx context.Context, t *plan.Table, c *plan.Column, values ids) parentage {
	least := int64(large)
	for _, of := range values {
		for _, id := range of {
			least = min(least, id)
		}
	}
	if n := values.count(); n < fewestLarge || n < fewestUnnamed && least < large {
		return parentage{}
	}
	owners := f.candidates(ctx, c, values.first(surveyedKeys), func(string) float64 { return 1 })
	owners = slices.DeleteFunc(owners, func(o candidate) bool { return o.table == t || o.found.share() < 1 || !f.reaches(values, o.table) })
	if len(owners) == 0 {
		return parentage{}
	}
	var tables []string
	for _, o := range owners {
		tables = append(tables, o.table.Name)
	}
	why := fmt.Sprintf("all of %d sampled values could be ids of %s", owners[0].found.of, strings.Join(tables, ", "))
	return parentage{why: why, only: only(owners)}
}

// anyOwner reports whether nearly all of some values are ids of one table.
func (f *referenceFinder) anyOwner(ctx context.Context, c *plan.Column, values ids) bool {
	owners := f.candidates(ctx, c, values.first(surveyedKeys), func(string) float64 { return 1 })
	return slices.ContainsFunc(owners, func(o candidate) bool { return o.found.share() >= likely })
}

// reaches reports whether the highest of some values is in the upper half of the ids of a table, in some source.
func (f *referenceFinder) reaches(values ids, t *plan.Table) bool {
	for source, of := range values {
		r := f.ranges[tableOf{source, t.Name}]
		if len(of) > 0 && r.any && slices.Max(of) >= r.max/2 {
			return true
		}
	}
	return false
}

// only returns the table of the candidates if there is one.
func only(owners []candidate) *plan.Table {
	if len(owners) != 1 {
		return nil
	}
	return owners[0].table
}
