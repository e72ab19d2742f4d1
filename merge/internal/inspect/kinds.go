package inspect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
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
	if !ok || values.count() == 0 || slices.Equal(t.PrimaryKey, []string{c.Name}) && f.numbers(t, c) {
		return
	}
	whole := f.having(ctx, c, values, likely)
	read := f.vocabulary.ReadReference(c.Name)
	alike := func(t *plan.Table) float64 {
		thing := f.vocabulary.thing(t.Name)
		if points := refname.Alike(read.Stem, thing); points > 0 || !read.EndsInRole() || !refname.OfPeople(thing) {
			return points
		}
		return 1
	}
	slices.SortStableFunc(whole, func(a, b *plan.Table) int {
		return cmp.Or(cmp.Compare(alike(b), alike(a)), cmp.Compare(f.highest(a), f.highest(b)))
	})
	var best *division
	named := f.isOf(t, c, read.Stem)
	small := !read.Named() && !many(values.above(large))
	for _, by := range t.Columns {
		if named || small { // its own name says whose ids they are, or small numbers are ids of any table
			if _, says := f.mayDivide(t, c, by, len(whole) > 0); !says {
				continue
			}
		}
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

// isOf reports whether a column has the name of a table, perhaps after other words, and most of its rows have ids of it.
func (f *referenceFinder) isOf(t *plan.Table, c *plan.Column, stem []string) bool {
	for _, parent := range f.plan.Tables {
		if parent.Key() == nil || refname.Alike(stem, f.vocabulary.thing(parent.Name)) < 4 {
			continue
		}
		var rows inclusion
		for source, values := range f.values(t, c.Name) {
			all := f.keyIDs[tableOf{source, parent.Name}]
			for _, v := range values {
				if id, ok := sqlvalue.ParseID(sqlvalue.Text(v)); ok && id > 0 {
					rows.of++
					if _, found := slices.BinarySearch(all, id); found {
						rows.hits++
					}
				}
			}
		}
		if rows.share() >= likely {
			return true
		}
	}
	return false
}

// mayDivide reports whether by may say whose ids c has, and whether it is named so. Beside a column that is not named
// like ids, by is a member of the primary key, or named like a kind, and it is that where the whole of the ids is of one
// table.
func (f *referenceFinder) mayDivide(t *plan.Table, c, by *plan.Column, whole bool) (may, named bool) {
	kind := sqltype.Of(f.dialect, by.Type).Kind
	if by == c || by.Role != plan.RolePlain || by.Generated != "" || by.Name == t.Created || kind == sqltype.Time || kind == sqltype.Bytes || kind == sqltype.JSON {
		return false, false
	}
	w, read := f.vocabulary.Read(by.Name).Words, f.vocabulary.ReadReference(c.Name)
	kindly := len(w) > 0 && refname.IsKind(w[len(w)-1])
	named = kindly && (slices.Equal(w[:len(w)-1], read.Stem) || slices.Equal(w[:len(w)-1], read.Words)) // uid_type is the type of uid
	return kindly && !read.Quantity || !whole && (read.Named() || !read.Quantity && slices.Contains(t.PrimaryKey, by.Name)), named
}

// divide returns how the values of by divide the ids of c, or nil if they do not.
func (f *referenceFinder) divide(ctx context.Context, t *plan.Table, c, by *plan.Column, whole []*plan.Table) *division {
	may, named := f.mayDivide(t, c, by, len(whole) > 0)
	d, most := &division{by: by, named: named}, mostKinds
	if named {
		most = mostNamedKinds
	}
	if !may {
		return nil
	}
	groups := f.groups(t, c.Name, by.Name, most)
	if groups == nil || !named && len(groups) < 2 {
		return nil
	}
	of, doubt := f.ofKinds(ctx, c, groups, whole, named)
	tables, told := map[string]bool{}, false
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		var found parentage
		thing := f.vocabulary.thing(value[strings.LastIndexAny(value, `\/.:`)+1:])
		if named {
			found = f.parents(ctx, t, c, refname.Reading{ID: true, Stem: thing}, groups[value])
		}
		told = told || found.table != nil
		if found.table == nil && named && many(groups[value]) {
			found = f.inShort(ctx, c, thing, groups[value], found)
			told = told || found.table != nil
		}
		if found.table == nil {
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
		if named && len(groups) > 1 {
			f.kindOf[c] = by
		}
		return nil
	case d.clear == 0:
		if doubt {
			f.kindOf[c] = by
		}
		return nil
	}
	return d
}

// inShort looks for the table that a kind is short for, such as msg for messages, or else for one of people if the kind
// is.
func (f *referenceFinder) inShort(ctx context.Context, c *plan.Column, kind []string, values ids, found parentage) parentage {
	for _, same := range []func(thing []string) bool{
		func(thing []string) bool { return refname.Shortens(strings.Join(kind, ""), strings.Join(thing, "")) },
		func(thing []string) bool { return refname.OfPeople(kind) && refname.OfPeople(thing) },
	} {
		for _, parent := range f.having(ctx, c, values, mostRows) {
			if same(f.vocabulary.thing(parent.Name)) {
				return parentage{table: parent, why: fmt.Sprintf("its %d sampled values could be ids of %s, and it is named like that", values.count(), parent.Name)}
			}
		}
	}
	return found
}

// ofKinds returns the table of each kind, as far as values tell. The table has the ids of the kind, and lacks most ids
// of the kinds of other tables. Kinds of one table support each other. If several tables have all ids, a kind belongs
// to the table whose ids end where its own do. Doubt remains where a kind has too few ids.
func (f *referenceFinder) ofKinds(ctx context.Context, c *plan.Column, groups map[string]ids, whole []*plan.Table, named bool) (found map[string]parentage, doubt bool) {
	named = named || f.vocabulary.ReadReference(c.Name).Named()
	having, enough := map[*plan.Table][]string{}, map[*plan.Table]bool{} // the kinds whose ids a table has
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		for _, parent := range f.having(ctx, c, groups[value], likely) {
			having[parent] = append(having[parent], value)
			enough[parent] = enough[parent] || many(groups[value])
		}
	}
	var told []*plan.Table
	found, told = map[string]parentage{}, slices.Clone(whole[:min(1, len(whole))])
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		of := groups[value]
		var parents []*plan.Table
		for _, parent := range f.plan.Tables {
			switch {
			case !slices.Contains(having[parent], value) || slices.Contains(whole, parent):
			case len(whole) > 0:
				if enough[parent] && f.ends(of, parent, whole) {
					parents = append(parents, parent)
				}
			case !f.tells(ctx, groups, having[parent], parent):
			case enough[parent] && (named || f.beyondChance(of, parent)):
				parents = append(parents, parent)
			default:
				doubt = doubt || of.count() >= fewestLarge
			}
		}
		if len(parents) == 0 {
			continue
		}
		slices.SortStableFunc(parents, func(a, b *plan.Table) int { return cmp.Compare(f.highest(a), f.highest(b)) })
		why := "and most of the others are not"
		if len(whole) > 0 {
			why = "which ends where they do, and the others go on"
		}
		found[value] = parentage{table: parents[0], why: "all of its sampled values could be ids of " + strings.Join(names(parents), ", ") + ", " + why}
		told = append(told, parents[0])
	}
	if len(found) == 0 {
		return nil, doubt
	}
	for _, value := range slices.Sorted(maps.Keys(groups)) { // those that are too few to tell
		if of := groups[value]; found[value].table == nil && of.count() > 0 {
			for _, parent := range told {
				if hits := f.lookUp(ctx, of, parent, parent.Key()); hits.share() == 1 || hits.share() >= likely && slices.Contains(whole, parent) {
					found[value] = parentage{table: parent, why: fmt.Sprintf("%s sampled values could be ids of %s, as others are", hits, parent.Name)}
					break
				}
			}
		}
	}
	return found, doubt
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

// ends reports whether values end where the ids of a table do, in each source, and that is no accident: they would go on
// if they were ids of the tables that have the whole.
func (f *referenceFinder) ends(values ids, t *plan.Table, whole []*plan.Table) bool {
	accident := 0.0 // as a logarithm
	for source, of := range values {
		if len(of) == 0 {
			continue
		}
		r := f.ranges[tableOf{source, t.Name}]
		most := math.MaxFloat64
		for _, w := range whole {
			most = min(most, float64(f.ranges[tableOf{source, w.Name}].max))
		}
		if !r.any || len(of) >= 8 && float64(slices.Max(of)) < 0.8*float64(r.max) {
			return false
		}
		accident += float64(len(of)) * math.Log(float64(r.max)/max(most, 1))
	}
	return accident < unlikely
}

// unlikely is the logarithm of what is no accident.
const unlikely = -9

// beyondChance reports whether it is no accident that values are ids of a table, since it lacks many numbers.
func (f *referenceFinder) beyondChance(values ids, t *plan.Table) bool {
	accident := 0.0
	for source, of := range values {
		all, known := f.keyIDs[tableOf{source, t.Name}]
		if len(of) == 0 || known && len(all) == 0 {
			continue
		}
		if !known {
			return true
		}
		most := slices.Max(of)
		n, _ := slices.BinarySearch(all, most+1)
		accident += float64(len(of)) * math.Log(float64(max(1, n))/float64(most))
	}
	return accident < unlikely
}
