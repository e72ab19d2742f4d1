package sqlsnow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/registry"
	"github.com/shardsnow/snow/internal/retry"
	"github.com/shardsnow/snow/lease"
)

// A Reservation is a worker number that is never leased.
type Reservation = lease.Reservation

// Reserve takes the highest worker number that was never leased, and gives it to
// holder for ever. All of its ticks are the holder's, also ticks of the past, for
// example to give ids to rows that are older than the namespace. Another call
// with the same holder returns the same number, so use a holder's name for one
// purpose only. A name is 1 to 255 bytes of UTF-8 without control characters, and
// without a space at its end, which MySQL would ignore; any other name is a
// [*snow.FieldError].
//
// The caller must not make the same id twice with the number. If the namespace
// has a LossWindow, each call returns when the database can't forget the
// reservation any more: after LossWindow plus one second.
//
// If every number was leased, reserved or fenced before, Reserve returns a
// [*NoWorkerError] whose EarliestFree is zero. So a namespace that was fenced
// gives no number to a new holder: it may have forgotten reservations, and their
// holders get their numbers with [Reclaim]. Reserve returns [ErrNotMigrated] or
// [ErrNoNamespace] if something is missing, [ErrNotDurable] if the database may
// forget more than LossWindow, [ErrReadOnly] on a replica, and a
// [*DatabaseError] for other errors of the database.
func Reserve(ctx context.Context, db *sql.DB, d Dialect, namespace, holder string) (Reservation, error) {
	r, err := reserve(ctx, db, d, namespace, holder, func(ctx context.Context, r *registry.Reservation) (int64, time.Duration, error) {
		return r.Reserve(ctx, holder)
	})
	if err != nil {
		return r, fmt.Errorf("sqlsnow: reserve a worker of namespace %q: %w", namespace, err)
	}
	return r, nil
}

// Reclaim gives holder the worker number again that it had from [Reserve] in a
// namespace that has forgotten this, because its database was restored from a
// backup or it was made anew. It may be called before or after [Fence]. If the
// namespace has not forgotten the reservation, Reclaim returns it as Reserve does.
//
// worker must be the number that the holder had: nobody else ever got it, so
// Reclaim gives it back also if it was fenced, and at once.
//
// If the number was leased or reserved for another holder since, Reclaim returns a
// [*HeldError], whose Until is zero for a reservation. Then the holder must make
// no more ids with the number, and ids that it made since then may exist twice.
// Other errors are as for Reserve; a number that the namespace does not have is a
// [*snow.FieldError].
func Reclaim(ctx context.Context, db *sql.DB, d Dialect, namespace, holder string, worker uint64) (Reservation, error) {
	r, err := reserve(ctx, db, d, namespace, holder, func(ctx context.Context, r *registry.Reservation) (int64, time.Duration, error) {
		if worker >= uint64(r.Params.Workers) {
			return 0, 0, &snow.FieldError{Field: "worker", Value: fmt.Sprint(worker), Bound: fmt.Sprintf("the namespace has %d", r.Params.Workers)}
		}
		wait, err := r.Reclaim(ctx, holder, int64(worker))
		return int64(worker), wait, err
	})
	if err != nil {
		return r, fmt.Errorf("sqlsnow: reclaim worker %d of namespace %q: %w", worker, namespace, err)
	}
	return r, nil
}

// Reservable returns what [Reserve] would return now, and writes nothing: another process may take the number
// afterwards. It needs no right to write. It returns the errors of Reserve. With a [*NoWorkerError] it returns the
// namespace's layout and UUID too.
func Reservable(ctx context.Context, db *sql.DB, d Dialect, namespace, holder string) (Reservation, error) {
	r, err := open(ctx, db, d, namespace)
	if err == nil {
		var info dbserver.Info
		if info, err = r.Engine.Info(ctx, db); err == nil {
			err = info.Check(r.Params.Loss)
		}
	}
	if err != nil {
		return Reservation{}, fmt.Errorf("sqlsnow: look for a worker of namespace %q: %w", namespace, err)
	}
	worker, err := r.Reservable(ctx, holder)
	if err != nil {
		return Reservation{Layout: r.Params.Layout, UUID: r.Params.UUID}, fmt.Errorf("sqlsnow: look for a worker of namespace %q: %w", namespace, exported(r.Engine, "reserve", err))
	}
	return Reservation{Worker: uint64(worker), Layout: r.Params.Layout, UUID: r.Params.UUID}, nil
}

// An attempt returns a number, or how long to wait before the next one.
type attempt func(ctx context.Context, r *registry.Reservation) (worker int64, wait time.Duration, err error)

func reserve(ctx context.Context, db *sql.DB, d Dialect, namespace, holder string, try attempt) (Reservation, error) {
	if err := names.CheckHolder(holder); err != nil {
		return Reservation{}, err
	}
	r, err := open(ctx, db, d, namespace)
	if err != nil {
		return Reservation{}, err
	}
	reservation := &registry.Reservation{Registry: r}
	for tries := 0; ; tries++ {
		var wait time.Duration
		info, err := r.Engine.Info(ctx, db)
		if err == nil {
			if err := info.Check(r.Params.Loss); err != nil {
				return Reservation{}, err
			}
			var worker int64
			if worker, wait, err = try(ctx, reservation); err == nil && wait == 0 {
				return Reservation{Worker: uint64(worker), Layout: r.Params.Layout, UUID: r.Params.UUID}, nil
			}
		}
		if err != nil {
			if errors.As(err, new(*snow.FieldError)) {
				return Reservation{}, err
			}
			if !r.Engine.IsBusy(err) || tries >= retry.MaxTries {
				return Reservation{}, exported(r.Engine, "reserve", err)
			}
			wait = rand.N(100 * time.Millisecond)
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return Reservation{}, err
		}
	}
}
