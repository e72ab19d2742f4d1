package versioned

import (
	"context"

	"github.com/shardsnow/snow/internal/protocol"
)

// Reserve returns the number of a holder for ever: the one that it has, or the highest that was never used. If every
// number was leased or fenced before, the error is a NoWorkerError without a time.
func (r *Registry) Reserve(ctx context.Context, holder string) (int64, error) {
	for range tries {
		worker, reserved, err := r.reservable(ctx, holder)
		if err != nil {
			return 0, err
		}
		if !reserved {
			var done bool
			if done, err = r.claim(ctx, holder, worker, 0); err != nil {
				return 0, err
			}
			reserved = done
		}
		if reserved {
			return worker, nil
		}
	}
	return 0, ErrBusy
}

// Reservable returns the number that Reserve would return, and writes nothing.
func (r *Registry) Reservable(ctx context.Context, holder string) (int64, error) {
	worker, _, err := r.reservable(ctx, holder)
	return worker, err
}

// reservable returns the number that is reserved for the holder, or the highest unused one. Pages are read in ascending
// order, and unused numbers are taken from the highest down. So if another process reserves a number for the same
// holder meanwhile, it is this one, or in a page that is read later.
func (r *Registry) reservable(ctx context.Context, holder string) (worker int64, reserved bool, err error) {
	rows, err := r.list(ctx, 0, r.Params.Workers)
	if err != nil {
		return 0, false, err
	}
	own, highest, used := int64(-1), int64(-1), 0
	for _, n := range rows {
		switch {
		case n.err != nil:
			return 0, false, n.err
		case n.row.State == protocol.Reserved && n.row.Holder == holder:
			own = n.worker
		case n.row.State == protocol.Free && n.row.Fence == 0 && n.row.Ceiling == 0:
			highest = n.worker
		}
		if n.row.State != protocol.Reserved {
			used++
		}
	}
	switch {
	case own >= 0:
		return own, true, nil
	case highest >= 0:
		return highest, false, nil
	}
	c, err := r.census(ctx)
	if err != nil {
		return 0, false, err
	}
	return 0, false, &protocol.NoWorkerError{Live: int(c.Live), Cooling: int(c.All - c.Live)}
}

// Reclaim reserves a certain number for a holder, also if it was fenced. If it was leased, or is another holder's, the
// error is a HeldError.
func (r *Registry) Reclaim(ctx context.Context, holder string, worker int64) error {
	for range tries {
		_, row, ok, err := r.fetch(ctx, worker)
		switch {
		case err != nil:
			return err
		case !ok:
			return &protocol.LostError{Worker: uint64(worker), Reason: protocol.Vanished}
		case row.State == protocol.Reserved && row.Holder == holder:
			return nil
		case row.State == protocol.Reserved:
			return &protocol.HeldError{Worker: uint64(worker), Holder: row.Holder}
		case row.State != protocol.Free || row.Fence != 0:
			return &protocol.HeldError{Worker: uint64(worker), Holder: row.Holder, Until: r.Params.TimeOf(row.Ceiling)}
		}
		if done, err := r.claim(ctx, holder, worker, row.Ceiling); err != nil || done {
			return err
		}
	}
	return ErrBusy
}

// claim reserves a number whose ceiling is as it was seen. It changes nothing if another process was faster.
func (r *Registry) claim(ctx context.Context, holder string, worker, seen int64) (done bool, err error) {
	out, err := r.update(ctx, worker, func(row *Row, us int64) (bool, error) { return reserve(row, holder, seen, us), nil })
	return out.Changed, err
}
