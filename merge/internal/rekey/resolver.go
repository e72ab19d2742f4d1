package rekey

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/merge/internal/ledger"
)

// A Resolver finds successors. It remembers those that it found last. It is
// used by one goroutine at a time.
type Resolver struct {
	ids         ledger.IDMap
	young, aged map[rowID]ledger.Successor
}

// A rowID is a row of a source table.
type rowID struct{ sourceTable, id int64 }

// remembered is how many successors a resolver has in memory, at most twice.
const remembered = 1 << 15

// NewResolver returns one that remembers nothing yet.
func NewResolver(ids ledger.IDMap) *Resolver {
	return &Resolver{ids: ids, young: map[rowID]ledger.Successor{}}
}

func (r *Resolver) recall(row rowID) (ledger.Successor, bool) {
	if s, ok := r.young[row]; ok {
		return s, true
	}
	s, ok := r.aged[row]
	if ok {
		r.remember(row, s)
	}
	return s, ok
}

func (r *Resolver) remember(row rowID, s ledger.Successor) {
	if len(r.young) >= remembered {
		r.young, r.aged = map[rowID]ledger.Successor{}, r.young
	}
	r.young[row] = s
}

// Resolve returns the successors of rows of a source table. A nil table has no
// rows. Whether a row without an entry in the map exists at all is asked of
// source, which may be nil where that does not matter: such rows are then kept.
func (r *Resolver) Resolve(ctx context.Context, source *Checker, t *ledger.SourceTable, ids []int64) (map[int64]ledger.Successor, error) {
	found := make(map[int64]ledger.Successor, len(ids))
	if t == nil {
		return found, nil
	}
	var ask []int64
	for _, id := range ids {
		switch was, ok := r.recall(rowID{t.ID, id}); {
		case !t.Mapped && source == nil:
			found[id] = ledger.Successor{ID: id, Fate: ledger.Kept}
		case ok && (was.Fate != ledger.Kept || source == nil):
			found[id] = was
		default:
			ask = append(ask, id)
		}
	}
	if t.Mapped && len(ask) > 0 {
		entries, err := r.ids.Find(ctx, t, ask)
		if err != nil {
			return nil, err
		}
		for old, after := range entries {
			found[old] = after
			r.remember(rowID{t.ID, old}, after)
		}
	}
	if t.Rekeys {
		return found, nil
	}
	ask = slices.DeleteFunc(ask, func(id int64) bool { _, ok := found[id]; return ok })
	if source != nil {
		there, err := source.rows(ctx, t.Table, ask)
		if err != nil {
			return nil, err
		}
		ask = slices.DeleteFunc(ask, func(id int64) bool { return !there[id] })
	}
	for _, id := range ask {
		found[id] = ledger.Successor{ID: id, Fate: ledger.Kept}
		if source == nil && t.Mapped {
			r.remember(rowID{t.ID, id}, found[id])
		}
	}
	return found, nil
}
