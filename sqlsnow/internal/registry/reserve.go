package registry

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/shardsnow/snow/sqlsnow/internal/protocol"
)

// Reserve returns the number of a holder that the database will remember, or how long to wait before Reserve is called again.
// us is the database's clock. If every number was leased or fenced before, the error is a NoWorkerError without a time.
func (r *Registry) Reserve(ctx context.Context, holder string, us int64) (worker int64, wait time.Duration, err error) {
	values := r.values(protocol.Request{Holder: holder})
	// Read the highest number before the holder's own. If another process reserves a number for the same holder in between, it
	// reserves this one, and then the UPDATE below changes nothing.
	var highest sql.NullInt64
	s := compile(r.Engine, selectUnused)
	if err := r.DB.QueryRowContext(ctx, s.Text, s.Args(values)...).Scan(&highest); err != nil {
		return 0, 0, err
	}
	var owner sql.NullString
	var fence, claimed, ceiling int64
	s = compile(r.Engine, selectReserved)
	err = r.DB.QueryRowContext(ctx, s.Text, s.Args(values)...).Scan(&worker, &owner, &fence, &claimed, &ceiling)
	if errors.Is(err, sql.ErrNoRows) {
		if !highest.Valid {
			return 0, 0, &protocol.NoWorkerError{}
		}
		values := r.values(protocol.Request{Worker: highest.Int64, Owner: protocol.NewOwner(), Holder: holder})
		_, _, err := r.update(ctx, updateReserve, values) // changes nothing if another process was faster
		return 0, time.Millisecond, err
	}
	if err != nil {
		return 0, 0, err
	}
	// The wait starts at the time of the claim in the row. A write that finds the row
	// unchanged proves that the database remembers the claim.
	if ready := (claimed+r.Params.Probation.Milliseconds())*1000 + 1000; r.Params.Loss > 0 && us < ready {
		return 0, time.Duration(ready-us) * time.Microsecond, nil
	}
	out := r.Do(ctx, protocol.Request{
		Ask: protocol.AskConfirm, Worker: worker, Owner: owner.String, Fence: fence, State: protocol.Reserved, Seen: ceiling,
	})
	if out.Err != nil {
		return 0, 0, out.Err
	}
	if !out.Changed {
		return 0, time.Millisecond, nil
	}
	return worker, 0, nil
}

// Reservable returns the number that is the holder's, or that Reserve would take for it.
func (r *Registry) Reservable(ctx context.Context, holder string) (worker int64, err error) {
	values := r.values(protocol.Request{Holder: holder})
	var owner sql.NullString
	var fence, claimed, ceiling int64
	s := compile(r.Engine, selectReserved)
	err = r.DB.QueryRowContext(ctx, s.Text, s.Args(values)...).Scan(&worker, &owner, &fence, &claimed, &ceiling)
	if !errors.Is(err, sql.ErrNoRows) {
		return worker, err
	}
	var highest sql.NullInt64
	s = compile(r.Engine, selectUnused)
	if err := r.DB.QueryRowContext(ctx, s.Text, s.Args(values)...).Scan(&highest); err != nil {
		return 0, err
	}
	if !highest.Valid {
		return 0, &protocol.NoWorkerError{}
	}
	return highest.Int64, nil
}
