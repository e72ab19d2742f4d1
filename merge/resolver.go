package merge

import (
	"context"
	"slices"
)

// A resolver finds successors. It remembers those that it found last. It is
// used by one goroutine at a time.
type resolver struct {
	ids         idMap
	young, aged map[rowID]successor
}

// A rowID is a row of a source table.
type rowID struct{ sourceTable, id int64 }

// remembered is how many successors a resolver has in memory, at most twice.
const remembered = 1 << 15

func newResolver(ids idMap) *resolver {
	return &resolver{ids: ids, young: map[rowID]successor{}}
}

func (r *resolver) recall(row rowID) (successor, bool) {
	if s, ok := r.young[row]; ok {
		return s, true
	}
	s, ok := r.aged[row]
	if ok {
		r.remember(row, s)
	}
	return s, ok
}

func (r *resolver) remember(row rowID, s successor) {
	if len(r.young) >= remembered {
		r.young, r.aged = map[rowID]successor{}, r.young
	}
	r.young[row] = s
}

// resolve returns the successors of rows of a source table. A nil table has no
// rows. Whether a row without an entry in the map exists at all is asked of
// source, which may be nil where that does not matter: such rows are then kept.
func (r *resolver) resolve(ctx context.Context, source *refChecker, t *SourceTable, ids []int64) (map[int64]successor, error) {
	found := make(map[int64]successor, len(ids))
	if t == nil {
		return found, nil
	}
	var ask []int64
	for _, id := range ids {
		switch was, ok := r.recall(rowID{t.id, id}); {
		case !t.mapped && source == nil:
			found[id] = successor{id, kept}
		case ok && (was.fate != kept || source == nil):
			found[id] = was
		default:
			ask = append(ask, id)
		}
	}
	if t.mapped && len(ask) > 0 {
		entries, err := r.ids.find(ctx, t, ask)
		if err != nil {
			return nil, err
		}
		for old, after := range entries {
			found[old] = after
			r.remember(rowID{t.id, old}, after)
		}
	}
	if t.rekeys {
		return found, nil
	}
	ask = slices.DeleteFunc(ask, func(id int64) bool { _, ok := found[id]; return ok })
	if source != nil {
		there, err := source.rows(ctx, t.table, ask)
		if err != nil {
			return nil, err
		}
		ask = slices.DeleteFunc(ask, func(id int64) bool { return !there[id] })
	}
	for _, id := range ask {
		found[id] = successor{id, kept}
		if source == nil && t.mapped {
			r.remember(rowID{t.id, id}, found[id])
		}
	}
	return found, nil
}
