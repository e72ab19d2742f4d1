package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
)

// Kinds that only values tell are believed from so many ids of one kind on, and of so many kinds at most.
const (
	leastOfKind = 20
	mostKinds   = 12
	strayKind   = 0.5 // at most so many of the ids of another kind are ids of the same table
)

// A division is how the ids of a column divide into tables by the values of another one.
type division struct {
	by     *plan.Column
	refers []*plan.Reference
	why    []string
	clear  int // how many ids are of a kind whose table is known
}

// kinds looks for a column beside c whose values divide its ids: those of one value are all ids of a table, of which most of the
// other ids are not. It is for columns that are named like references.
func (f *referenceFinder) kinds(ctx context.Context, t *plan.Table, c *plan.Column) {
	values, ok := f.sampled(t, c)
	w := words(c.Name)
	if !ok || values.count() < 2*leastOfKind || len(w) == 0 || !f.vocabulary.read(c.Name).named() && !slices.Contains(roles, singular(w[len(w)-1])) {
		return
	}
	for _, parent := range f.plan.Tables {
		if f.within(values, parent) && parent.Key() != c && f.lookUp(ctx, values.first(surveyedKeys), parent, parent.Key()).share() >= likely {
			return // there is nothing to divide
		}
	}
	var best *division
	for _, by := range t.Columns {
		kind := sqltype.Of(f.dialect, by.Type).Kind
		if by == c || by.Role != plan.RolePlain || by.Generated != "" || by.Name == t.Created || kind == sqltype.Time || kind == sqltype.Bytes || kind == sqltype.JSON {
			continue
		}
		groups := f.groups(t, c.Name, by.Name)
		if len(groups) < 2 || len(groups) > mostKinds {
			continue
		}
		if d := f.divide(ctx, c, by, groups); d != nil && (best == nil || d.clear > best.clear) {
			best = d
		}
	}
	if best == nil {
		return
	}
	f.propose(t, c, plan.RolePolymorphic, best.refers...)
	c.By = best.by.Name
	c.AddSuspect("does %s say whose ids these are? No name says so, only the values do, and they are from a sample: there may be more", best.by.Name)
	c.Suspects = append(c.Suspects, best.why...)
	f.none(t, c)
}

// divide returns how the groups divide, or nil if they do not.
func (f *referenceFinder) divide(ctx context.Context, c, by *plan.Column, groups map[string]ids) *division {
	d := &division{by: by}
	names := slices.Sorted(maps.Keys(groups))
	for _, name := range names {
		r := &plan.Reference{Value: name}
		d.refers = append(d.refers, r)
		n := groups[name].count()
		if n == 0 {
			d.why = append(d.why, fmt.Sprintf("with %s %q: no ids", by.Name, name))
			continue
		}
		var of []string
		for _, parent := range f.plan.Tables {
			if n < leastOfKind || !f.within(groups[name], parent) || parent.Key() == c {
				continue
			}
			if found := f.lookUp(ctx, groups[name].first(surveyedKeys), parent, parent.Key()); found.hits < found.of {
				continue
			}
			others, strays := 0, 0
			for _, other := range names {
				if other != name {
					found := f.lookUp(ctx, groups[other].first(surveyedKeys), parent, parent.Key())
					others, strays = others+found.of, strays+found.hits
				}
			}
			if others >= leastOfKind && float64(strays) <= strayKind*float64(others) {
				of = append(of, parent.Name)
			}
		}
		switch len(of) {
		case 0:
			d.why = append(d.why, fmt.Sprintf("with %s %q: ids of no one table that the others are not of, copied as they are", by.Name, name))
		case 1:
			r.Table = of[0]
			d.clear += n
			d.why = append(d.why, fmt.Sprintf("with %s %q: all of %d sampled values are ids of %s, and most of the others are not", by.Name, name, n, of[0]))
		default:
			d.clear += n
			r.Table = of[0]
			d.why = append(d.why, fmt.Sprintf("with %s %q: its sampled values could be ids of %s", by.Name, name, strings.Join(of, ", ")))
		}
	}
	if d.clear == 0 {
		return nil
	}
	return d
}

// within reports whether ids may be those of a table by their range: none is outside, and some are in the upper half. Small
// numbers are ids of every table.
func (f *referenceFinder) within(values ids, t *plan.Table) bool {
	if t.Key() == nil {
		return false
	}
	for source, of := range values {
		r := f.ranges[tableOf{source, t.Name}]
		if len(of) > 0 && (!t.In(source) || !r.any || slices.Min(of) < r.min || slices.Max(of) > r.max || slices.Max(of) < r.min+(r.max-r.min)/2) {
			return false
		}
	}
	return true
}
