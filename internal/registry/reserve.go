package registry

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/shardsnow/snow/internal/protocol"
)

// A Reservation is a call that reserves a number. Its methods are called again and again, until none says how long
// to wait.
type Reservation struct {
	*Registry
	owner string    // of the row that was confirmed last
	since time.Time // when it was confirmed first
}

// Reserve returns the number of a holder that the database will remember, or how long to wait before Reserve is
// called again. If every number was leased or fenced before, the error is a NoWorkerError without a time.
func (r *Reservation) Reserve(ctx context.Context, holder string) (worker int64, wait time.Duration, err error) {
	// Read the highest number before the holder's own. If another process reserves a number for the same holder in
	// between, it reserves this one, and then the UPDATE below changes nothing.
	highest, err := r.highestUnused(ctx)
	none := new(protocol.NoWorkerError)
	if err != nil && !errors.As(err, &none) {
		return 0, 0, err
	}
	values := r.values(protocol.Request{Holder: holder})
	var row protocol.Row
	var owner sql.NullString
	s := compile(r.Engine, selectReserved)
	err = r.DB.QueryRowContext(ctx, s.Text, s.Args(values)...).Scan(&worker, &owner, &row.Fence, &row.Ceiling)
	if errors.Is(err, sql.ErrNoRows) {
		if highest < 0 {
			return 0, 0, none
		}
		return 0, time.Millisecond, r.claim(ctx, holder, highest, 0)
	}
	if err != nil {
		return 0, 0, err
	}
	row.Owner = owner.String
	return r.confirm(ctx, worker, row)
}

// Reclaim does the same for a certain number, which may have been fenced. If it was leased, or is another holder's,
// the error is a HeldError.
func (r *Reservation) Reclaim(ctx context.Context, holder string, worker int64) (wait time.Duration, err error) {
	out := r.Do(ctx, protocol.Request{Ask: protocol.AskRow, Worker: worker})
	switch row := out.Row; {
	case out.Err != nil:
		return 0, out.Err
	case row == nil:
		return 0, &protocol.LostError{Worker: uint64(worker), Reason: protocol.Vanished}
	case row.State == protocol.Reserved && row.Holder == holder:
		_, wait, err = r.confirm(ctx, worker, *row)
		return wait, err
	case row.State == protocol.Reserved:
		return 0, &protocol.HeldError{Worker: uint64(worker), Holder: row.Holder}
	case row.State != protocol.Free || row.Fence != 0:
		return 0, &protocol.HeldError{Worker: uint64(worker), Holder: row.Holder, Until: r.Params.TimeOf(row.Ceiling)}
	default:
		return time.Millisecond, r.claim(ctx, holder, worker, row.Ceiling)
	}
}

// claim changes nothing if another process was faster.
func (r *Registry) claim(ctx context.Context, holder string, worker, ceiling int64) error {
	return r.update(ctx, updateReserve, r.values(protocol.Request{Worker: worker, Owner: protocol.NewOwner(), Holder: holder, Seen: ceiling}), new(protocol.Reply))
}

// confirm returns the number of a row that is reserved, or how long to wait. A write that finds the row unchanged
// proves that the database has the claim; a second one, after the probation, that no failover can lose it. The
// monotonic clock measures the probation, because the database's clock can be set.
func (r *Reservation) confirm(ctx context.Context, worker int64, row protocol.Row) (int64, time.Duration, error) {
	left := r.Params.Probation - time.Since(r.since)
	if row.Owner == r.owner && left > 0 {
		return 0, left, nil
	}
	out := r.Do(ctx, protocol.Request{
		Ask: protocol.AskConfirm, Worker: worker, Owner: row.Owner, Fence: row.Fence, State: protocol.Reserved, Seen: row.Ceiling,
	})
	switch {
	case out.Err != nil:
		return 0, 0, out.Err
	case !out.Changed:
		return 0, time.Millisecond, nil
	case r.Params.Loss > 0 && row.Owner != r.owner:
		r.owner, r.since = row.Owner, time.Now()
		return 0, r.Params.Probation, nil
	}
	return worker, 0, nil
}

// highestUnused returns the highest number that was never leased or fenced, or -1 and a NoWorkerError.
func (r *Registry) highestUnused(ctx context.Context) (int64, error) {
	var highest sql.NullInt64
	s := compile(r.Engine, selectUnused)
	if err := r.DB.QueryRowContext(ctx, s.Text, s.Args(r.values(protocol.Request{}))...).Scan(&highest); err != nil || highest.Valid {
		return highest.Int64, err
	}
	out := r.Do(ctx, protocol.Request{Ask: protocol.AskCensus})
	if out.Err != nil {
		return -1, out.Err
	}
	return -1, &protocol.NoWorkerError{Live: int(out.Census.Live), Cooling: int(out.Census.All - out.Census.Live)}
}

// Reservable returns the number that is the holder's, or that Reserve would take for it.
func (r *Registry) Reservable(ctx context.Context, holder string) (worker int64, err error) {
	values := r.values(protocol.Request{Holder: holder})
	var owner sql.NullString
	var fence, ceiling int64
	s := compile(r.Engine, selectReserved)
	err = r.DB.QueryRowContext(ctx, s.Text, s.Args(values)...).Scan(&worker, &owner, &fence, &ceiling)
	if !errors.Is(err, sql.ErrNoRows) {
		return worker, err
	}
	return r.highestUnused(ctx)
}
