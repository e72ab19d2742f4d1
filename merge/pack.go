package merge

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A pack is a row of snow_merge_packs: the old and the new ids of the rows of one
// range, in their order, in place of as many rows of snow_merge_map. It has no
// list of old ids if they follow on each other without a gap, up to the last one.
type pack struct {
	seq     int64 // of its range
	lastOld int64
	size    int64
	olds    []int64
	news    []int64
}

// packable reports whether the map of a scope may have packs: few of its rows, if
// any, have to be found while the run goes on, and servers of the dialect can
// fill them.
func (m *Merge) packable(s *scope) bool {
	return m.engine.dialect == sqlsnow.MySQL && s.mints && !s.table.Merges() && !refersTo(m.plan, s.table)
}

// refersTo reports whether some column refers to a table.
func refersTo(p *plan.Plan, t *plan.Table) bool {
	for _, other := range p.Tables {
		for _, c := range other.Columns {
			if c.HoldsReferences() && slices.ContainsFunc(c.Refers, func(r *plan.Reference) bool { return r.Table == t.Name }) {
				return true
			}
		}
	}
	return false
}

// packs calls visit for the packs of a scope that a condition is true of, in
// the order of their rows.
func (e *engine) packs(ctx context.Context, q queryer, scope int64, condition string, args []any, visit func(*pack) error) error {
	if e.dialect != sqlsnow.MySQL {
		return nil
	}
	rows, err := q.QueryContext(ctx, "SELECT seq, last_old, size, old_ids, new_ids FROM snow_merge_packs WHERE scope = "+
		strconv.FormatInt(scope, 10)+" AND "+condition+" ORDER BY last_old", args...)
	if err != nil {
		return e.failed("read packs of the map", err)
	}
	defer rows.Close()
	for rows.Next() {
		var p pack
		var olds, news sql.RawBytes
		if err := rows.Scan(&p.seq, &p.lastOld, &p.size, &olds, &news); err != nil {
			return e.failed("read packs of the map", err)
		}
		if err := p.parse(olds, news); err != nil {
			return fmt.Errorf("%w: pack %d of scope %d: %w", errLedger, p.seq, scope, err)
		}
		if err := visit(&p); err != nil {
			return err
		}
	}
	return e.failed("read packs of the map", rows.Err())
}

// parse reads the lists, which must ascend and have as many ids as they should.
func (p *pack) parse(olds, news []byte) (err error) {
	if p.news, err = p.list(news); err != nil {
		return err
	}
	if len(olds) == 0 {
		if p.lastOld < math.MinInt64+p.size {
			return fmt.Errorf("its last old id is %d, and it has %d", p.lastOld, p.size)
		}
		for i := range p.size {
			p.olds = append(p.olds, p.lastOld-p.size+1+i)
		}
		return nil
	}
	if p.olds, err = p.list(olds); err != nil {
		return err
	}
	if last := p.olds[len(p.olds)-1]; last != p.lastOld {
		return fmt.Errorf("its last old id is %d, want %d", last, p.lastOld)
	}
	return nil
}

func (p *pack) list(text []byte) (ids []int64, err error) {
	for part := range bytes.SplitSeq(text, []byte{','}) {
		id, err := strconv.ParseInt(string(part), 10, 64)
		if err != nil {
			return nil, err
		}
		if n := len(ids); n > 0 && id <= ids[n-1] {
			return nil, fmt.Errorf("id %d is not above %d", id, ids[n-1])
		}
		ids = append(ids, id)
	}
	if int64(len(ids)) != p.size {
		return nil, fmt.Errorf("it has %d ids, want %d", len(ids), p.size)
	}
	return ids, nil
}

// packsBetween visits what packs say of rows with old ids from one up to another.
func (e *engine) packsBetween(ctx context.Context, q queryer, scope, from, to int64, visit func(old, id int64)) error {
	const upto = "last_old >= ? AND last_old <= (SELECT COALESCE(MIN(last_old), ?) FROM snow_merge_packs WHERE scope = ? AND last_old >= ?)"
	return e.packs(ctx, q, scope, upto, []any{from, int64(math.MaxInt64), scope, to}, func(p *pack) error {
		for i, old := range p.olds {
			if from <= old && old <= to {
				visit(old, p.news[i])
			}
		}
		return nil
	})
}

// inPacks visits what packs say of some old ids.
func (e *engine) inPacks(ctx context.Context, q queryer, scope int64, ids []int64, visit func(old, id int64)) error {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for len(ids) > 0 {
		var found *pack
		err := e.packs(ctx, q, scope, "last_old = (SELECT MIN(last_old) FROM snow_merge_packs WHERE scope = ? AND last_old >= ?)", []any{scope, ids[0]},
			func(p *pack) error { found = p; return nil })
		if err != nil || found == nil {
			return err
		}
		for len(ids) > 0 && ids[0] <= found.lastOld {
			if at, ok := slices.BinarySearch(found.olds, ids[0]); ok {
				visit(ids[0], found.news[at])
			}
			ids = ids[1:]
		}
	}
	return nil
}

// packedRows returns how many rows the packs of a scope have, those that a
// condition is true of.
func (e *engine) packedRows(ctx context.Context, q queryer, scope int64, condition string) (rows, last int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT COALESCE(SUM(size), 0), COALESCE(MAX(last_old), 0) FROM snow_merge_packs AS packs WHERE scope = "+
		strconv.FormatInt(scope, 10)+" AND "+condition).Scan(&rows, &last)
	return rows, last, e.failed("read packs of the map", err)
}

var errPacks = errors.New("the packs are not those of the ranges")

// A packHead is a pack without its ids but the first and the last new one.
type packHead struct {
	seq, size, first, last int64
	begins                 int64 // the place that its first one is after
	gapless                bool  // there is no list of old ids
}

// packHeads returns those of ranges, which follow on each other: one for each,
// or none if they have rows of the map.
func (e *engine) packHeads(ctx context.Context, q queryer, s *scope, ranges []batch) ([]packHead, error) {
	if !s.packs {
		return nil, nil
	}
	rows, err := q.QueryContext(ctx, fmt.Sprintf(`SELECT seq, size, last_old, begins, old_ids = '', CAST(SUBSTRING_INDEX(LEFT(new_ids, 21), ',', 1) AS SIGNED), CAST(SUBSTRING_INDEX(RIGHT(new_ids, 21), ',', -1) AS SIGNED)
		FROM snow_merge_packs WHERE scope = %d AND seq BETWEEN %d AND %d ORDER BY seq`, s.id, ranges[0].seq, ranges[len(ranges)-1].seq))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var heads []packHead
	for rows.Next() {
		var h packHead
		var lastOld int64
		if err := rows.Scan(&h.seq, &h.size, &lastOld, &h.begins, &h.gapless, &h.first, &h.last); err != nil {
			return nil, err
		}
		r := ranges[min(len(heads), len(ranges)-1)]
		if h.seq != r.seq || h.size != r.minted || h.size != r.read || len(r.hi) != 1 || r.hi[0] != any(lastOld) {
			return nil, errPacks
		}
		heads = append(heads, h)
	}
	if len(heads) > 0 && len(heads) < len(ranges) {
		return nil, errors.Join(errPacks, rows.Err())
	}
	return heads, rows.Err()
}
