package clash

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// Existing returns which of some tuples are the values that a row has in columns of a table: a row of a source that
// is copied, or of the target, which has no name. The database compares, by the collations of its columns.
func (c *Finder) Existing(ctx context.Context, t *plan.Table, columns []*plan.Column, place string, tuples map[int][]any) (map[int]bool, error) {
	k := &contest{table: t, unique: &plan.Unique{}, columns: columns, settled: true}
	for _, column := range columns {
		k.unique.Columns = append(k.unique.Columns, column.Name)
	}
	hits, err := (&round{Finder: c, contest: k}).find(ctx, place, tuples)
	found := map[int]bool{}
	for i := range hits {
		found[i] = true
	}
	return found, err
}

// SameKey returns what tells the rows of a source apart that are in the target, or would be, under some keys of a table
// there, in their order.
func (c *Finder) SameKey(ctx context.Context, t *plan.Table, source string, keys map[int][]any) (map[int][][]any, error) {
	k := &contest{table: t, unique: &plan.Unique{Columns: t.RowKey()}, columns: chunk.ColumnsOf(t, t.RowKey())}
	tuples := map[int][]any{}
	for i, key := range keys {
		tuples[i] = slices.Clone(key)
		for n, column := range k.columns {
			if id, ok := sqlvalue.ID(key[n]); ok && column.Role == plan.RoleReference && !slices.Contains(column.None, sqlvalue.Text(key[n])) {
				tuples[i][n] = identity{c.plan.Table(column.Refers[0].Table), Ident{Key: id}}
			}
		}
	}
	hits, err := (&round{Finder: c, contest: k}).every(ctx, source, tuples)
	found := map[int][][]any{}
	for i, all := range hits {
		for _, h := range all {
			found[i] = append(found[i], h.key)
		}
	}
	return found, err
}
