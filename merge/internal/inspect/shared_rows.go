package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// sameShare is the share of sampled rows that another source must have too for a table to be proposed as a dictionary.
const sameShare = 0.8

// A likeness is how much the rows of a table are the same in all sources, under the same ids.
type likeness struct {
	sampled, same int
	others        int             // rows that are the same but for what they refer to
	told          int             // of the same: rows that have a text
	different     map[string]bool // of the same: all but their ids
}

// dictionaries looks for tables whose rows are the same in all sources, under the same ids. Rows that refer to rows
// with new ids are not the same, even under equal ids.
func (f *clashFinder) dictionaries(ctx context.Context) {
	alike := map[*plan.Table]*likeness{}
	for _, t := range f.plan.Tables {
		if t.Key() == nil {
			continue
		}
		switch l := f.likeness(ctx, t, []string{t.Key().Name}); {
		case l.sampled == 0:
		case float64(l.same) >= sameShare*float64(l.sampled):
			alike[t] = l
		case float64(l.others) >= sameShare*float64(l.sampled):
			addSuspect(t.Key(), "%d of %d sampled rows are the same in two sources, under the same ids, but for the rows that they refer to. Is the table the same on both? All rows are copied, with new ids; to keep such rows once, put the table into keep_ids and choose match for its key",
				l.others, l.sampled)
		}
	}
	isDictionary := func(t *plan.Table) bool { l := alike[t]; return l != nil && (l.told == l.same || l.vary()) }
	dictionaries := map[*plan.Table]bool{}
	for t := range alike {
		dictionaries[t] = isDictionary(t)
	}
	for again := true; again; {
		again = false
		for t, is := range dictionaries {
			if is && f.newlyRefers(t, func(parent *plan.Table) bool { return !dictionaries[parent] }) != "" {
				dictionaries[t], again = false, true
			}
		}
	}
	for _, t := range f.plan.Tables {
		l := alike[t]
		if l == nil {
			continue
		}
		key := t.Key()
		if !dictionaries[t] {
			if refers := f.newlyRefers(t, func(parent *plan.Table) bool { return !dictionaries[parent] }); refers == "" || isDictionary(t) {
				addSuspect(key, "%d of %d sampled rows are the same in two sources, under the same ids. Is the table the same on both? %sAll rows are copied, with new ids; to keep such rows once, put the table into keep_ids and choose match for its key",
					l.same, l.sampled, wherever(refers))
			}
			continue
		}
		t.NewIDs = nil
		at := slices.IndexFunc(t.Unique, func(u *plan.Unique) bool { return slices.Equal(u.Columns, []string{key.Name}) })
		if at < 0 { // of a key beside another primary key it is there
			at, t.Unique = 0, slices.Insert(t.Unique, 0, &plan.Unique{Columns: []string{key.Name}})
		}
		u := t.Unique[at]
		u.Rule = plan.RuleMatch
		u.Suspects = append(u.Suspects, fmt.Sprintf(
			"a dictionary? %d of %d sampled rows are the same in two sources, under the same ids: so they keep their ids, and equal rows become one; the answer both copies all rows, with new ids", l.same, l.sampled))
	}
}

// wherever names a column that refers to rows with new ids.
func wherever(column string) string {
	if column == "" {
		return ""
	}
	return "Its " + column + " refers to rows with new ids. "
}

// vary reports whether rows without a text differ enough that it is no accident, such as of defaults, if they are the
// same in two sources.
func (l *likeness) vary() bool { return len(l.different) >= 3 && 2*len(l.different) >= l.same }

// likeness compares the sampled rows that have equal values in some columns.
func (f *clashFinder) likeness(ctx context.Context, t *plan.Table, by []string) *likeness {
	l := &likeness{different: map[string]bool{}}
	l.sampled = f.pairs(ctx, t, by, func(of *sample, one, other []any) {
		told, some, equal, others := false, false, true, true // by more than its id
		var rest []any
		for n, c := range of.columns {
			if !slices.Contains(by, c.Name) {
				some = some || one[n] != nil
				told = told || one[n] != nil && sqltype.Of(f.dialect, c.Type).Kind == sqltype.Text
				rest = append(rest, one[n])
			}
			same := sqlvalue.Text(one[n]) == sqlvalue.Text(other[n])
			equal, others = equal && same, others && (same || t.Column(c.Name).HoldsReferences())
		}
		if some && told && others {
			l.others++
		}
		if !some || !equal {
			return
		}
		if l.same++; told {
			l.told++
		}
		l.different[textOf(rest)] = true
	})
	return l
}

// textOf returns the same text for the same values.
func textOf(values []any) string {
	var b strings.Builder
	for _, v := range values {
		if v == nil {
			b.WriteString("NULL,")
		} else {
			fmt.Fprintf(&b, "%q,", sqlvalue.Text(v))
		}
	}
	return b.String()
}

// newlyRefers returns a column of a table that refers to rows of another table with new ids, or "". It asks only about
// tables for which want is true.
func (f *clashFinder) newlyRefers(t *plan.Table, want func(*plan.Table) bool) string {
	for _, c := range t.Columns {
		if !c.HoldsReferences() || !f.has(t, c) {
			continue
		}
		for _, r := range c.Refers {
			if parent := f.plan.Table(r.Table); parent != nil && parent != t && len(parent.NewIDs) > 0 && want(parent) {
				return c.Name
			}
		}
	}
	return ""
}

// twins asks about tables without a key of their own whose rows are the same in all sources, though they can't clash:
// they refer to rows with new ids, as the texts of a dictionary do to languages.
func (f *clashFinder) twins(ctx context.Context) {
	for _, t := range f.plan.Tables {
		refers := f.newlyRefers(t, func(*plan.Table) bool { return true })
		if t.Key() != nil || len(t.PrimaryKey) == 0 || refers == "" || !f.apart(t, &plan.Unique{Columns: t.PrimaryKey}) {
			continue
		}
		l := f.likeness(ctx, t, t.PrimaryKey)
		if varied := l.vary() || l.told == l.same && len(l.different) > 1; varied && float64(l.same) >= sameShare*float64(l.sampled) {
			at := slices.IndexFunc(t.Unique, func(u *plan.Unique) bool { return slices.Equal(u.Columns, t.PrimaryKey) })
			if at < 0 {
				continue
			}
			t.Unique[at].Suspects = append(t.Unique[at].Suspects, fmt.Sprintf("%d of %d sampled rows are the same in two sources. Is the table the same on both? %sSo such rows are there twice, unless rows of that table become one, too",
				l.same, l.sampled, wherever(refers)))
		}
	}
}

// has reports whether a sampled row has a value in a column that does not stand for no row.
func (f *clashFinder) has(t *plan.Table, c *plan.Column) bool {
	for _, values := range f.values(t, c.Name) {
		if slices.ContainsFunc(values, func(v any) bool {
			text := sqlvalue.Text(v)
			return text != "" && text != "0" && !slices.Contains(c.None, text)
		}) {
			return true
		}
	}
	return false
}

// copies looks for tables without a key whose rows are the same in all sources. Where that is certain, the rows of the
// first one are kept: the others would double them.
func (f *clashFinder) copies() {
	for _, t := range f.plan.Tables {
		sources := f.plan.SourcesOf(t)
		if len(t.RowKey()) > 0 || len(sources) < 2 || len(t.Columns) == 0 {
			continue
		}
		refers := f.newlyRefers(t, func(*plan.Table) bool { return true })
		first := f.samples[tableOf{sources[0], t.Name}]
		counts, total, rests := map[string]int{}, 0, map[string]bool{}
		for _, row := range first.rows {
			counts[textOf(row)]++
			var rest []any
			for n, c := range first.columns {
				if !t.Column(c.Name).HoldsReferences() {
					rest = append(rest, row[n])
				}
			}
			rests[textOf(rest)] = true
		}
		if refers != "" && len(rests) < 3 { // equal numbers of rows with new ids are an accident
			continue
		}
		says := t.Columns[max(0, slices.IndexFunc(t.Columns, func(c *plan.Column) bool { return !c.HoldsReferences() }))] // others are asked whose ids they are
		whole, same := first.whole, 0
		for _, source := range sources[1:] {
			other, left := f.samples[tableOf{source, t.Name}], maps.Clone(counts)
			if !slices.EqualFunc(first.columns, other.columns, func(a, b *plan.Column) bool { return a.Name == b.Name }) {
				whole = false
				continue
			}
			whole, total = whole && other.whole && len(other.rows) == len(first.rows), total+len(other.rows)
			for _, row := range other.rows {
				if text := textOf(row); left[text] > 0 {
					left[text]--
					same++
				}
			}
		}
		switch {
		case total == 0 || float64(same) < sameShare*float64(total):
		case whole && same == total && refers == "":
			t.WithoutRows = append(t.WithoutRows, &plan.Condition{Where: "1 = 1", Sources: sources[1:]})
			addSuspect(says, "the table has no key, and all %d rows are the same in source %q: is the table the same on both? They are kept once: without_rows leaves out the rows of %s; to copy both, take it out",
				len(first.rows), sources[0], strings.Join(sources[1:], ", "))
		default:
			addSuspect(says, "the table has no key, and %d of %d sampled rows are the same in source %q: is the table the same on both? %sAll rows are copied, so such rows are there twice; to keep those of %q only, give the table without_rows with 1 = 1 for the other sources",
				same, total, sources[0], wherever(refers), sources[0])
		}
	}
}

// pairs looks for the sampled rows of each source in the sources before it, by columns, and returns how many it looked
// for. It calls do with the values of both rows, in the columns that both sources have, for each row that it finds.
func (f *clashFinder) pairs(ctx context.Context, t *plan.Table, by []string, do func(of *sample, one, other []any)) (sampled int) {
	sources := f.plan.SourcesOf(t)
	for n, source := range sources {
		mine := f.samples[tableOf{source, t.Name}]
		for _, earlier := range sources[:n] {
			shared, names := &sample{}, []string(nil)
			for _, c := range mine.columns {
				if f.samples[tableOf{earlier, t.Name}].index(c.Name) >= 0 {
					shared.columns, names = append(shared.columns, c), append(names, c.Name)
				}
			}
			if f.err != nil || slices.ContainsFunc(by, func(name string) bool { return !slices.Contains(names, name) }) {
				continue
			}
			theirs := f.catalogs[earlier].Table(t.Name)
			rows := map[string][]any{}
			var keys [][]any
			for _, row := range mine.rows {
				key := mine.pick(by, row)
				if text := sqlvalue.FormatKey(key); f.comparable(theirs.Table, by, key) && rows[text] == nil {
					rows[text] = mine.pick(names, row)
					keys = append(keys, key)
				}
			}
			sampled += len(keys)
			found, err := f.rows[earlier].Find(ctx, t.Name, shared.columns, by, keys)
			f.fail(earlier, t.Name, err)
			for _, other := range found {
				one := rows[sqlvalue.FormatKey(shared.pick(by, other))]
				if one == nil { // the database takes keys for equal that are not
					one = make([]any, len(names))
				}
				do(shared, one, other)
			}
		}
	}
	return sampled
}

// comparable reports whether the columns of a table can be compared with values of another table, whose types may
// be wider.
func (f *clashFinder) comparable(t *plan.Table, by []string, key []any) bool {
	for n, v := range key {
		s := sqltype.Of(f.dialect, t.Column(by[n]).Type)
		width := s.Bits
		if !s.Unsigned {
			width--
		}
		id, ok := v.(int64)
		if v == nil || ok && s.Kind == sqltype.Integer && width < 63 && (id >= 1<<width || id < -1<<width) {
			return false
		}
	}
	return true
}

// clashes looks at the unique keys whose rows may clash between sources, and proposes a rule for the ones where
// they do.
func (f *clashFinder) clashes(ctx context.Context) {
	for _, t := range f.plan.Tables {
		primary := func(u *plan.Unique) bool { return slices.Equal(u.Columns, t.PrimaryKey) }
		key := t.Key()
		isNew := key != nil && slices.Contains(t.PrimaryKey, key.Name) && len(t.NewIDs) == len(f.plan.SourcesOf(t)) && len(key.Suspects) == 0
		if len(t.PrimaryKey) > 0 && !isNew && !slices.ContainsFunc(t.Unique, primary) {
			t.Unique = slices.Insert(t.Unique, 0, &plan.Unique{Columns: slices.Clone(t.PrimaryKey), Rule: plan.RuleFail})
		}
	}
	// Dictionaries with a natural key come first: references to them do not tell rows apart.
	for _, dictionary := range []bool{true, false} {
		for _, t := range f.plan.Tables {
			for _, u := range t.Unique {
				ofKey := t.Key() != nil && slices.Equal(u.Columns, t.RowKey())
				if u.Rule != plan.RuleFail || f.apart(t, u) || ofKey && len(t.NewIDs) > 0 {
					continue
				}
				f.clash(ctx, t, u, dictionary)
			}
		}
	}
}

// apart reports whether rows of two sources can't clash in a unique key, because it has a new id or a reference to
// rows that get new ids.
func (f *clashFinder) apart(t *plan.Table, u *plan.Unique) bool {
	return slices.ContainsFunc(u.Columns, func(name string) bool {
		c := t.Column(name)
		if c.Role == plan.RoleKey && len(t.NewIDs) == len(f.plan.SourcesOf(t)) {
			return true
		}
		if c.Role != plan.RoleReference || len(c.Refers) != 1 || len(c.None) > 0 { // no row is the same in all of them
			return false
		}
		parent := f.plan.Table(c.Refers[0].Table)
		return len(parent.NewIDs) == len(f.plan.SourcesOf(parent)) && !parent.Merges(f.plan.Sources)
	})
}

func (f *clashFinder) clash(ctx context.Context, t *plan.Table, u *plan.Unique, dictionary bool) {
	tree := slices.ContainsFunc(u.Columns, func(name string) bool {
		c := t.Column(name)
		return c.Role == plan.RoleReference && len(c.Refers) == 1 && c.Refers[0].Table == t.Name
	})
	if tree && t.Merges(f.plan.Sources) { // by another key, so that equal rows of the tree become one
		return
	}
	found, same, more := 0, 0, false // more is whether they have other columns
	is := slices.Clone(u.Columns)
	if key := t.Key(); key != nil {
		is = append(is, key.Name)
	}
	var examples []string
	sampled := f.pairs(ctx, t, u.Columns, func(of *sample, one, other []any) {
		if found++; found <= 2 {
			var values []string
			for _, v := range of.pick(u.Columns, other) {
				values = append(values, strconv.Quote(sqlvalue.Text(v)))
			}
			examples = append(examples, "("+strings.Join(values, ", ")+")")
		}
		equal := true
		for n, c := range of.columns {
			if !slices.Contains(is, c.Name) {
				more = more || one[n] != nil
				equal = equal && sqlvalue.Text(one[n]) == sqlvalue.Text(other[n])
			}
		}
		if equal {
			same++
		}
	})
	if found == 0 {
		return
	}
	text := t.RenameColumn(u, f.dialect)
	often := float64(found) >= sameShare*float64(sampled)
	equal := more && float64(same) >= sameShare*float64(found)
	natural := t.Key() != nil && text != nil && often && !tree // which rows of a tree are equal depends on itself
	refers := f.newlyRefers(t, func(*plan.Table) bool { return true })
	evidence := fmt.Sprintf("%d of %d sampled values are in two sources, such as %s", found, sampled, strings.Join(examples, ", "))
	switch {
	case natural && refers == "":
		u.Rule = plan.RuleMatch
		u.Suspects = append(u.Suspects, "a dictionary? "+evidence+": so rows with equal values become one")
	case t.Key() == nil && refers == "" && (equal && often || equal && text != nil):
		if !dictionary {
			u.Rule = plan.RuleMatch
			u.Suspects = append(u.Suspects, fmt.Sprintf("the same on both? %s, and %d of those rows are equal: so equal rows are kept once", evidence, same))
		}
	case !dictionary:
		u.Suspects = append(u.Suspects, "clashes: "+evidence)
		f.rename(ctx, t, u, text, float64(found)/float64(max(1, sampled)), refers)
	}
}
