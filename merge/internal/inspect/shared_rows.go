package inspect

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// sameShare is the share of sampled rows that another source must have too for a table to be proposed as a dictionary.
const sameShare = 0.8

// dictionaries looks for tables whose rows are the same in all sources, under the same ids.
func (f *clashFinder) dictionaries(ctx context.Context) {
	for _, t := range f.plan.Tables {
		key := t.Key()
		if key == nil {
			continue
		}
		same := 0
		sampled := f.pairs(ctx, t, []string{key.Name}, func(of *sample, one, other []any) {
			told, equal := false, true // by more than its id
			for n, c := range of.columns {
				told = told || c.Name != key.Name && one[n] != nil && sqltype.Of(f.dialect, c.Type).Kind == sqltype.Text
				equal = equal && sqlvalue.Text(one[n]) == sqlvalue.Text(other[n])
			}
			if told && equal {
				same++
			}
		})
		if sampled > 0 && float64(same) >= sameShare*float64(sampled) {
			t.NewIDs = nil
			u := &plan.Unique{Columns: []string{key.Name}, Rule: plan.RuleMatch}
			u.Suspects = append(u.Suspects, fmt.Sprintf(
				"a dictionary? %d of %d sampled rows are the same in two sources, under the same ids: so they keep their ids, and equal rows become one", same, sampled))
			t.Unique = slices.Insert(t.Unique, 0, u)
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
	found := 0
	var examples []string
	sampled := f.pairs(ctx, t, u.Columns, func(of *sample, _, other []any) {
		if found++; found <= 2 {
			var values []string
			for _, v := range of.pick(u.Columns, other) {
				values = append(values, strconv.Quote(sqlvalue.Text(v)))
			}
			examples = append(examples, "("+strings.Join(values, ", ")+")")
		}
	})
	if found == 0 {
		return
	}
	text := t.RenameColumn(u, f.dialect)
	natural := t.Key() != nil && text != nil && float64(found) >= sameShare*float64(sampled)
	evidence := fmt.Sprintf("%d of %d sampled values are in two sources, such as %s", found, sampled, strings.Join(examples, ", "))
	switch {
	case natural:
		u.Rule = plan.RuleMatch
		u.Suspects = append(u.Suspects, "a dictionary? "+evidence+": so rows with equal values become one")
	case !dictionary:
		u.Suspects = append(u.Suspects, "clashes: "+evidence)
		if text == nil {
			return
		}
		if tied := f.plan.Tied(t, text.Name); len(tied) > 0 {
			u.Suspects = append(u.Suspects, fmt.Sprintf("no suffix: foreign keys tie %s to %s", list(tied, 3), text.Name))
			return
		}
		u.Rule = plan.RuleSuffix
		if names := f.followers(ctx, t, text); len(names) > 0 {
			u.Suspects = append(u.Suspects, fmt.Sprintf("%s of the same values would not follow a new %s", list(names, 3), text.Name))
		}
	}
}
