package rekey

import (
	"context"
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/plan"
)

// joined looks for rows of the source itself that come to be equal, for the rows
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

// None reports whether no row of a source can clash, whatever its values: there
// are no rows that come first.
func (c *Conflicts) None(ctx context.Context, t *plan.Table, source string) (bool, error) {
	for _, k := range c.contests(t, source) {
		if len(k.ahead) > 1 || slices.ContainsFunc(k.columns, (*plan.Column).HoldsReferences) {
			return false, nil
		}
		r := &round{Conflicts: c, contest: k}
		if empty, err := r.isEmpty(ctx); err != nil || !empty {
			return false, err
		}
	}
	return true, nil
}
