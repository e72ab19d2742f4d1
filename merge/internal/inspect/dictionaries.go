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

// sameShare is the share of sampled rows that another source must have too,
// for a table to be proposed as a dictionary.
const sameShare = 0.8

// A clashFinder looks for rows that are equal in two sources.
type clashFinder struct{ *evidence }

// dictionaries looks for tables whose rows are the same things in all sources,
// under the same ids.
func (f *clashFinder) dictionaries(ctx context.Context) error {
	for _, t := range f.plan.Tables {
		key := t.Key()
		if key == nil {
			continue
		}
		shared, same, sampled := 0, 0, 0
		err := f.pairs(ctx, t, []string{key.Name}, func(of []*plan.Column, one, other []any) {
			if one == nil {
				sampled++
				return
			}
			shared++
			told := false // by more than its id
			equal := true
			for n, c := range of {
				told = told || c.Name != key.Name && one[n] != nil && sqltype.Of(f.dialect, c.Type).Kind == sqltype.Text
				equal = equal && sqlvalue.Text(one[n]) == sqlvalue.Text(other[n])
			}
			if told && equal {
				same++
			}
		})
		if err != nil {
			return err
		}
		if sampled > 0 && float64(same) >= sameShare*float64(sampled) {
			t.NewIDs = nil
			u := &plan.Unique{Columns: []string{key.Name}, Rule: plan.RuleMatch}
			u.Suspects = append(u.Suspects, fmt.Sprintf(
				"a dictionary? %d of %d sampled rows are the same in two sources, under the same ids: so they keep them, and are one row each", same, sampled))
			t.Unique = slices.Insert(t.Unique, 0, u)
		}
	}
	return nil
}

// pairs looks for the sampled rows of each source in the sources before it, by
// columns. It calls do with nil for each row that it looks for, and with the values of
// both rows, in the columns that both sources have, for each row that it finds.
func (f *clashFinder) pairs(ctx context.Context, t *plan.Table, by []string, do func(of []*plan.Column, one, other []any)) error {
	sources := f.plan.SourcesOf(t)
	for n, source := range sources {
		mine := f.samples[tableOf{source, t.Name}]
		for _, earlier := range sources[:n] {
			of := slices.DeleteFunc(slices.Clone(mine.columns), func(c *plan.Column) bool {
				return !slices.ContainsFunc(f.samples[tableOf{earlier, t.Name}].columns, func(other *plan.Column) bool { return other.Name == c.Name })
			})
			places := make([]int, len(by)) // of the key in mine, and in of
			shared := make([]int, len(by))
			for k, name := range by {
				places[k] = slices.IndexFunc(mine.columns, func(c *plan.Column) bool { return c.Name == name })
				shared[k] = slices.IndexFunc(of, func(c *plan.Column) bool { return c.Name == name })
			}
			if slices.Contains(places, -1) || slices.Contains(shared, -1) {
				continue
			}
			theirs := f.catalogs[earlier].Table(t.Name)
			rows := map[string][]any{}
			var keys [][]any
			for _, row := range mine.rows {
				key := make([]any, len(by))
				for k, at := range places {
					key[k] = row[at]
				}
				if text := sqlvalue.FormatKey(key); f.comparable(theirs.Table, by, key) && rows[text] == nil {
					rows[text] = row
					keys = append(keys, key)
					do(nil, nil, nil)
				}
			}
			found, err := f.rows[earlier].Find(ctx, t.Name, of, by, keys)
			if err != nil {
				return fmt.Errorf("source %q: table %q: %w", earlier, t.Name, err)
			}
			for _, other := range found {
				key := make([]any, len(by))
				for k, at := range shared {
					key[k] = other[at]
				}
				one := make([]any, len(of))
				if row := rows[sqlvalue.FormatKey(key)]; row != nil {
					for n, c := range of {
						one[n] = row[slices.IndexFunc(mine.columns, func(m *plan.Column) bool { return m.Name == c.Name })]
					}
				}
				do(of, one, other)
			}
		}
	}
	return nil
}

// comparable reports whether the columns of a table can be compared with values of
// another one, whose types may be wider.
func (f *clashFinder) comparable(t *plan.Table, by []string, key []any) bool {
	for n, v := range key {
		s := sqltype.Of(f.dialect, t.Column(by[n]).Type)
		if v == nil {
			return false
		}
		width := s.Bits - 1
		if s.Unsigned {
			width = s.Bits
		}
		if id, ok := v.(int64); ok && s.Kind == sqltype.Integer && width < 63 && (id >= 1<<width || id < -1<<width) {
			return false
		}
	}
	return true
}

// clashes looks at the unique keys in which rows of two sources may clash, and
// proposes a rule for those in which rows do.
func (f *clashFinder) clashes(ctx context.Context) error {
	for _, t := range f.plan.Tables {
		primary := func(u *plan.Unique) bool { return slices.Equal(u.Columns, t.PrimaryKey) }
		key := t.Key()
		minted := key != nil && len(t.NewIDs) == len(f.plan.SourcesOf(t)) && len(key.Suspects) == 0
		if len(t.PrimaryKey) > 0 && !minted && !slices.ContainsFunc(t.Unique, primary) {
			t.Unique = slices.Insert(t.Unique, 0, &plan.Unique{Columns: slices.Clone(t.PrimaryKey), Rule: plan.RuleFail})
		}
	}
	// Dictionaries with a natural key come first: references to them do not tell rows apart.
	for _, dictionary := range []bool{true, false} {
		for _, t := range f.plan.Tables {
			for _, u := range t.Unique {
				ofKey := t.Key() != nil && slices.Equal(u.Columns, t.PrimaryKey)
				if u.Rule != plan.RuleFail || f.apart(t, u) || ofKey && len(t.NewIDs) > 0 {
					continue
				}
				if err := f.clash(ctx, t, u, dictionary); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// apart reports whether rows of two sources can't clash in a unique
// key, because it has a new id, or a reference to rows that get new ids.
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
		return len(parent.NewIDs) == len(f.plan.SourcesOf(parent)) && !parent.Merges()
	})
}

func (f *clashFinder) clash(ctx context.Context, t *plan.Table, u *plan.Unique, dictionary bool) error {
	sampled, found := 0, 0
	var examples []string
	err := f.pairs(ctx, t, u.Columns, func(of []*plan.Column, _, other []any) {
		if other == nil {
			sampled++
			return
		}
		found++
		if len(examples) < 3 {
			var values []string
			for _, name := range u.Columns {
				values = append(values, strconv.Quote(sqlvalue.Text(other[slices.IndexFunc(of, func(c *plan.Column) bool { return c.Name == name })])))
			}
			examples = append(examples, "("+strings.Join(values, ", ")+")")
		}
	})
	if err != nil || found == 0 {
		return err
	}
	natural := t.Key() != nil && t.RenameColumn(u, f.dialect) != nil && float64(found) >= sameShare*float64(sampled)
	evidence := fmt.Sprintf("%d of %d sampled values are in two sources, such as %s", found, sampled, strings.Join(examples, ", "))
	switch {
	case natural:
		u.Rule = plan.RuleMatch
		u.Suspects = append(u.Suspects, "a dictionary? "+evidence+": so rows with equal values become one")
	case dictionary:
	case t.RenameColumn(u, f.dialect) != nil:
		u.Rule = plan.RuleSuffix
		u.Suspects = append(u.Suspects, "clashes: "+evidence)
	default:
		u.Suspects = append(u.Suspects, "clashes: "+evidence)
	}
	return nil
}
