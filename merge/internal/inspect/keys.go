package inspect

import (
	"context"
	"math"
	"slices"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// wholeKeys is how many ids of a table are read to look others up among them; ids of larger tables are queried.
const wholeKeys = 200_000

// collect finds the fields and the keys.
func (s *solver) collect(ctx context.Context) {
	for _, t := range s.plan.Tables {
		for _, c := range t.Columns {
			if f := s.field(t, c); f != nil {
				s.fields = append(s.fields, f)
			}
		}
	}
	for _, f := range s.fields {
		if s.isKey(f) {
			s.keys = append(s.keys, s.newKey(ctx, f))
		}
	}
}

// field returns what is known of a column that may hold ids, or nil.
func (s *solver) field(t *plan.Table, c *plan.Column) *field {
	if c.Generated != "" || c.Role != plan.RolePlain && c.Role != plan.RoleKey {
		return nil
	}
	typ := sqltype.Of(s.dialect, c.Type)
	f := &field{table: t, column: c, name: s.vocabulary.ReadIn(bare(s.plan, t.Name), c.Name), thing: s.vocabulary.thing(t.Name), values: ids{}, rows: map[string]map[int64]int{}, bits: typ.Bits, text: typ.Kind == sqltype.Text}
	if !typ.IsNumber() && typ.Kind != sqltype.Text {
		return nil
	}
	f.flags = true
	top := typ.Highest()
	numbers, others := 0, 0
	for source, values := range s.evidence.values(t, c.Name) {
		all := distinct(values)
		f.values[source] = slices.DeleteFunc(all, func(id int64) bool { return id == top && len(all) > 1 })
		f.n += len(f.values[source])
		f.rows[source] = map[int64]int{}
		for _, v := range values {
			text := sqlvalue.Text(v)
			id, ok := sqlvalue.ParseID(text)
			isNone := ok && (id <= 0 || id == top) || text == ""
			switch {
			case ok:
				numbers++
				f.rows[source][id]++
			case text != "":
				others++
			}
			f.flags = f.flags && ok && id >= 0 && id <= 1
			if isNone && !slices.Contains(f.none, text) {
				f.none = append(f.none, text)
			}
		}
	}
	slices.Sort(f.none)
	f.flags = f.flags && numbers > 0
	f.alone = slices.Equal(t.RowKey(), []string{c.Name})
	short := typ.Kind == sqltype.Integer && typ.Bits < 16 && !f.name.ID && !f.alone && s.dialect != sqldialect.SQLite && !s.namesTable(f)
	if others > numbers/10 || f.text && (f.n == 0 || numbers == 0) || short {
		return nil
	}
	f.member = slices.Contains(t.PrimaryKey, c.Name)
	f.indexed = f.member && t.PrimaryKey[0] == c.Name ||
		slices.ContainsFunc(t.Indexes, func(i *plan.Index) bool { return len(i.Columns) > 0 && i.Columns[0] == c.Name }) ||
		slices.ContainsFunc(t.Unique, func(u *plan.Unique) bool { return len(u.Columns) > 0 && u.Columns[0] == c.Name })
	f.partners = s.joins[f.String()]
	return f
}

// namesTable reports whether a column is named after a table.
func (s *solver) namesTable(f *field) bool {
	least := 2.5
	if f.name.Quantity {
		least = 3.5
	}
	return slices.ContainsFunc(s.plan.Tables, func(t *plan.Table) bool { return refname.Alike(f.name.Stem, s.vocabulary.thing(t.Name)) >= least })
}

// isKey reports whether a column may number the rows of its table: it has Role key by the schema, or a source counts
// it up, beside a primary key or as a member of it, it is named after the table and is unique in the samples. It gets
// a unique key of its own in the plan, which a dry run checks on all rows; the primary key stays as it is.
func (s *solver) isKey(f *field) bool {
	if f.column.Role == plan.RoleKey {
		return !f.text
	}
	own := refname.Alike(f.name.Stem, f.thing) >= 5 || len(f.name.Stem) == 0
	if f.text || f.alone || f.column.Nullable || len(f.column.Sources) > 0 || f.table.Key() != nil {
		return false
	}
	if !own || !s.counted(f) || !s.unique(f) {
		return false
	}
	alone := []string{f.column.Name}
	if len(f.table.PrimaryKey) == 0 {
		f.table.PrimaryKey = alone
	} else if !slices.ContainsFunc(f.table.Unique, func(u *plan.Unique) bool { return slices.Equal(u.Columns, alone) }) {
		f.unique = &plan.Unique{Columns: alone, Rule: plan.RuleFail}
		f.table.Unique = append(f.table.Unique, f.unique)
	}
	f.column.Role, f.alone = plan.RoleKey, true
	return true
}

// unique reports whether no value of a column is there twice in a sample.
func (s *solver) unique(f *field) bool {
	for source, values := range s.evidence.values(f.table, f.column.Name) {
		if len(values) != len(f.values[source]) {
			return false
		}
	}
	return f.n > 0
}

// counted reports whether a source counts a column up. SQLite counts up every key of one integer, so the name has
// to say that it is the table's own.
func (s *solver) counted(f *field) bool {
	if s.dialect == sqldialect.SQLite && len(f.name.Stem) > 0 && refname.Alike(f.name.Stem, f.thing) < 3.5 {
		return false
	}
	return s.numbers(f.table, f.column)
}

// used reports whether a source has counted a column up, unless it has no rows.
func (s *solver) used(ctx context.Context, f *field) bool {
	used := f.n == 0
	for source, values := range f.values {
		if s.err == nil && len(values) > 0 && slices.Contains(s.catalogs[source].Table(f.table.Name).Numbered, f.column.Name) {
			unused, err := s.rows[source].Unused(ctx, f.table.Name, f.column.Name)
			s.fail(source, f.table.Name, err)
			used = used || !unused
		}
	}
	return used
}

// newKey reads the ids of a key.
func (s *solver) newKey(ctx context.Context, f *field) *key {
	k := &key{field: f, of: f.thing, ids: map[string][]int64{}, counted: s.counted(f)}
	if k.unused = k.counted && !s.used(ctx, f); k.unused {
		k.counted = false
	}
	k.as = refname.NewKey(f.as(), k.counted)
	for _, source := range s.plan.SourcesOf(f.table) {
		sampled := s.samples[tableOf{source, f.table.Name}]
		if s.err != nil || !f.column.In(source) {
			continue
		}
		if _, known := s.ranges[tableOf{source, f.table.Name}]; !known {
			s.ranges[tableOf{source, f.table.Name}] = s.bounds(ctx, source, f.table.Name, f.column.Name)
		}
		var found []int64
		if sampled.whole {
			found = slices.Clone(f.values[source])
		} else {
			values, err := s.rows[source].Distinct(ctx, f.table.Name, f.column, wholeKeys+1)
			s.fail(source, f.table.Name, err)
			if len(values) > wholeKeys {
				continue
			}
			found = distinct(values)
		}
		slices.Sort(found)
		k.ids[source], s.keyIDs[tableOf{source, f.table.Name}] = found, found
	}
	return k
}

// end reports whether values end where sorted ids do. If they are some of these ids, the highest one is as far from the
// highest id as the values are from one another.
func end(values, sorted []int64) bool {
	if len(values) < FewestUnnamed || len(sorted) == 0 {
		return false
	}
	first, last, high := sorted[0], sorted[len(sorted)-1], slices.Max(values)
	return high <= last && float64(last-high) <= 3*float64(last-first)/float64(len(values))
}

// mayFit reports whether half of the first values of a field, or of their rows, are ids of a key, as far as the ids are
// at hand.
func (s *solver) mayFit(f *field, k *key) bool {
	const first = 30
	var values, rows inclusion // of misses
	for source, of := range f.values {
		all, whole := k.ids[source]
		if !whole || len(all) == 0 {
			continue
		}
		for _, id := range of[:min(first, len(of))] {
			n := f.rows[source][id]
			values.of, rows.of = values.of+1, rows.of+n
			if _, ok := slices.BinarySearch(all, id); !ok {
				values.hits, rows.hits = values.hits+1, rows.hits+n
			}
		}
	}
	return values.share() <= 0.5 || rows.share() <= 0.5
}

// fit looks the values of a field up among the ids of a key, in each source.
func (s *solver) fit(ctx context.Context, f *field, k *key) fit {
	var t fit
	sources, reach, middle := 0, 0.0, 0.0
	t.ends = true
	for _, source := range s.names {
		values := f.values[source]
		if len(values) == 0 || !k.table.In(source) || !k.column.In(source) {
			t.ends = false
			continue
		}
		all, whole := k.ids[source]
		t.ends = t.ends && whole && end(values, all)
		if !whole {
			found := s.lookUp(ctx, ids{source: values}, k.table, k.column)
			t.found.hits, t.found.of = t.found.hits+found.hits, t.found.of+found.of
			t.known, reach, middle, sources = true, reach+1, middle+0.5, sources+1
			continue
		}
		if len(all) == 0 {
			continue
		}
		t.found.of += len(values)
		t.known = true
		var ranks []int
		for _, id := range values {
			at, ok := slices.BinarySearch(all, id)
			t.rows.of += f.rows[source][id]
			if ok {
				ranks = append(ranks, at)
				t.rows.hits += f.rows[source][id]
			}
		}
		hits := len(ranks)
		t.found.hits += hits
		if slices.Sort(ranks); hits > 0 {
			middle += float64(ranks[hits/2]+1) / float64(len(all))
		}
		low, high := slices.Min(values), slices.Max(values)
		from, _ := slices.BinarySearch(all, low)
		to, _ := slices.BinarySearch(all, high+1)
		share := float64(to-from) / float64(high-low+1)
		// The likelihood of references with few orphans, against the likelihood of numbers that know nothing of the
		// ids.
		share = min(0.97, max(share, 1e-6))
		t.info += float64(hits)*math.Log(0.97/share) + float64(len(values)-hits)*math.Log(0.03/(1-share))
		if least, most := all[0], all[len(all)-1]; most > least {
			reach += max(0, min(1, float64(high-least)/float64(most-least)))
			t.start = max(t.start, least)
		} else {
			reach++
		}
		sources++
	}
	if sources > 0 {
		t.reach, t.middle = reach/float64(sources), middle/float64(sources)
	}
	return t
}
