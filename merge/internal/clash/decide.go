package clash

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Decide returns a verdict on each row of a source. The rows have values for columns, including the ones that
// [Finder.Needs] returns. It writes nothing.
func (c *Finder) Decide(ctx context.Context, t *plan.Table, source string, columns []*plan.Column, rows [][]any) ([]Verdict, error) {
	verdicts := make([]Verdict, len(rows))
	for _, k := range c.contests(t, source) {
		if none, err := c.none(ctx, k); err != nil {
			return nil, err
		} else if none {
			continue
		}
		r := &round{Finder: c, contest: k, source: source, columns: columns, rows: rows, verdicts: verdicts}
		if err := r.run(ctx); err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

// none reports whether no row can clash in a unique key, whatever its values: there are no rows that come first.
func (c *Finder) none(ctx context.Context, k *contest) (bool, error) {
	if len(k.ahead) > 1 || k.unique.Rule == plan.RuleRenumber || slices.ContainsFunc(k.columns, (*plan.Column).HoldsReferences) {
		return false, nil
	}
	return c.isEmpty(ctx, k.table)
}

func (r *round) run(ctx context.Context) error {
	tuples, err := r.tuples(ctx)
	if err != nil {
		return err
	}
	if r.unique.Rule == plan.RuleRenumber {
		return r.renumber(ctx, tuples)
	}
	var renamed []int
	pending := maps.Clone(tuples)
	for n, place := range r.ahead {
		hits, err := r.find(ctx, place, pending)
		if err != nil {
			return err
		}
		if err := r.contend(ctx, n, hits); err != nil {
			return err
		}
		for _, i := range slices.Sorted(maps.Keys(hits)) {
			delete(pending, i)
			v := &r.verdicts[i]
			v.Clashes = append(v.Clashes, r.clash(i, place))
			if r.unique.Rule == plan.RuleSuffix {
				renamed = append(renamed, i)
			} else if err := r.judge(ctx, i, place, hits[i]); err != nil {
				return err
			}
		}
	}
	if err := r.joined(ctx, pending, &renamed); err != nil {
		return err
	}
	slices.Sort(renamed)
	return r.rename(ctx, renamed, tuples)
}

// judge decides on row i, which clashes with a row that is ahead of it.
func (r *round) judge(ctx context.Context, i int, place string, with hit) error {
	v := &r.verdicts[i]
	clash := v.Clashes[len(v.Clashes)-1]
	if r.unique.Rule == plan.RuleFail || r.unique.Rule == "" {
		v.Failed = clash
		return nil
	}
	for n, column := range r.others {
		if !column.In(r.source) || !has(place, column) {
			continue
		}
		h := chunk.NewHasher([]*plan.Column{column}, r.blobs())
		if !h.Equal(0, r.value(i, column), with.others[n]) {
			clash.Column, v.Failed = column.Name, clash
			return nil
		}
	}
	v.Merged, v.WinnerKey, v.IntoTarget = true, with.key, place == inTarget && len(CombinedColumns(r.table)) > 0
	key := r.table.Key()
	if key == nil {
		v.Winner = Ident{source: place}
		return nil
	}
	id, ok := sqlvalue.ID(with.key[0])
	if !ok {
		return fmt.Errorf("table %q: %v is no id", r.table.Name, with.key[0])
	}
	if place == inTarget {
		v.Winner = Ident{Key: id}
		return nil
	}
	winners, err := r.ids.identify(ctx, place, r.table, []int64{id})
	if err != nil {
		return err
	}
	if v.Winner, ok = winners[id]; !ok {
		clash.Reason, v.Failed = "that row is not copied", clash
	} else if v.Winner.source == inTarget && len(CombinedColumns(r.table)) > 0 {
		v.IntoTarget, err = r.before(ctx, v.Winner.Key)
	}
	return err
}

// before reports whether the target has a row of an id already. Nothing is copied while clashes are looked for.
func (r *round) before(ctx context.Context, id int64) (bool, error) {
	if empty, err := r.isEmpty(ctx, r.table); err != nil || empty {
		return false, err
	}
	by := []*plan.Column{r.table.Key()}
	rows, err := chunk.ReadKeys(ctx, r.e, r.conns.Target, r.table.Name, by, by, [][]any{{chunk.FitValue(r.e, id, by[0])}})
	return len(rows) > 0, r.e.Failed("look for a row that others are merged into", err)
}

// joined looks for rows of the source itself that become equal, for the rows
// that they refer to were merged into one.
func (r *round) joined(ctx context.Context, tuples map[int][]any, renamed *[]int) error {
	tuples = maps.Clone(tuples)
	maps.DeleteFunc(tuples, func(_ int, tuple []any) bool {
		return !slices.ContainsFunc(tuple, func(v any) bool { _, refers := v.(identity); return refers })
	})
	hits, err := r.find(ctx, r.source, tuples)
	if err != nil {
		return err
	}
	for _, i := range slices.Sorted(maps.Keys(hits)) {
		v := &r.verdicts[i]
		if r.unites() {
			if with := hits[i]; CompareKeys(with.key, r.key(i)) < 0 {
				v.Clashes = append(v.Clashes, r.clash(i, r.source))
				v.Merged, v.Winner, v.WinnerKey = true, Ident{source: r.source}, with.key
			}
			continue
		}
		clash := r.clash(i, r.source)
		v.Clashes = append(v.Clashes, clash)
		if r.unique.Rule == plan.RuleSuffix {
			*renamed = append(*renamed, i)
			continue
		}
		clash.Reason, v.Failed = "the rows that both refer to become one", clash
	}
	return nil
}

// unites reports whether rows of one source that become equal become one row: their values are combined, and
// whether they are copied at all does not depend on more than their keys.
func (r *round) unites() bool {
	merges := r.unique.Rule == plan.RuleKeep || r.unique.Rule == plan.RuleMatch
	return merges && len(CombinedColumns(r.table)) > 0 && r.table.Key() == nil && !slices.ContainsFunc(r.table.Columns, func(c *plan.Column) bool {
		return c.HoldsReferences() && c.Orphans == plan.OrphansDrop || c.DropsRows() && !slices.Contains(r.unique.Columns, c.Name)
	})
}

func (r *round) clash(i int, place string) *report.ClashError {
	clash := &report.ClashError{Table: r.table.Name, Unique: r.unique.Columns, Source: r.source, With: place}
	for _, column := range r.contest.columns {
		clash.Values = append(clash.Values, sqlvalue.Text(r.value(i, column)))
	}
	clash.Row = sqlvalue.FormatKey(r.key(i))
	return clash
}
