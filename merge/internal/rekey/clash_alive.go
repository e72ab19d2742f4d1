package rekey

import (
	"context"
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// alive takes out of hits the rows of a source that are not copied because of
// what they refer to. Of a source whose rows come later a run does not know yet which those are.
func (r *round) alive(ctx context.Context, place string, hits map[int]hit) error {
	if place == inTarget || !slices.Contains(r.ahead, place) || len(hits) == 0 || !slices.ContainsFunc(r.table.Columns, (*plan.Column).DropsRows) {
		return nil
	}
	if r.table.Key() == nil {
		var rows []string
		for _, h := range hits {
			rows = append(rows, sqlvalue.FormatRow(h.key))
		}
		dropped, err := r.ids.dropped(ctx, place, r.table, rows)
		maps.DeleteFunc(hits, func(_ int, h hit) bool { return dropped[sqlvalue.FormatRow(h.key)] })
		return err
	}
	var keys []int64
	for _, h := range hits {
		if id, ok := sqlvalue.ID(h.key[0]); ok {
			keys = append(keys, id)
		}
	}
	there, err := r.ids.identify(ctx, place, r.table, keys)
	if err != nil {
		return err
	}
	maps.DeleteFunc(hits, func(_ int, h hit) bool {
		id, ok := sqlvalue.ID(h.key[0])
		_, alive := there[id]
		return ok && !alive
	})
	return nil
}
