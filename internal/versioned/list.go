package versioned

import (
	"context"
	"time"

	"github.com/shardsnow/snow/internal/protocol"
)

// numbered is a worker number's row, or what is wrong with its key.
type numbered struct {
	worker int64
	entry  Entry
	row    Row
	err    error
}

// list reads the rows of the numbers from start up to but not including end. Rows that do not exist are missing.
func (r *Registry) list(ctx context.Context, start, end int64) ([]numbered, error) {
	return list(ctx, r.store, r.Params.Name, start, end)
}

// most is how many keys a List is asked for.
const most = 1024

func list(ctx context.Context, s Store, name string, start, end int64) (all []numbered, err error) {
	prefix, stop, limit := workersPrefix(name), workerKey(name, end), int(min(end-start, most))
	for from := workerKey(name, start); ; {
		entries, err := s.List(ctx, prefix, from, limit)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Key >= stop {
				return all, nil
			}
			n := numbered{entry: e}
			if n.worker, n.err = numberOf(prefix, e.Key); n.err == nil {
				n.row, n.err = decodeRow(e)
			}
			all = append(all, n)
		}
		if len(entries) < limit || entries[limit-1].Key == workerKey(name, end-1) {
			return all, nil
		}
		from = entries[limit-1].Key + "\x00"
	}
}

// A Worker is a row with its number. Times are milliseconds since 1970, and 0 if there is none.
type Worker struct {
	Number int64
	Row
}

// Workers returns all rows of the namespace, in the order of their numbers. It returns a [*DamagedError] for a key that
// this package does not write.
func (r *Registry) Workers(ctx context.Context) ([]Worker, error) {
	rows, err := r.list(ctx, 0, r.Params.Workers)
	if err != nil {
		return nil, err
	}
	all := make([]Worker, 0, len(rows))
	for _, n := range rows {
		if n.err != nil {
			return nil, n.err
		}
		all = append(all, Worker{n.worker, n.row})
	}
	return all, nil
}

// CheckClock returns a [*protocol.ClockError] if rows show that the clock may be behind. A Fence with such a clock would
// not cover the windows that were granted. Unlike a search for a number, it takes one row for reason enough.
func (r *Registry) CheckClock(ctx context.Context) error {
	if !r.clocks.own {
		return nil
	}
	rows, err := r.list(ctx, 0, r.Params.Workers)
	if err != nil {
		return err
	}
	us, err := r.store.Now(ctx) // after the rows were written
	if err != nil {
		return err
	}
	return judge(rows, us, 1)
}

// Now returns the time that counts, in microseconds since 1970.
func (r *Registry) Now(ctx context.Context) (int64, error) { return r.store.Now(ctx) }

// Fence moves the floor and the ceiling of every row to the end of the longest window that could have been granted
// before, as far as the later of the store's time and local can tell. It returns how many rows it moved. Times in rows
// that are later than both are set to them, so that they are no evidence against clocks that are right. A key that this
// package does not write is left alone. That, and a row that is missing, is a [*DamagedError] after all other rows were
// moved.
func (r *Registry) Fence(ctx context.Context, local time.Time) (n int64, err error) {
	us, err := r.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	us = max(us, local.UnixMicro())
	least := r.Params.TickAt(us) + r.Params.LongestWindow()
	var damaged error
	for start, size := int64(0), int64(Batch-1); start < r.Params.Workers; {
		rows, err := r.list(ctx, start, min(start+size, r.Params.Workers))
		if err != nil {
			return n, err
		}
		expected, puts := []Entry{r.guard()}, []Entry(nil)
		if damaged == nil && int64(len(rows)) < min(size, r.Params.Workers-start) {
			damaged = &DamagedError{Key: workerKey(r.Params.Name, firstMissing(rows, start)), Err: errMissing}
		}
		for _, m := range rows {
			if m.err != nil {
				damaged = m.err
				continue
			}
			row := m.row
			row.Floor = max(row.Ceiling, least)
			row.Ceiling = row.Floor
			row.Claimed, row.Renewed = min(row.Claimed, us/1000), min(row.Renewed, us/1000)
			row.Seq++
			expected, puts = append(expected, m.entry), append(puts, Entry{Key: m.entry.Key, Value: row.encode()})
		}
		if len(puts) > 0 {
			done, err := r.store.Write(ctx, expected, puts)
			if err != nil {
				return n, err
			}
			if !done { // a holder renewed a row meanwhile
				if err := r.unchanged(ctx); err != nil {
					return n, err
				}
				size = max(size/2, 1)
				continue
			}
			n += int64(len(puts))
		}
		start += size
	}
	return n, damaged
}

// firstMissing returns the first number from start on that has no row.
func firstMissing(rows []numbered, start int64) int64 {
	for _, n := range rows {
		if n.err == nil && n.worker == start {
			start++
		}
	}
	return start
}

// unchanged returns an error if the namespace is no longer the one that Open has read.
func (r *Registry) unchanged(ctx context.Context) error {
	entries, err := r.store.Get(ctx, namespaceKey(r.Params.Name))
	if err != nil {
		return err
	}
	return r.check(entries[0])
}

// longestWindow returns the first tick of rows that may have been used before.
func longestWindow(p *protocol.Params, us int64) int64 {
	return p.TickAt(max(us, time.Now().UnixMicro())) + p.LongestWindow()
}
