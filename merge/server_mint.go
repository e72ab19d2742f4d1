package merge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// cutRows is how many rows the ranges have that the server cuts, at most.
const cutRows = 5000

// A cutter is how phase mint goes through a scope whose rows need not be seen:
// none of them can clash or is left out, and the target's session can read
// them. It cuts the scope into ranges, and lets the server make the ids.
//
// A range is cut with a bound of its last id, so that several can be filled at
// the same time. Their transactions end in the order of their ranges.
type cutter struct {
	merge *Merge
	guard *guard
	scope *scope
	first *worker
	table string // as the target's session calls it
	key   string
	rows  int // of a range, at most
	pace  *throttle
	event report.Event

	dating *dating // if the scope mints
	packed bool    // the map gets packs
	sparse bool    // keys do not count up, or have large gaps
}

// cutter returns nil if rows of the scope must be seen.
func (m *Merge) cutter(ctx context.Context, g *guard, r *run, w *worker, clashes *clasher, s *scope) (*cutter, error) {
	database, err := w.near(ctx, s.source)
	if err != nil || database == "" || len(s.primary) != 1 || s.maps != s.mints || s.mints && s.primary[0] != s.key || slices.ContainsFunc(s.columns, (*plan.Column).DropsRows) {
		return nil, err
	}
	if calm, err := clashes.calm(ctx, s.table, s.source); err != nil || !calm {
		return nil, err
	}
	e := m.engine
	c := &cutter{merge: m, guard: g, scope: s, first: w, pace: newThrottle(m.config.BatchRows, m.config.BatchTime)}
	c.table, c.key = e.quote(database)+"."+e.quote(s.table.Name), "s."+e.quote(s.table.PrimaryKey[0])
	from, err := e.tableIn(ctx, w.target, literal(database), s.table.Name)
	if err != nil || from == nil || !slices.Equal(from.primary, s.table.PrimaryKey) || !countable(from.columns[s.table.PrimaryKey[0]].typ) {
		return nil, err
	}
	date := "NULL"
	if s.mints {
		if c.dating = e.dating(r, s, from); c.dating == nil {
			return nil, nil
		}
		date = c.dating.tickOf(c.dating.date)
	}
	c.rows = max(1, min(cutRows, mostBytes/max(1, e.sampleBytes(ctx, w.target, c.table, from)))) // ranges are read at once if need be
	// The account of the target may be another one, which can't read this.
	_, err = w.target.ExecContext(ctx, "SELECT "+c.key+", "+date+" FROM "+c.table+" AS s FORCE INDEX (PRIMARY) LIMIT 0")
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, nil
	}
	c.packed, err = c.packs(ctx, r, w)
	return c, err
}

// calm reports whether no row of a source can clash, whatever its values: there
// are no rows that come first.
func (c *clasher) calm(ctx context.Context, t *plan.Table, source string) (bool, error) {
	for _, k := range c.contests(t, source) {
		if len(k.ahead) > 1 || slices.ContainsFunc(k.columns, (*plan.Column).HoldsReferences) {
			return false, nil
		}
		r := &round{clasher: c, contest: k}
		if empty, err := r.isEmpty(ctx); err != nil || !empty {
			return false, err
		}
	}
	return true, nil
}

// A cut is some ranges that follow on each other.
type cut struct {
	number int // from 1 on
	ranges []batch
	rows   int
	from   int64         // the place of the last id before
	before *cut          // nil for the first
	held   chan struct{} // closed when it has looked at the lease: others wait for that, lest one of a later cut stands in the way
	done   chan struct{} // closed when it is committed
	told   chan struct{} // closed when the caller knows
}

// await waits for a step of the cut before.
func (c *cut) await(ctx context.Context, step func(*cut) chan struct{}) error {
	if c.before == nil {
		return nil
	}
	select {
	case <-step(c.before):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// all goes through the rows after a range, to the end. If it returns an error
// that is none of a lost lease or of ctx, the ledger says how far it came, and
// the other rows must be seen.
func (c *cutter) all(ctx context.Context, last batch) error {
	// Statements do not end with it, so that the connections can be used on.
	going, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cuts := make(chan *cut)
	var group sync.WaitGroup
	write := func(w *worker) {
		group.Go(func() {
			for each := range cuts {
				if err := c.write(ctx, going, w, each); err != nil {
					stop(err) // the first one counts: the others follow from it
				}
			}
		})
	}
	write(c.first)
	var others []*worker
	err := c.feed(ctx, last, func(each *cut) error {
		if each.number > 1 && each.number <= c.merge.config.Writers { // small tables are done by one
			w, err := c.merge.newWriter(ctx)
			if err != nil {
				return err
			}
			others = append(others, w)
			if database, err := w.near(ctx, c.scope.source); err == nil && database != "" {
				write(w)
			}
		}
		select {
		case cuts <- each:
			return nil
		case <-going.Done():
			return context.Cause(going)
		}
	})
	if err != nil {
		stop(err)
	}
	close(cuts)
	group.Wait()
	err = context.Cause(going)
	for _, w := range others {
		if closed := w.close(); closed != nil && err == nil {
			err = closed
		}
	}
	return err
}

// feed cuts the rest of the scope.
func (c *cutter) feed(ctx context.Context, last batch, send func(*cut) error) error {
	bound := int64(0)
	if l := c.scope.lane; c.scope.mints {
		if bound = c.dating.first(); last.seq > 0 {
			bound = max(bound, l.place(last.tick, last.sequence))
		}
	}
	var before *cut
	for number := 1; ; number++ {
		if err := c.merge.brake.wait(ctx, c.merge.teller.tell); err != nil {
			return err
		}
		each := &cut{number: number, from: bound, before: before, held: make(chan struct{}), done: make(chan struct{}), told: make(chan struct{})}
		before = each
		size, ended := c.pace.size(), false
		for rows := min(size, c.rows); !ended && (each.rows == 0 || each.rows+rows <= size); {
			b, err := c.cut(ctx, last, rows, &bound)
			if err != nil {
				return err
			}
			if ended = b.read == 0; !ended {
				each.ranges, each.rows, last = append(each.ranges, b), each.rows+int(b.read), b
			}
		}
		if each.rows > 0 {
			if err := send(each); err != nil {
				return err
			}
		}
		if ended {
			return nil
		}
	}
}

// cut returns the next range, of about so many rows at most, and moves the bound
// of the last id on. No rows are after the last one.
func (c *cutter) cut(ctx context.Context, last batch, rows int, bound *int64) (batch, error) {
	b := batch{scope: c.scope.id, phase: phaseMint, seq: last.seq + 1, lo: last.hi}
	source, err := c.first.source(ctx, c.scope.source)
	if err != nil {
		return b, err
	}
	date, latest := "NULL", func(string) string { return "NULL" }
	if c.scope.mints {
		date, latest = c.dating.date, c.dating.tickOf
	}
	var hi, tick sql.NullInt64
	look := func(text string) error { return source.QueryRowContext(ctx, text).Scan(&b.read, &hi, &tick) }
	from := " FROM " + c.table + " AS s FORCE INDEX (PRIMARY) WHERE "
	found := false
	if !c.sparse && last.hi != nil && last.hi[0].(int64) <= math.MaxInt64-int64(rows) {
		guess := []any{last.hi[0].(int64) + int64(rows)} // to count is faster than to look for the last one
		if err := look("SELECT COUNT(*), MAX(" + c.key + "), " + latest("MAX("+date+")") + from + c.within(b.lo, guess)); err != nil {
			return b, err
		}
		found = b.read > int64(rows/2)
		c.sparse = !found
	}
	if !found {
		err := look("SELECT COUNT(*), MAX(k), " + latest("MAX(created)") + " FROM (SELECT " + c.key + " AS k, " + date + " AS created" + from + c.within(b.lo, nil) +
			" ORDER BY " + c.key + " LIMIT " + strconv.Itoa(rows) + ") AS found")
		if err != nil || !hi.Valid {
			return b, err
		}
	}
	b.hi = []any{hi.Int64}
	if !c.scope.mints {
		return b, nil
	}
	*bound = c.dating.bound(*bound, b.read, tick.Int64, tick.Valid)
	b.minted = b.read
	l := c.scope.lane
	if b.tick, b.sequence = l.at(*bound); b.tick >= 1<<l.layout.Bits().Timestamp {
		return b, snow.ErrTimeExhausted
	}
	return b, nil
}

func (c *cutter) within(lo, hi []any) string {
	text := "TRUE"
	if lo != nil {
		text += " AND " + c.key + " > " + textOf(lo[0])
	}
	if hi != nil {
		text += " AND " + c.key + " <= " + textOf(hi[0])
	}
	return text
}

// write writes one cut, as soon as that before is written.
func (c *cutter) write(ctx, going context.Context, w *worker, each *cut) error {
	if going.Err() != nil {
		return context.Cause(going)
	}
	if err := each.await(going, func(c *cut) chan struct{} { return c.held }); err != nil {
		return err
	}
	start := time.Now()
	err := c.guard.attempt(ctx, w.target, func() error {
		close(each.held)
		mint := c.mint
		if c.packed {
			mint = c.pack
		}
		if c.scope.mints {
			if err := mint(ctx, w, each); err != nil {
				return err
			}
		}
		if err := c.merge.engine.insertBatches(ctx, w.target, each.ranges); err != nil {
			return err
		}
		return each.await(going, func(c *cut) chan struct{} { return c.done })
	})
	if err != nil {
		return err
	}
	close(each.done)
	took := time.Since(start)
	if err := each.await(going, func(c *cut) chan struct{} { return c.told }); err != nil {
		return err
	}
	defer close(each.told) // the next one may use the event then
	each.before = nil      // or all would be kept
	c.pace.observe(each.rows, 0, took)
	c.event.Kind, c.event.Batch, c.event.Took = report.EventBatch, each.rows, took
	c.event.Rows += int64(each.rows)
	c.merge.teller.tell(c.event)
	return nil
}

// mint lets the server fill the map, and looks whether it did so row by row.
func (c *cutter) mint(ctx context.Context, w *worker, each *cut) error {
	l, last := c.scope.lane, each.ranges[len(each.ranges)-1]
	_, err := w.target.ExecContext(ctx, fmt.Sprintf("SET @snow_merge_place = %d, @snow_merge_tick = 0, @snow_merge_late = 0", each.from))
	if err != nil {
		return err
	}
	text := fmt.Sprintf("INSERT INTO snow_merge_map (scope, old_id, new_id, kind) SELECT %d, %s, %s, %d FROM %s AS s FORCE INDEX (PRIMARY) WHERE %s ORDER BY %[2]s",
		c.scope.id, c.key, c.dating.lateID(c.key), kindMinted, c.table, c.within(each.ranges[0].lo, last.hi))
	result, err := w.target.ExecContext(ctx, text)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return err
	}
	var place, late int64
	if err := w.target.QueryRowContext(ctx, "SELECT @snow_merge_place, @snow_merge_late").Scan(&place, &late); err != nil {
		return err
	}
	if n != int64(each.rows) || place < each.from+n || place > l.place(last.tick, last.sequence) {
		return errUnlike
	}
	return c.settle(ctx, w, each, place, late*l.layout.Tick().Microseconds())
}

// settle puts the true last id of each range into the place of its bound.
func (c *cutter) settle(ctx context.Context, w *worker, each *cut, place, late int64) error {
	l := c.scope.lane
	keys := make([]int64, len(each.ranges))
	for i, b := range each.ranges {
		keys[i] = b.hi[0].(int64)
	}
	condition, args := c.merge.engine.anyOf("old_id", keys)
	rows, err := w.target.QueryContext(ctx, "SELECT new_id FROM snow_merge_map WHERE scope = "+strconv.FormatInt(c.scope.id, 10)+" AND "+condition+" ORDER BY old_id", args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	at := 0
	for ; rows.Next() && at < len(each.ranges); at++ {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		b := &each.ranges[at]
		b.tick = id / int64(l.stride())
		b.sequence, b.late = id%int64(l.stride())-int64(l.id(0, 0)), late
		if here := l.place(b.tick, b.sequence); here > place || at == len(each.ranges)-1 && here != place || id != int64(l.id(b.tick, uint64(b.sequence))) {
			return errUnlike
		}
	}
	if err := rows.Err(); err != nil || at < len(each.ranges) {
		return errors.Join(errUnlike, err)
	}
	return nil
}
