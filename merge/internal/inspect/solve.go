package inspect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

const rounds = 3 // where columns of equal names speak for one another

// keysOf decides which primary keys number the rows of their own tables.
func (s *solver) keysOf(ctx context.Context) {
	s.collect(ctx)
	s.families = map[string][]*field{}
	for _, f := range s.fields {
		f.plain = f.plainPoints()
		s.families[f.name.Family()] = append(s.families[f.name.Family()], f)
	}
	s.order = slices.Sorted(maps.Keys(s.families))
	s.unambiguous()
	s.soleKeys()
	for _, f := range s.fields {
		own := s.keyOf(f)
		for _, k := range s.keys {
			if k.field == f || own != nil && refers(k.table, own) {
				continue // a key is no id of the rows that refer to it
			}
			c := s.claim(ctx, f, k)
			if c.lent = s.borrows(own, c); c.lent < leastLent && own != nil && own.counted && (refname.Alike(f.name.Stem, k.of) < 3 || refname.Alike(f.name.Stem, f.thing) >= 5) {
				c.name = min(c.name, 2) // it counts up by itself, and has its name from the habit or from its own table
			}
			f.see(c)
			if f.strays(c) {
				continue
			}
			if c.score() > 0 && (c.name > 0 || c.rest > 2 || c.value >= 3 || c.lent > 0) || c.name >= 4 {
				f.claims = append(f.claims, c)
				if c.name >= 2.5 && c.why != refname.LikeSomebody && c.fits() && !f.alone {
					k.named++
				}
			}
		}
	}
	for _, f := range s.fields {
		s.pair(ctx, f)
		f.torn = f.tears()
	}
	s.tearAll()
	for _, f := range s.fields {
		f.heed()
		f.end()
	}
	for _, f := range s.fields {
		s.accompany(f)
	}
	s.speak()
	for _, k := range s.keys {
		k.own = s.ownPoints(k)
	}
	// Columns that are least likely to be keys of their own are decided first: then others can't refer to them.
	order := slices.Clone(s.keys)
	slices.SortStableFunc(order, func(a, b *key) int { return cmp.Compare(a.own, b.own) })
	for _, k := range order {
		best := k.best()
		if best != nil && best.serious() && best.score() > k.own && !s.follows(best.key, k) {
			k.verdict = verdict{key: best.key, certainty: min(best.most(), certainty(best.score()-k.own))}
			k.column.Role = plan.RolePlain
			k.table.Unique = slices.DeleteFunc(k.table.Unique, func(u *plan.Unique) bool { return u == k.unique })
			for _, f := range s.fields {
				f.claims = slices.DeleteFunc(f.claims, func(c *claim) bool { return c.key == k })
			}
		} else {
			lead := k.own
			if best != nil && best.serious() {
				lead -= best.score()
			}
			k.verdict = verdict{isOwn: true, certainty: certainty(lead)}
			if k.unique != nil {
				catalog.AddNote(k.table, "primary key %q: column %s alone tells rows apart, too, and numbers them", k.table.PrimaryKey, k.column.Name)
			}
		}
	}
	for _, k := range s.keys {
		for k.verdict.key != nil && !k.verdict.key.verdict.isOwn { // it is the key of yet another table
			k.verdict.key = k.verdict.key.verdict.key
		}
	}
	s.keys = slices.DeleteFunc(s.keys, func(k *key) bool { return !k.verdict.isOwn })
}

// keyOf returns the key that a field is, or nil.
func (s *solver) keyOf(f *field) *key {
	if at := slices.IndexFunc(s.keys, func(k *key) bool { return k.field == f }); at >= 0 {
		return s.keys[at]
	}
	return nil
}

// see keeps what a claim says of the field.
func (f *field) see(c *claim) {
	f.named = f.named || c.name >= 1
	if !c.fit.known || c.fit.found.hits == 0 {
		return
	}
	if c.fit.ends && c.fit.found.share() >= likely && c.key.field != f {
		f.ending = append(f.ending, c)
	}
	f.could = f.could || c.fits() && f.n >= fewestLarge && c.fit.reach >= 0.3
	f.few = f.few || f.n < fewestLarge && c.fit.found.share() == 1 || c.fit.rows.share() >= mostRows
	if c.fit.found.share() >= 0.5 && (f.near == nil || cmp.Or(cmp.Compare(c.fit.found.hits, f.near.fit.found.hits), cmp.Compare(c.fit.reach, f.near.fit.reach)) > 0) {
		f.near = c
	}
}

// follows reports whether a key has been found to hold the ids of another one.
func (s *solver) follows(k, other *key) bool {
	for ; k != nil; k = k.verdict.key {
		if k == other {
			return true
		}
	}
	return false
}

// unambiguous finds the names that are like the name of a single table.
func (s *solver) unambiguous() {
	s.only = map[string]*key{}
	for _, family := range s.order {
		fields := s.families[family]
		var like []*key
		for _, k := range s.keys {
			if refname.Alike(fields[0].name.Stem, k.of) > 0 {
				like = append(like, k)
			}
		}
		if len(like) == 1 {
			s.only[family] = like[0]
		}
	}
}

// soleKeys finds the keys that are called by a word of their own, such as uid, which no other key is called by.
func (s *solver) soleKeys() {
	of := map[string][]*key{}
	for _, k := range s.keys {
		if word := k.name.Word; len(k.name.Stem) == 0 && word != "" && word != "id" && k.counted {
			of[word] = append(of[word], k)
		}
	}
	for _, keys := range of {
		keys[0].as.Sole = len(keys) == 1
	}
}

// speak lets columns of equal names, and the tables that most refer to, speak for claims.
func (s *solver) speak() {
	for range rounds {
		favour, hubs, most := map[string]map[*key]float64{}, map[*key]float64{}, 1.0
		for _, family := range s.order {
			fields := s.families[family]
			favour[family] = map[*key]float64{}
			for _, f := range fields {
				if best := f.best(); best != nil && !(f.alone && s.ownPoints(&key{field: f}) > best.score()) {
					weight := certainty(best.score() - f.plain)
					favour[family][best.key] += weight
					hubs[best.key] += weight
					most = max(most, hubs[best.key])
				}
			}
		}
		for _, family := range s.order {
			fields, total := s.families[family], 0.0
			for _, k := range s.keys {
				total += favour[family][k]
			}
			for _, f := range fields {
				for _, c := range f.claims {
					c.fam = 0
					if c.fits() && family != "id" && total > 0 && len(fields) > 1 {
						c.fam = 2 * favour[family][c.key] / total * min(1, float64(len(fields)-1)/3)
					}
					if f.alone {
						c.fam /= 2
					}
					switch {
					case c.name <= 0 && c.lent > 0:
						c.fam += hubs[c.key] / most
					case c.name <= 0:
					case c.key.as.People && f.name.Role():
						c.fam += 1.5 * hubs[c.key] / most
					case f.name.Shared:
						c.fam += 1.5 * hubs[c.key] / most
					case f.name.Container():
						c.fam += hubs[c.key] / most
					}
				}
			}
		}
	}
}

// numberless returns the name of the column without numbers, which columns of one meaning have in common.
func (f *field) numberless() string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, f.column.Name)
}

// namesakes gives the columns of a name that is a reference elsewhere the same verdict, though their few values or
// their orphans say little. A column that is not named like ids must have ids of that table.
func (s *solver) namesakes(ctx context.Context) {
	known := map[string]map[*key]int{}
	for _, f := range s.fields {
		if name := f.numberless(); f.verdict.key != nil && !f.name.Common && !f.verdict.isOwn {
			if known[name] == nil {
				known[name] = map[*key]int{}
			}
			known[name][f.verdict.key]++
		}
	}
	for _, f := range s.fields {
		of := known[f.numberless()]
		if f.verdict.key != nil || f.verdict.isOwn || len(of) == 0 || (f.flags || f.name.Quantity) && !f.name.ID {
			continue
		}
		var best *key
		for _, k := range s.keys {
			if of[k] > 0 && k.field != f && (best == nil || of[k] > of[best]) {
				best = k
			}
		}
		if best == nil {
			continue
		}
		c := f.claimOf(best)
		if !slices.Contains(f.claims, c) {
			c = s.claim(ctx, f, best)
		}
		share := max(c.fit.found.share(), c.fit.rows.share())
		if f.name.ID && (f.n == 0 || !c.fit.known || share >= 0.5) || f.n >= fewestLarge && share >= likely {
			if !slices.Contains(f.claims, c) {
				f.claims = append(f.claims, c)
			}
			if c.why == "" {
				c.why = "named as its other references"
			}
			f.verdict = verdict{key: best, certainty: 0.6}
		}
	}
}

// references decides what the fields that are no keys hold.
func (s *solver) references(ctx context.Context) {
	s.fields = slices.DeleteFunc(s.fields, func(f *field) bool { // found to be something else
		return f.column.Role != plan.RolePlain && f.column.Role != plan.RoleKey || f.column.Name == f.table.Created
	})
	s.speak()
	for _, f := range s.fields {
		best := f.best()
		switch {
		case f.verdict.isOwn:
			continue
		case f.verdict.key != nil:
		case best != nil && best.score() > f.plain:
			rival := f.plain
			for _, c := range f.claims {
				if c != best {
					rival = max(rival, c.score())
				}
			}
			f.verdict = verdict{key: best.key, certainty: min(best.most(), certainty(best.score()-rival))}
		default:
			lead := f.plain
			if best != nil {
				lead -= best.score()
			}
			f.verdict = verdict{certainty: certainty(lead)}
		}
	}
	s.namesakes(ctx)
	for _, f := range s.fields {
		if f.verdict.isOwn {
			continue
		}
		if f.unsure = f.isUnsure(); f.unsure {
			f.verdict.certainty = min(f.verdict.certainty, undecided)
		}
		if f.verdict.key != nil {
			f.column.Role, f.column.Refers = plan.RoleReference, []*plan.Reference{{Table: f.verdict.key.table.Name}}
			f.column.None = s.none(f)
			s.check(ctx, f)
		}
		if by := s.kindOf[f.column]; by != nil {
			f.verdict.certainty = min(f.verdict.certainty, 0.6)
			f.besides = "does " + by.Name + " say whose ids these are?"
		} else if c := f.spoken(); c != nil {
			f.besides = s.others(f, c)
		}
		if f.unsure && f.besides == "" {
			f.besides = f.rivals()
		}
	}
}

// others says of which table the values of a field are that are no ids of the key that most are of, or "".
func (s *solver) others(f *field, c *claim) string {
	left := &field{values: ids{}, rows: f.rows}
	for source, values := range f.values {
		if all, whole := c.key.ids[source]; whole {
			left.values[source] = slices.DeleteFunc(slices.Clone(values), func(id int64) bool {
				_, found := slices.BinarySearch(all, id)
				return found
			})
		}
	}
	n := left.values.count()
	if n < fewestLarge {
		return ""
	}
	best, most := "", n/2
	for _, k := range s.keys {
		hits := 0
		for source, values := range left.values {
			if dense(k.ids[source], values) {
				continue
			}
			for _, id := range values {
				if _, found := slices.BinarySearch(k.ids[source], id); found {
					hits++
				}
			}
		}
		if k.field != f && hits > most {
			best, most = k.table.Name, hits
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("of the others %d are ids of %s", most, best)
}

// dense reports whether sorted ids fill most of the range of some values, so that these are among them by chance.
func dense(sorted, values []int64) bool {
	if len(values) == 0 {
		return false
	}
	least, most := slices.Min(values), slices.Max(values)
	from, _ := slices.BinarySearch(sorted, least)
	to, _ := slices.BinarySearch(sorted, most+1)
	return float64(to-from) >= 0.5*(float64(most)-float64(least)+1)
}

// none returns the values that stand for no row: what is no id, and what no row of the table has.
func (s *solver) none(f *field) []string {
	return slices.DeleteFunc(slices.Clone(f.none), func(text string) bool {
		id, ok := sqlvalue.ParseID(text)
		return ok && slices.ContainsFunc(s.names, func(source string) bool {
			r := s.ranges[tableOf{source, f.verdict.key.table.Name}]
			return r.any && r.min <= 0 && id >= r.min
		})
	})
}

// check looks all rows up of a reference that was found in a sample.
func (s *solver) check(ctx context.Context, f *field) {
	for _, source := range s.plan.SourcesOf(f.table) {
		k := f.verdict.key
		sampled := s.samples[tableOf{source, f.table.Name}]
		if s.err != nil || sampled.whole || f.text || !f.column.In(source) || !k.table.In(source) || !k.column.In(source) {
			continue
		}
		of, hits, err := s.rows[source].Included(ctx, f.table.Name, f.column.Name, k.table.Name, k.column.Name)
		s.fail(source, f.table.Name, err)
		for _, c := range f.claims {
			if c.key == k {
				c.all.hits, c.all.of = c.all.hits+hits, c.all.of+of
			}
		}
	}
}
