package merge

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/merge/plan"
)

// mapped are the identities of a run, by its ledger. Its idents are all keys of
// the target.
type mapped struct {
	e      *engine
	ledger queryer
	scope  func(source, table string) (scope int64, ok bool)
}

func (m *mapped) identify(ctx context.Context, source string, t *plan.Table, keys []int64) (map[int64]ident, error) {
	found := map[int64]ident{}
	if !t.Mints(source) {
		for _, key := range keys {
			found[key] = ident{key: key}
		}
	}
	err := m.each(ctx, source, t, "old_id", keys, func(old int64, id *int64) {
		if id == nil {
			delete(found, old)
		} else {
			found[old] = ident{key: *id}
		}
	})
	if scope, ok := m.scope(source, t.Name); err == nil && ok && t.Mints(source) {
		err = m.e.inPacks(ctx, m.ledger, scope, keys, func(old, id int64) { found[old] = ident{key: id} })
	}
	return found, err
}

func (m *mapped) members(ctx context.Context, source string, t *plan.Table, ids []ident) (map[ident][]int64, error) {
	keys := make([]int64, len(ids))
	for i, id := range ids {
		keys[i] = id.key
	}
	found := map[ident][]int64{}
	if !t.Mints(source) {
		same, err := m.identify(ctx, source, t, keys)
		if err != nil {
			return nil, err
		}
		for old, id := range same {
			if id.key == old {
				found[id] = []int64{old}
			}
		}
	}
	err := m.each(ctx, source, t, "new_id", keys, func(old int64, id *int64) {
		if id != nil {
			found[ident{key: *id}] = append(found[ident{key: *id}], old)
		}
	})
	return found, err
}

// each calls do for the rows of the map that have one of the values in a column.
func (m *mapped) each(ctx context.Context, source string, t *plan.Table, column string, values []int64, do func(old int64, id *int64)) error {
	scope, ok := m.scope(source, t.Name)
	if !ok || len(values) == 0 {
		return nil
	}
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	for part := range slices.Chunk(values, maxIn) {
		args := make([]any, 0, len(part)+1)
		args = append(args, scope)
		for _, v := range part {
			args = append(args, v)
		}
		text := "SELECT old_id, new_id FROM snow_merge_map WHERE scope = " + m.e.number(1) + " AND " + column + " IN " + m.e.places(2, len(part))
		if err := m.query(ctx, text, args, do); err != nil {
			return m.e.failed("read the map", err)
		}
	}
	return nil
}

func (m *mapped) query(ctx context.Context, text string, args []any, do func(old int64, id *int64)) error {
	rows, err := m.ledger.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var old int64
		var id *int64
		if err := rows.Scan(&old, &id); err != nil {
			return err
		}
		do(old, id)
	}
	return rows.Err()
}

// rowsOf is a table of a source.
type rowsOf struct{ source, table string }

// remembering are the identities of a dry run: a row is itself, unless it would
// be merged into another one.
type remembering struct {
	winners map[rowsOf]map[int64]ident
	losers  map[rowsOf]map[ident][]int64
	dropped map[rowsOf]map[int64]bool
}

func newRemembering() *remembering {
	return &remembering{winners: map[rowsOf]map[int64]ident{}, losers: map[rowsOf]map[ident][]int64{}, dropped: map[rowsOf]map[int64]bool{}}
}

func (r *remembering) drop(source string, t *plan.Table, id int64) {
	of := rowsOf{source, t.Name}
	if r.dropped[of] == nil {
		r.dropped[of] = map[int64]bool{}
	}
	r.dropped[of][id] = true
}

func (r *remembering) add(source string, t *plan.Table, id int64, winner ident) {
	of := rowsOf{source, t.Name}
	if r.winners[of] == nil {
		r.winners[of], r.losers[of] = map[int64]ident{}, map[ident][]int64{}
	}
	r.winners[of][id] = winner
	r.losers[of][winner] = append(r.losers[of][winner], id)
}

func (r *remembering) identify(_ context.Context, source string, t *plan.Table, keys []int64) (map[int64]ident, error) {
	found := map[int64]ident{}
	of := rowsOf{source, t.Name}
	for _, key := range keys {
		id, ok := r.winners[of][key]
		if !ok {
			id = ident{source, key}
		}
		if !r.dropped[of][key] {
			found[key] = id
		}
	}
	return found, nil
}

func (r *remembering) members(_ context.Context, source string, t *plan.Table, ids []ident) (map[ident][]int64, error) {
	of := rowsOf{source, t.Name}
	found := map[ident][]int64{}
	for _, id := range ids {
		found[id] = slices.Clone(r.losers[of][id])
		if _, gone := r.winners[of][id.key]; id.source == source && !gone && !r.dropped[of][id.key] {
			found[id] = append(found[id], id.key)
		}
	}
	return found, nil
}

// idOf returns the id that a value is, an integer or its decimal text.
func idOf(v any) (int64, bool) {
	if id, ok := v.(int64); ok {
		return id, true
	}
	return parseID(textOf(v))
}
