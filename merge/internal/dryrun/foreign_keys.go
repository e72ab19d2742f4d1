package dryrun

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/preflight"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// foreignKeys returns the keys that the target checks, and that rows of the source may not satisfy although their
// references are right. A column that the source does not have is NULL.
func foreignKeys(f *tableForecast) (all []*preflight.ForeignKey) {
	t := f.of.Table
	target := f.before.Target.TableLike(t.Name)
	if target == nil || f.Unchecked {
		return nil
	}
	for _, found := range target.ForeignKeys {
		k := f.before.ForeignKey(t, found)
		if k == nil || f.before.Target.TableLike(k.Parent.Name) == nil || slices.ContainsFunc(k.Columns, func(c *plan.Column) bool { return f.of.Position(c.Name) < 0 }) {
			continue
		}
		if c := k.Columns[0]; len(k.Columns) > 1 || t.IDsOf(c.Name) == "" || len(c.None) > 0 {
			all = append(all, k)
		}
	}
	return all
}

// foreign looks for rows whose values in a foreign key will match no row of the target.
func foreign(ctx context.Context, f *tableForecast, rows []rekey.Row, verdicts []clash.Verdict) error {
	for _, k := range f.keys {
		tuples, same := map[int][]any{}, map[string][]int{}
		for i := range rows {
			of := tuple(f, k, &rows[i], verdicts[i].Renames)
			if of == nil {
				continue
			}
			text := sqlvalue.FormatKey(of)
			if same[text] = append(same[text], i); len(same[text]) == 1 {
				tuples[i] = of
			}
		}
		for _, database := range append([]string{f.of.Source, ""}, f.Plan.SourcesOf(k.Parent)...) {
			asked := maps.Clone(tuples)
			maps.DeleteFunc(asked, func(_ int, tuple []any) bool { return !meets(f, k, tuple, database) })
			found, err := f.conflicts.Existing(ctx, k.Parent, k.Refers, database, asked)
			if err != nil {
				return err
			}
			maps.DeleteFunc(tuples, func(i int, _ []any) bool { return found[i] })
		}
		for _, i := range slices.Sorted(maps.Keys(tuples)) {
			for _, row := range same[sqlvalue.FormatKey(tuples[i])] {
				f.unfit[row] = true
				f.misfit(&rows[row], k.Columns[0].Name, fmt.Sprintf("the target has a foreign key to table %q, of which no row has %s", k.Parent.Name, sqlvalue.FormatKey(tuples[i])))
			}
		}
	}
	return nil
}

// tuple returns the values of a row in a foreign key, with old ids. It returns nil if the target will not look at
// them, or if they are references that were looked at already.
func tuple(f *tableForecast, k *preflight.ForeignKey, row *rekey.Row, renames []clash.Rename) (all []any) {
	if row.New == nil {
		return nil
	}
	for _, c := range k.Columns {
		at := f.of.Position(c.Name)
		v := row.Old[at]
		for _, r := range renames {
			if r.Column == c {
				v = r.After
			}
		}
		text := sqlvalue.Text(v)
		id := f.of.Table.IDsOf(c.Name) != "" && !slices.Contains(c.None, text)
		lacks := slices.ContainsFunc(row.Lacks, func(l rekey.Lack) bool { return l.Column == c })
		if v == nil || lacks || id && len(k.Columns) == 1 {
			return nil
		}
		all = append(all, v)
	}
	return all
}

// meets reports whether the row of a source with a tuple, or of the target, which has no name, is the one that
// the foreign key of the row leads to: old ids belong to the row's own source, and what stands for no row stays
// as it is.
func meets(f *tableForecast, k *preflight.ForeignKey, tuple []any, database string) bool {
	if database != "" && (k.Parent.Skip || !k.Parent.In(database)) {
		return false
	}
	for i, v := range tuple {
		r := k.Refers[i]
		if database != "" && !r.In(database) {
			return false
		}
		same := stays(f.Plan, f.of.Table, k.Columns[i], v, f.of.Source)
		there := database == "" || stays(f.Plan, k.Parent, r, v, database)
		if same != there || !same && database != f.of.Source {
			return false
		}
	}
	return true
}

// stays reports whether a value of a source is the same in the target, being no new id.
func stays(p *plan.Plan, t *plan.Table, c *plan.Column, v any, source string) bool {
	of := p.Table(t.IDsOf(c.Name))
	return of == nil || !of.Rekeys(source) || slices.Contains(c.None, sqlvalue.Text(v))
}
