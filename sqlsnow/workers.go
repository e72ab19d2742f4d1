package sqlsnow

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"
)

// A WorkerState is what a worker number is used for.
type WorkerState int

// The states.
const (
	Free     WorkerState = iota // nobody has it; the next window begins at Ceiling or later
	Claimed                     // a process waits for its first window (LossWindow > 0)
	Granted                     // a process has, or had, the window from Floor to Ceiling
	Reserved                    // never leased
)

// String returns "free", "claimed", "granted" or "reserved".
func (s WorkerState) String() string {
	names := [...]string{"free", "claimed", "granted", "reserved"}
	if s < 0 || int(s) >= len(names) {
		return "WorkerState(" + strconv.Itoa(int(s)) + ")"
	}
	return names[s]
}

// A WorkerInfo says who holds a worker number until when. Times are the
// database's.
type WorkerInfo struct {
	Worker  uint64
	State   WorkerState
	Holder  string    // see LeaseConfig.Holder; the last one, of a number that is free
	Fence   int64     // how often the number was leased
	Floor   time.Time // the start of the last window; after Fence, the earliest start of the next one
	Ceiling time.Time // its end: no id of this number is stamped later. In a Granted row that is past, the holder is gone or can't reach the database
	Claimed time.Time // when the holder took the number; zero if nobody ever did
	Renewed time.Time // when the holder last wrote the row; zero if nobody ever did
}

// Workers returns all worker numbers of a namespace, in their order. It takes
// no lock and may be called at any time.
func Workers(ctx context.Context, db *sql.DB, d Dialect, namespace string) ([]WorkerInfo, error) {
	all, err := workers(ctx, db, d, namespace)
	if err != nil {
		return nil, fmt.Errorf("sqlsnow: workers of namespace %q: %w", namespace, err)
	}
	return all, nil
}

func workers(ctx context.Context, db *sql.DB, d Dialect, namespace string) ([]WorkerInfo, error) {
	e, t, err := open(ctx, db, d, namespace)
	if err != nil {
		return nil, err
	}
	s := e.compile(selectWorkers)
	rows, err := db.QueryContext(ctx, s.text, s.arguments(map[string]any{"namespace": namespace})...)
	if err != nil {
		return nil, e.database("workers", err)
	}
	defer rows.Close()
	all := make([]WorkerInfo, 0, t.workers)
	for rows.Next() {
		var w WorkerInfo
		var floor, ceiling, claimed, renewed int64
		if err := rows.Scan(&w.Worker, &w.State, &w.Holder, &w.Fence, &floor, &ceiling, &claimed, &renewed); err != nil {
			return nil, e.database("workers", err)
		}
		w.Floor, w.Ceiling = t.timeOf(floor), t.timeOf(ceiling)
		if claimed != 0 {
			w.Claimed = time.UnixMilli(claimed).UTC()
		}
		if renewed != 0 {
			w.Renewed = time.UnixMilli(renewed).UTC()
		}
		all = append(all, w)
	}
	if err := rows.Err(); err != nil {
		return nil, e.database("workers", err)
	}
	return all, nil
}

// Fence makes it safe to lease worker numbers again after the database was
// restored from a backup, which has forgotten windows that processes still
// use: it moves the ceiling of every number to the end of the longest window
// that could have been granted before the call. Stop nothing for it: processes
// that hold a number go on. New ones get [*NoWorkerError], or wait for the
// number that they asked for, until the window is over.
//
// Call it after the restore, before the first Acquire reaches the database. It
// goes by the database's clock, and returns a [*ClockError] where that is more
// than 30 s from this process's.
func Fence(ctx context.Context, db *sql.DB, d Dialect, namespace string) error {
	if err := fence(ctx, db, d, namespace); err != nil {
		return fmt.Errorf("sqlsnow: fence namespace %q: %w", namespace, err)
	}
	return nil
}

func fence(ctx context.Context, db *sql.DB, d Dialect, namespace string) error {
	e, t, err := open(ctx, db, d, namespace)
	if err != nil {
		return err
	}
	f, err := e.askFacts(ctx, db)
	if err != nil {
		return e.database("fence", err)
	}
	if err := f.check(t.loss); err != nil {
		return err
	}
	now := time.Now()
	clock := vote{maxSkew: defaultMaxSkew}
	if err := clock.take(f.us, 0, reading{wall: now}); err != nil {
		return err
	}
	s := e.compile(updateFence)
	r := registry{engine: e, terms: t}
	// The clock of the database that is gone may have been ahead of this one's.
	values := r.values(request{window: t.ticks(max(t.window, t.pinned) + defaultMaxSkew)})
	var n int64
	err = e.alone(ctx, db, t.need(), func(on *session) (_ bool, err error) {
		n, _, err = on.exec(ctx, s, values)
		return n > 0, err
	})
	if err != nil {
		return e.named("fence", err)
	}
	if n < t.workers {
		return fmt.Errorf("%d of %d numbers were fenced: %w", n, t.workers, errRefused)
	}
	return nil
}

// open reads the constants of a namespace.
func open(ctx context.Context, db *sql.DB, d Dialect, namespace string) (*engine, terms, error) {
	e, err := engineOf(d)
	if err != nil {
		return nil, terms{}, err
	}
	if err := checkName("namespace", namespace); err != nil {
		return nil, terms{}, err
	}
	f, err := e.askFacts(ctx, db)
	if err == nil && f.unmigrated {
		return e, terms{}, ErrNotMigrated
	}
	if err != nil {
		return e, terms{}, mistaken(ctx, db, d, e.database("open", err))
	}
	t, err := e.readTerms(ctx, db, namespace)
	return e, t, err
}
