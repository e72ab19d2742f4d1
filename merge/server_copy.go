package merge

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/report"
)

// errUnlike says that the server did not do what phase mint decided.
var errUnlike = errors.New("the rows are not those that were counted")

// handOver lets the server copy the rows of some ranges itself, and reports
// whether it did. If not, nothing has happened, and to read the rows tells what
// is the matter.
func (p *porter) handOver(ctx context.Context, ranges []batch) (rows int, ok bool, err error) {
	d, w, e := p.direct, p.worker, p.engine
	first, last := ranges[0], ranges[len(ranges)-1]
	where, ok := d.within(first.lo, last.hi)
	if !ok {
		return 0, false, nil
	}
	var want int64
	done := make([]batch, len(ranges))
	for i, r := range ranges {
		done[i] = batch{
			scope: r.scope, phase: p.phase, seq: r.seq, lo: r.lo, hi: r.hi, read: r.read, written: r.read - r.merged - r.dropped,
			minted: r.minted, merged: r.merged, dropped: r.dropped,
		}
		want += done[i].written
		rows += int(r.read)
	}
	err = p.guard.transaction(ctx, w.target, func() error {
		if n, err := p.insertRanges(ctx, ranges, where); err != nil || n != want {
			return errors.Join(errUnlike, err)
		}
		if err := p.count(ctx, ranges); err != nil {
			return err
		}
		return e.insertBatches(ctx, w.target, done)
	})
	if err == nil {
		return rows, true, nil
	}
	if ctx.Err() != nil || errors.As(err, new(*report.OvertakenError)) {
		return 0, false, e.failed("copy", err)
	}
	p.direct = nil // this worker goes on without, in this table
	return 0, false, nil
}

// insertRanges copies rows, and returns how many.
func (p *porter) insertRanges(ctx context.Context, ranges []batch, where string) (int64, error) {
	target := p.worker.target
	heads, err := p.engine.packHeads(ctx, target, p.scope, ranges)
	if err != nil {
		return 0, err
	}
	if len(heads) > 0 {
		return p.insertPacked(ctx, ranges, heads)
	}
	result, err := target.ExecContext(ctx, p.insertion(where, ranges[0].lo, ranges[len(ranges)-1].hi, false))
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// insertion returns the statement that copies those rows that a condition is
// true of, with the ids of rows of the map or with those that are made once
// more. A row that something is wrong with is left out, and missed then.
func (p *porter) insertion(where string, lo, hi []any, packed bool) string {
	d := p.direct
	names, values := make([]string, len(d.values)), slices.Clone(d.values)
	for i, c := range p.scope.columns {
		if names[i] = c.Name; slices.Contains(p.stage.Deferred, c) {
			values[i] = "NULL"
		}
	}
	conditions := append([]string{where}, d.sound...)
	into := "INSERT INTO " + p.engine.quote(p.scope.table.Name) + " (" + p.engine.quoteAll(names) + ") SELECT STRAIGHT_JOIN "
	if packed {
		key := "s." + p.engine.quote(p.scope.columns[p.scope.key].Name)
		values[p.scope.key] = d.dating.id(key, d.dating.tickOf(d.dating.date))
		return into + strings.Join(values, ", ") + d.rows() + " WHERE " + strings.Join(conditions, " AND ") + " ORDER BY " + key
	}
	if d.alive != "" {
		conditions = append(conditions, d.alive)
	}
	return d.hash + into + strings.Join(values, ", ") + d.from(lo, hi) + " WHERE " + strings.Join(conditions, " AND ")
}

// count sees to it that there are as many rows as there were in each range, of
// which the last one is the same, and none after the table's last range.
func (p *porter) count(ctx context.Context, ranges []batch) error {
	d, last := p.direct, ranges[len(ranges)-1]
	counts := func(where string) string { return "(SELECT COUNT(*) FROM " + d.table + " AS s WHERE " + where + ")" }
	var parts []string
	var want []int64
	if full(ranges) && d.single {
		ranges = nil // as many rows as there can be were copied
	}
	for _, r := range ranges {
		all, ok := d.within(r.lo, r.hi)
		if !ok {
			return errUnlike
		}
		var same []string
		for i, name := range p.scope.table.PrimaryKey {
			same = append(same, "s."+p.engine.quote(name)+" = "+textOf(r.hi[i]))
		}
		parts = append(parts, counts(all), counts(strings.Join(same, " AND ")))
		want = append(want, r.read, 1)
	}
	if last.seq == p.end {
		beyond, ok := d.within(last.hi, nil)
		if !ok {
			return errUnlike
		}
		parts, want = append(parts, "EXISTS (SELECT 1 FROM "+d.table+" AS s WHERE "+beyond+")"), append(want, 0)
	}
	if len(want) == 0 {
		return nil
	}
	got := make([]int64, len(want))
	into := make([]any, len(want))
	for i := range got {
		into[i] = &got[i]
	}
	if err := p.worker.target.QueryRowContext(ctx, "SELECT "+strings.Join(parts, ", ")).Scan(into...); err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return errUnlike
	}
	return nil
}

// full reports whether ranges, all of whose rows are copied, have every integer
// there is from the first one on to the last one.
func full(ranges []batch) bool {
	first, last := ranges[0], ranges[len(ranges)-1]
	if first.lo == nil {
		return false
	}
	lo, ok := first.lo[0].(int64)
	hi, also := last.hi[0].(int64)
	var rows int64
	for _, r := range ranges {
		if r.merged+r.dropped > 0 {
			return false
		}
		rows += r.read
	}
	return ok && also && hi-lo == rows
}
