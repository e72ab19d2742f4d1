package rekey

import (
	"context"

	"github.com/shardsnow/snow/merge/plan"
)

// Existing returns which of some tuples are the values that a row has in columns of a table: a row of a source that
// is copied, or of the target, which has no name. The database compares, by the collations of its columns.
func (c *Conflicts) Existing(ctx context.Context, t *plan.Table, columns []*plan.Column, place string, tuples map[int][]any) (map[int]bool, error) {
	k := &contest{table: t, unique: &plan.Unique{}, columns: columns, settled: true}
	for _, column := range columns {
		k.unique.Columns = append(k.unique.Columns, column.Name)
	}
	hits, err := (&round{Conflicts: c, contest: k}).find(ctx, place, tuples)
	found := map[int]bool{}
	for i := range hits {
		found[i] = true
	}
	return found, err
}
