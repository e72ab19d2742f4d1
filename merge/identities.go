package merge

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
)

// mappedIdentities are the identities of a run, by its ledger. Its idents are all
// keys of the target.
type mappedIdentities struct {
	ids ledger.IDMap
	run *ledger.Run
}

func (m *mappedIdentities) identify(ctx context.Context, source string, t *plan.Table, keys []int64) (map[int64]ident, error) {
	found := map[int64]ident{}
	if !t.Mints(source) {
		for _, key := range keys {
			found[key] = ident{key: key}
		}
	}
	of := m.run.Table(source, t.Name)
	if of == nil {
		return found, nil
	}
	entries, err := m.ids.Find(ctx, of, keys)
	for old, after := range entries {
		if after.Fate == ledger.Dropped {
			delete(found, old)
		} else {
			found[old] = ident{key: after.ID}
		}
	}
	return found, err
}

func (m *mappedIdentities) members(ctx context.Context, source string, t *plan.Table, ids []ident) (map[ident][]int64, error) {
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
	of := m.run.Table(source, t.Name)
	if of == nil {
		return found, nil
	}
	olds, err := m.ids.Olds(ctx, of, keys)
	for id, old := range olds {
		found[ident{key: id}] = append(found[ident{key: id}], old...)
	}
	return found, err
}

// rowsOf is a table of a source.
type rowsOf struct{ source, table string }

// rememberedIdentities are the identities of a dry run: a row is itself, unless it would
// be merged into another one.
type rememberedIdentities struct {
	winners map[rowsOf]map[int64]ident
	losers  map[rowsOf]map[ident][]int64
	dropped map[rowsOf]map[int64]bool
}

func newRememberedIdentities() *rememberedIdentities {
	return &rememberedIdentities{winners: map[rowsOf]map[int64]ident{}, losers: map[rowsOf]map[ident][]int64{}, dropped: map[rowsOf]map[int64]bool{}}
}

func (r *rememberedIdentities) drop(source string, t *plan.Table, id int64) {
	of := rowsOf{source, t.Name}
	if r.dropped[of] == nil {
		r.dropped[of] = map[int64]bool{}
	}
	r.dropped[of][id] = true
}

func (r *rememberedIdentities) add(source string, t *plan.Table, id int64, winner ident) {
	of := rowsOf{source, t.Name}
	if r.winners[of] == nil {
		r.winners[of], r.losers[of] = map[int64]ident{}, map[ident][]int64{}
	}
	r.winners[of][id] = winner
	r.losers[of][winner] = append(r.losers[of][winner], id)
}

func (r *rememberedIdentities) identify(_ context.Context, source string, t *plan.Table, keys []int64) (map[int64]ident, error) {
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

func (r *rememberedIdentities) members(_ context.Context, source string, t *plan.Table, ids []ident) (map[ident][]int64, error) {
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
