package rekey

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// Existing returns which of some tuples are the values that a row has in columns of a table: a row of a source that is copied,
// or of the target, which has no name. The database compares, by the collations of its columns.
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

// alive returns for each row one of its hits that is not left out. Rows of a source that comes later may be left out for what they
// refer to, which is not known yet.
func (r *round) alive(ctx context.Context, place string, all map[int][]hit) (map[int]hit, error) {
	var gone map[string]bool
	if place != inTarget && len(all) > 0 && len(r.table.RowKey()) > 0 && r.table.LosesRows() {
		var keys [][]any
		for _, hits := range all {
			for _, h := range hits {
				keys = append(keys, h.key)
			}
		}
		var err error
		if gone, err = r.ids.dropped(ctx, place, r.table, keys, r.settled); err != nil {
			return nil, err
		}
	}
	alive := map[int]hit{}
	for i, hits := range all {
		for _, h := range hits {
			if len(gone) == 0 || !gone[sqlvalue.FormatRow(h.key)] {
				alive[i] = h
			}
		}
	}
	return alive, nil
}
