package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
)

// Kinds that only values tell are believed from so many ids of one kind on, and of so many kinds at most.
const (
	leastOfKind    = 20
	mostKinds      = 12
	mostNamedKinds = 50
	strayKind      = 0.5 // at most so many of the ids of the other kinds are ids of the same table
)

// A division is how the ids of a column divide into tables by the values of another one.
type division struct {
	by     *plan.Column
	named  bool // it is named after the column
	refers []*plan.Reference
	why    []string
	clear  int // how many ids are of a kind whose table is known
}

// kinds looks for a column beside c that says whose ids c has. It has the name of c and a word for kinds, or else
// only values say so. It is for columns that are named like references.
func (f *referenceFinder) kinds(ctx context.Context, t *plan.Table, c *plan.Column) {
	values, ok := f.sampled(t, c)
	if !ok || !f.vocabulary.ReadReference(c.Name).Named() {
		return
	}
	whole := len(f.having(ctx, c, values, likely)) > 0
	var best *division
	for _, by := range t.Columns {
		d := f.divide(ctx, t, c, by, whole)
		if d != nil && (best == nil || d.named && !best.named || d.named == best.named && d.clear > best.clear) {
			best = d
		}
	}
	if best == nil {
		return
	}
	f.propose(t, c, plan.RolePolymorphic, best.refers...)
	c.By = best.by.Name
	only := ""
	if !best.named {
		only = "No name says so. "
	}
	addSuspect(c, "does %s say whose ids these are? %sIts values are from a sample: there may be more", c.By, only)
	c.Suspects = append(c.Suspects, best.why...)
	f.none(t, c)
}

// divide returns how the values of by divide the ids of c, or nil if they do not. If the whole of the ids is of one
// table, only names divide them.
func (f *referenceFinder) divide(ctx context.Context, t *plan.Table, c, by *plan.Column, whole bool) *division {
	kind := sqltype.Of(f.dialect, by.Type).Kind
	if by == c || by.Role != plan.RolePlain || by.Generated != "" || by.Name == t.Created || kind == sqltype.Time || kind == sqltype.Bytes || kind == sqltype.JSON {
		return nil
	}
	d, most := &division{by: by}, mostKinds
	w := f.vocabulary.Read(by.Name).Words
	if n := len(w); n > 0 && refname.IsKind(w[n-1]) && slices.Equal(w[:n-1], f.vocabulary.ReadReference(c.Name).Stem) {
		d.named, most = true, mostNamedKinds
	}
	groups := f.groups(t, c.Name, by.Name)
	if len(groups) > most || !d.named && (whole || len(groups) < 2) {
		return nil
	}
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		var found parentage
		if d.named {
			name := refname.Reading{ID: true, Stem: f.vocabulary.thing(value[strings.LastIndexAny(value, `\/.:`)+1:])}
			found = f.parents(ctx, t, c, name, groups[value])
		}
		if found.table == nil && !whole && (groups[value].count() >= leastOfKind || d.named && many(groups[value])) {
			if parents := f.ofKind(ctx, c, groups, value); len(parents) > 0 {
				found.table = parents[0]
				found.why = "all of its sampled values could be ids of " + strings.Join(names(parents), ", ") + ", and most of the others are not"
			}
		}
		r := &plan.Reference{Value: value}
		if found.table != nil {
			r.Table = found.table.Name
			d.clear += max(1, groups[value].count())
		}
		d.refers = append(d.refers, r)
		if found.why == "" {
			found.why = "ids of no table, copied as they are"
		}
		d.why = append(d.why, fmt.Sprintf("with %s %q: %s", by.Name, value, found.why))
	}
	if d.clear == 0 {
		return nil
	}
	return d
}

// ofKind returns the tables that have all ids of one kind and not most of the ids of the other ones.
func (f *referenceFinder) ofKind(ctx context.Context, c *plan.Column, groups map[string]ids, kind string) (parents []*plan.Table) {
	for _, parent := range f.having(ctx, c, groups[kind], 1) {
		var others inclusion
		for other, values := range groups {
			if other != kind {
				found := f.lookUp(ctx, values.first(surveyedKeys), parent, parent.Key())
				others.hits, others.of = others.hits+found.hits, others.of+found.of
			}
		}
		if others.of > 0 && others.share() <= strayKind {
			parents = append(parents, parent)
		}
	}
	return parents
}
