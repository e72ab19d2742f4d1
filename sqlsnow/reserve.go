package sqlsnow

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow/internal/dbserver"
)

// A Reservation is a worker number that is never leased.
type Reservation struct {
	Worker uint64
	Layout snow.Layout // of the namespace
}

// Reserve takes the highest worker number that was never leased, and gives it to
// holder for ever. All of its ticks are the holder's, also those of the past, for
// example to give ids to rows that are older than the namespace. Another call
// with the same holder returns the same number, so use a holder's name for one
// purpose only. A name is 1 to 255 bytes of UTF-8 without control characters, and
// without a space at its end, which MySQL would ignore; any other name is a
// [*snow.FieldError].
//
// The caller must not make the same id twice with the number. If the namespace
// has a LossWindow, Reserve returns when the database can't forget the
// reservation any more: after LossWindow plus one second.
//
// If every number was leased or fenced before, Reserve returns a
// [*NoWorkerError] whose EarliestFree is zero. It returns [ErrNotMigrated] or
// [ErrNoNamespace] if something is missing, [ErrNotDurable] if the database may
// forget more than LossWindow, [ErrReadOnly] on a replica, and a
// [*DatabaseError] for other errors of the database.
func Reserve(ctx context.Context, db *sql.DB, d Dialect, namespace, holder string) (Reservation, error) {
	r, err := reserve(ctx, db, d, namespace, holder)
	if err != nil {
		return r, fmt.Errorf("sqlsnow: reserve a worker of namespace %q: %w", namespace, err)
	}
	return r, nil
}

// Reservable returns what [Reserve] would return now, and writes nothing: another process may take the number afterwards. It
// needs no right to write. Its errors are those of Reserve.
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
		return Reservation{}, fmt.Errorf("sqlsnow: look for a worker of namespace %q: %w", namespace, exported(r.Engine, "reserve", err))
	}
	return Reservation{uint64(worker), r.Params.Layout}, nil
}

func reserve(ctx context.Context, db *sql.DB, d Dialect, namespace, holder string) (Reservation, error) {
	if holder == "" || len(holder) > 255 || !utf8.ValidString(holder) || strings.ContainsFunc(holder, unicode.IsControl) || strings.HasSuffix(holder, " ") {
		return Reservation{}, &snow.FieldError{
			Field: "holder", Value: fmt.Sprintf("%q", holder[:min(len(holder), 80)]),
			Bound: "want 1 to 255 bytes of UTF-8 without control characters, and no space at the end",
		}
	}
	r, err := open(ctx, db, d, namespace)
	if err != nil {
		return Reservation{}, err
	}
	for tries := 0; ; tries++ {
		var wait time.Duration
		info, err := r.Engine.Info(ctx, db)
		if err == nil {
			if err := info.Check(r.Params.Loss); err != nil {
				return Reservation{}, err
			}
			var worker int64
			if worker, wait, err = r.Reserve(ctx, holder, info.Now); err == nil && wait == 0 {
				return Reservation{uint64(worker), r.Params.Layout}, nil
			}
		}
		if err != nil {
			if !r.Engine.IsBusy(err) || tries >= dbserver.MaxTries {
				return Reservation{}, exported(r.Engine, "reserve", err)
			}
			wait = rand.N(100 * time.Millisecond)
		}
		if err := dbserver.Sleep(ctx, wait); err != nil {
			return Reservation{}, err
		}
	}
}
