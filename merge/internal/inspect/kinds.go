package inspect

import (
	"cmp"
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
// only values say so.
func (f *referenceFinder) kinds(ctx context.Context, t *plan.Table, c *plan.Column) {
	values, ok := f.sampled(t, c)
	if !ok || values.count() == 0 {
		return
	}
	whole := f.having(ctx, c, values, likely)
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

// mayDivide reports whether by may say whose ids c has, and whether it is named so. Beside a column that is not named
// like ids, by is a member of the primary key, or named like a kind.
func (f *referenceFinder) mayDivide(t *plan.Table, c, by *plan.Column) (may, named bool) {
	kind := sqltype.Of(f.dialect, by.Type).Kind
	if by == c || by.Role != plan.RolePlain || by.Generated != "" || by.Name == t.Created || kind == sqltype.Time || kind == sqltype.Bytes || kind == sqltype.JSON {
		return false, false
	}
	w, read := f.vocabulary.Read(by.Name).Words, f.vocabulary.ReadReference(c.Name)
	kindly := len(w) > 0 && refname.IsKind(w[len(w)-1])
	named = kindly && (len(w) == 1 || slices.Equal(w[:len(w)-1], read.Stem))
	return read.Named() || !read.Quantity && (kindly || slices.Contains(t.PrimaryKey, by.Name)), named
}

// divide returns how the values of by divide the ids of c, or nil if they do not. If the whole of the ids is of one
// table, only a column that is named so divides them.
func (f *referenceFinder) divide(ctx context.Context, t *plan.Table, c, by *plan.Column, whole []*plan.Table) *division {
	may, named := f.mayDivide(t, c, by)
	groups := f.groups(t, c.Name, by.Name)
	d, most := &division{by: by, named: named && len(f.vocabulary.Read(by.Name).Words) > 1}, mostKinds
	if named {
		most = mostNamedKinds
	}
	if !may || len(groups) > most || !d.named && (len(groups) < 2 || len(whole) > 0 && !named) {
		return nil
	}
	of := f.ofKinds(ctx, c, groups, whole)
	tables, told := map[string]bool{}, false
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		var found parentage
		if d.named {
			name := refname.Reading{ID: true, Stem: f.vocabulary.thing(value[strings.LastIndexAny(value, `\/.:`)+1:])}
			found = f.parents(ctx, t, c, name, groups[value])
		}
		if told = told || found.table != nil; found.table == nil {
			found = cmp.Or(of[value], found)
		}
		r := &plan.Reference{Value: value}
		if found.table != nil {
			r.Table = found.table.Name
			d.clear += max(1, groups[value].count())
			tables[r.Table] = true
		}
		d.refers = append(d.refers, r)
		if found.why == "" {
			found.why = "ids of no table, copied as they are"
		}
		d.why = append(d.why, fmt.Sprintf("with %s %q: %s", by.Name, value, found.why))
	}
	switch {
	case len(whole) > 0 && !told && len(tables) < 2: // they are the ids of that table, as far as values tell
		if d.named && len(groups) > 1 {
			f.kindOf[c] = by
		}
		return nil
	case d.clear == 0:
		return nil
	}
	return d
}

// ofKinds returns the tables whose ids those of each kind are, as far as values tell: the ids of the kind are among
// them, and most ids of the kinds of other tables are not. Kinds of one table support each other. Where tables have the
// whole of the ids, a kind is of the least table that has its ids, and that they reach. They must also reach the ids of a
// table for a column that is not named like ids.
func (f *referenceFinder) ofKinds(ctx context.Context, c *plan.Column, groups map[string]ids, whole []*plan.Table) map[string]parentage {
	named := f.vocabulary.ReadReference(c.Name).Named()
	having, enough := map[*plan.Table][]string{}, map[*plan.Table]bool{} // the kinds whose ids a table has
	for value, of := range groups {
		for _, parent := range f.having(ctx, c, of, likely) {
			having[parent] = append(having[parent], value)
			enough[parent] = enough[parent] || many(of)
		}
	}
	found, told := map[string]parentage{}, slices.Clone(whole)
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		of := groups[value]
		var parents []*plan.Table
		for _, parent := range f.plan.Tables {
			tells := func() bool {
				return (len(whole) == 0 && named || f.filled(of, parent)) && (len(whole) > 0 || f.tells(ctx, groups, having[parent], parent))
			}
			if enough[parent] && slices.Contains(having[parent], value) && tells() {
				parents = append(parents, parent)
			}
		}
		if len(parents) == 0 {
			continue
		}
		slices.SortStableFunc(parents, func(a, b *plan.Table) int { return cmp.Compare(f.highest(a), f.highest(b)) })
		why := "and most of the others are not"
		if len(whole) > 0 {
			why = "and the first of these has no more than they reach"
		}
		found[value] = parentage{table: parents[0], why: "all of its sampled values could be ids of " + strings.Join(names(parents), ", ") + ", " + why}
		told = append(told, parents[0])
	}
	for _, value := range slices.Sorted(maps.Keys(groups)) { // those that are too few to tell
		if of := groups[value]; found[value].table == nil && of.count() > 0 {
			for _, parent := range told {
				if f.lookUp(ctx, of, parent, parent.Key()).share() == 1 {
					found[value] = parentage{table: parent, why: fmt.Sprintf("all of its %d sampled values could be ids of %s, as others are", of.count(), parent.Name)}
				}
			}
		}
	}
	return found
}

// tells reports whether a table has the ids of some kinds alone.
func (f *referenceFinder) tells(ctx context.Context, groups map[string]ids, has []string, parent *plan.Table) bool {
	var others inclusion
	for other, values := range groups {
		if !slices.Contains(has, other) {
			found := f.lookUp(ctx, values.some(surveyedKeys), parent, parent.Key())
			others.hits, others.of = others.hits+found.hits, others.of+found.of
		}
	}
	return others.of > 0 && others.share() <= strayKind
}

// highest returns the sum of the highest ids of a table in all sources.
func (f *referenceFinder) highest(t *plan.Table) (sum float64) {
	for _, source := range f.plan.SourcesOf(t) {
		sum += float64(f.ranges[tableOf{source, t.Name}].max)
	}
	return sum
}

// filled reports whether values reach over the ids of a table in each source.
func (f *referenceFinder) filled(values ids, t *plan.Table) bool {
	for source, of := range values {
		r := f.ranges[tableOf{source, t.Name}]
		if len(of) > 0 && (!r.any || float64(slices.Max(of)) < 0.8*float64(r.max)) {
			return false
		}
	}
	return true
}
