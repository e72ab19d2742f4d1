package merge

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/sqlsnow"
)

// A fate is what became of a row of a source.
type fate uint8

const (
	missing fate = iota // there is no such row
	kept                // it has the id that it had
	minted              // it has a new id
	merged              // another row stands for it
	dropped             // it is not copied
)

// A successor is the id that references to a row have to have now.
type successor struct {
	id   int64 // of no meaning for rows that are missing or dropped
	fate fate
}

// A resolver finds successors. It remembers those that it found last. It is
// used by one goroutine at a time.
type resolver struct {
	engine      *engine
	young, aged map[place]successor
}

type place struct{ scope, id int64 }

// remembered is how many successors a resolver has in memory, at most twice.
const remembered = 1 << 15

func newResolver(e *engine) *resolver {
	return &resolver{engine: e, young: map[place]successor{}}
}

func (r *resolver) recall(p place) (successor, bool) {
	if s, ok := r.young[p]; ok {
		return s, true
	}
	s, ok := r.aged[p]
	if ok {
		r.remember(p, s)
	}
	return s, ok
}

func (r *resolver) remember(p place, s successor) {
	if len(r.young) >= remembered {
		r.young, r.aged = map[place]successor{}, r.young
	}
	r.young[p] = s
}

// resolve returns the successors of rows of a scope, by the ledger in target. A
// nil scope has no rows. Whether a row that has no row in the map exists at all
// is asked of source, which may be nil where that does not matter: such rows
// are then kept.
func (r *resolver) resolve(ctx context.Context, target, source queryer, s *scope, ids []int64) (map[int64]successor, error) {
	found := make(map[int64]successor, len(ids))
	if s == nil {
		return found, nil
	}
	if !s.maps && source == nil {
		for _, id := range ids {
			found[id] = successor{id, kept}
		}
		return found, nil
	}
	var ask []int64
	for _, id := range ids {
		if was, ok := r.recall(place{s.id, id}); ok && (was.fate != kept || source == nil) {
			found[id] = was
		} else {
			ask = append(ask, id)
		}
	}
	slices.Sort(ask)
	ask = slices.Compact(ask)
	if s.maps {
		if err := r.lookUp(ctx, target, s, ask, found); err != nil {
			return nil, err
		}
	}
	if s.mints {
		return found, nil
	}
	ask = slices.DeleteFunc(ask, func(id int64) bool { _, ok := found[id]; return ok })
	if source != nil {
		var err error
		if ask, err = r.existing(ctx, source, s, ask); err != nil {
			return nil, err
		}
	}
	for _, id := range ask {
		found[id] = successor{id, kept}
		if source == nil && s.maps {
			r.remember(place{s.id, id}, found[id])
		}
	}
	return found, nil
}

func (r *resolver) lookUp(ctx context.Context, target queryer, s *scope, ids []int64, found map[int64]successor) error {
	for chunk := range slices.Chunk(ids, maxIDs) {
		condition, args := r.engine.anyOf("old_id", chunk)
		err := r.entries(ctx, target, s, condition, args, func(old int64, after successor) {
			found[old] = after
			r.remember(place{s.id, old}, after)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// between returns the successors of those rows from one id up to another that
// have a row in the map. It remembers none.
func (r *resolver) between(ctx context.Context, target queryer, s *scope, from, to int64) (map[int64]successor, error) {
	found := map[int64]successor{}
	condition := "old_id BETWEEN " + r.engine.number(1) + " AND " + r.engine.number(2)
	err := r.entries(ctx, target, s, condition, []any{from, to}, func(old int64, after successor) { found[old] = after })
	if err == nil && s.packs {
		err = r.engine.packsBetween(ctx, target, s.id, from, to, func(old, id int64) { found[old] = successor{id, minted} })
	}
	return found, err
}

func (r *resolver) entries(ctx context.Context, target queryer, s *scope, condition string, args []any, visit func(int64, successor)) error {
	rows, err := target.QueryContext(ctx, "SELECT old_id, COALESCE(new_id, 0), kind FROM snow_merge_map WHERE scope = "+
		strconv.FormatInt(s.id, 10)+" AND "+condition, args...)
	if err != nil {
		return r.engine.failed("look up new ids", err)
	}
	defer rows.Close()
	for rows.Next() {
		var old, id int64
		var kind int
		if err := rows.Scan(&old, &id, &kind); err != nil {
			return r.engine.failed("look up new ids", err)
		}
		visit(old, successor{id, fateOf(kind)})
	}
	return r.engine.failed("look up new ids", rows.Err())
}

// existing returns those of ids that the source has rows of.
func (r *resolver) existing(ctx context.Context, source queryer, s *scope, ids []int64) ([]int64, error) {
	var there []int64
	for chunk := range slices.Chunk(ids, maxIDs) {
		key := r.engine.quote(s.columns[s.key].Name)
		condition, args := r.engine.anyOf(key, chunk)
		rows, err := r.engine.readAll(ctx, source, "SELECT "+key+" FROM "+r.engine.quote(s.table.Name)+" WHERE "+condition, s.columns[s.key:s.key+1], args)
		if err != nil {
			return nil, r.engine.failed("look up rows of source "+strconv.Quote(s.source), err)
		}
		for _, row := range rows {
			if id, ok := row[0].(int64); ok {
				there = append(there, id)
			}
		}
	}
	return there, nil
}

func fateOf(kind int) fate {
	switch kind {
	case kindMerged:
		return merged
	case kindDropped:
		return dropped
	}
	return minted
}

// maxIDs is how many ids one statement looks for. MariaDB makes a temporary
// table of 1000 and more.
const maxIDs = 900

// anyOf returns the condition that a column of integers is one of ids. Numbers
// are part of the text where a statement with parameters would have to be
// prepared first.
func (e *engine) anyOf(column string, ids []int64) (string, []any) {
	digits := make([]byte, 0, 20*len(ids))
	for i, id := range ids {
		if i > 0 {
			digits = append(digits, ',')
		}
		digits = strconv.AppendInt(digits, id, 10)
	}
	if e.dialect == sqlsnow.Postgres {
		return column + " = ANY (CAST($1 AS BIGINT[]))", []any{"{" + string(digits) + "}"}
	}
	return strings.Join([]string{column, " IN (", string(digits), ")"}, ""), nil
}
