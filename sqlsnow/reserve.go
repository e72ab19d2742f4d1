package sqlsnow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shardsnow/snow"
)

// ErrNoUnusedWorker is returned by [Reserve] where every worker number of the
// namespace was leased before, or its row was fenced. It arrives wrapped: use
// errors.Is.
var ErrNoUnusedWorker = errors.New("no worker number of the namespace is unused: each may have made ids already")

// A Reservation is a worker number that is never leased.
type Reservation struct {
	Worker uint64
	Layout snow.Layout // of the namespace
}

// Reserve takes a worker number of a namespace that was never leased out of
// use for ever, the highest first, and gives it to holder: all of its ticks,
// those of the past too, are the holder's, to give ids to rows that are older
// than the namespace. Who calls it again with the same holder gets the same
// number, so a holder's name must belong to one use alone: 1 to 255 bytes of
// UTF-8 without control characters, and without a space at its end, which MySQL
// does not tell from the name without it. Another name is a [*snow.FieldError].
//
// What ids are made with the number is for the caller to see to. Where the
// namespace has a LossWindow, Reserve returns when the database can't forget
// the reservation any more: after that time and a second.
//
// Without a number it returns [ErrNoUnusedWorker]; what is missing is
// [ErrNotMigrated] or [ErrNoNamespace], a database that may forget more than
// LossWindow [ErrNotDurable], and a replica [ErrReadOnly]. Other errors of the
// database are a [*DatabaseError].
func Reserve(ctx context.Context, db *sql.DB, d Dialect, namespace, holder string) (Reservation, error) {
	r, err := reserve(ctx, db, d, namespace, holder)
	if err != nil {
		return r, fmt.Errorf("sqlsnow: reserve a worker of namespace %q: %w", namespace, err)
	}
	return r, nil
}

const (
	selectReserved = `SELECT worker_id, owner, fence, claimed_at_ms, ceiling_tick FROM snow_workers
		WHERE namespace = :namespace AND state = 3 AND holder = :holder ORDER BY worker_id DESC LIMIT 1`

	// A ceiling above its start is that of a number that was leased or fenced.
	selectUnused = `SELECT MAX(worker_id) FROM snow_workers WHERE namespace = :namespace AND state = 0 AND fence = 0 AND ceiling_tick = 0`

	updateReserve = `UPDATE snow_workers SET
		state = 3, owner = :owner, fence = fence + 1, claimed_at_ms = {now} {div} 1000, renew_seq = renew_seq + {one}, holder = :holder
		{from} WHERE {bound} {guard} namespace = :namespace AND worker_id = :worker AND state = 0 AND fence = 0 AND ceiling_tick = 0 {told}`
)

func reserve(ctx context.Context, db *sql.DB, d Dialect, namespace, holder string) (Reservation, error) {
	if holder == "" || len(holder) > 255 || !utf8.ValidString(holder) || strings.ContainsFunc(holder, unicode.IsControl) || strings.HasSuffix(holder, " ") {
		return Reservation{}, &snow.FieldError{
			Field: "holder", Value: fmt.Sprintf("%q", holder[:min(len(holder), 80)]),
			Bound: "want 1 to 255 bytes of UTF-8 without control characters, and no space at the end",
		}
	}
	e, t, err := open(ctx, db, d, namespace)
	if err != nil {
		return Reservation{}, err
	}
	r := &registry{db, e, t}
	for tries := 0; ; tries++ {
		var pause time.Duration
		f, err := e.askFacts(ctx, db)
		if err == nil {
			if err := f.check(t.loss); err != nil {
				return Reservation{}, err
			}
			var worker int64
			if worker, pause, err = r.reserve(ctx, holder, f.us); err == nil && pause == 0 {
				return Reservation{uint64(worker), t.layout}, nil
			}
		}
		if err != nil {
			if errors.Is(err, ErrNoUnusedWorker) {
				return Reservation{}, err
			}
			if err = e.named("reserve", err); !e.isBusy(err) || tries >= 30 {
				return Reservation{}, err
			}
			pause = rand.N(100 * time.Millisecond)
		}
		select {
		case <-ctx.Done():
			return Reservation{}, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// reserve returns the number of a holder that the database will remember, or
// for how long to wait before it is asked again.
func (r *registry) reserve(ctx context.Context, holder string, us int64) (worker int64, pause time.Duration, err error) {
	values := r.values(request{holder: holder})
	// First the highest, then whether the holder has one: a process that takes one for the same holder in between takes this one.
	var highest sql.NullInt64
	s := r.engine.compile(selectUnused)
	if err := r.db.QueryRowContext(ctx, s.text, s.arguments(values)...).Scan(&highest); err != nil {
		return 0, 0, err
	}
	var owner sql.NullString
	var fence, claimed, ceiling int64
	s = r.engine.compile(selectReserved)
	err = r.db.QueryRowContext(ctx, s.text, s.arguments(values)...).Scan(&worker, &owner, &fence, &claimed, &ceiling)
	if errors.Is(err, sql.ErrNoRows) {
		if !highest.Valid {
			return 0, 0, ErrNoUnusedWorker
		}
		return 0, time.Millisecond, r.take(ctx, holder, highest.Int64)
	}
	if err != nil {
		return 0, 0, err
	}
	// The wait starts with what the database has for the time of the claim. A write that
	// finds the row unchanged is proof that the claim is remembered.
	if ready := (claimed+r.terms.probation.Milliseconds())*1000 + 1000; r.terms.loss > 0 && us < ready {
		return 0, time.Duration(ready-us) * time.Microsecond, nil
	}
	out := r.do(ctx, request{ask: askConfirm, worker: worker, owner: owner.String, fence: fence, state: Reserved, seen: ceiling})
	if out.err != nil {
		return 0, 0, out.err
	}
	if !out.changed {
		return 0, time.Millisecond, nil
	}
	return worker, 0, nil
}

// take reserves a number, if no other process was faster.
func (r *registry) take(ctx context.Context, holder string, worker int64) error {
	s := r.engine.compile(updateReserve)
	values := r.values(request{worker: worker, owner: newOwner(), holder: holder})
	_, _, err := r.update(ctx, s, values)
	return err
}
