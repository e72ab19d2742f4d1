package sqlsnow

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/retry"
)

// Fence makes it safe to lease worker numbers after a restore from a backup, when
// the database has forgotten windows that processes still use. It moves the
// ceiling of every number to the end of the longest window that could have been
// granted before the call. Processes that hold a number need not be stopped.
// Those whose window lasts two minutes more go on. In the last two minutes of a
// window, a clock can't tell whether somebody else had the number since, in
// history that the restore removed. So those processes lose the number
// ([Lapsed]), finish their window, and are like new ones. Until the longest
// window is over, new processes get a [*NoWorkerError], or wait for the number
// that they asked for.
//
// Call it after the restore, and let no Acquire reach the database before it has
// returned. If the namespace has a LossWindow, Fence returns when the database
// can't forget the new ceilings any more: after LossWindow plus one second. If ctx
// ends before, call it again.
//
// The ceilings are the longest window and 122 s beyond the database's clock or
// this process's, whichever is later. That covers every window if the clock of
// each process was within 30 s of the right time. The database's clock may have
// been wrong, then and now. Fence returns a [*ClockError] if it is more than 30 s
// from this process's clock. It also returns the errors of [Init].
func Fence(ctx context.Context, db *sql.DB, d Dialect, namespace string) error {
	if err := fence(ctx, db, d, namespace); err != nil {
		return fmt.Errorf("sqlsnow: fence namespace %q: %w", namespace, err)
	}
	return nil
}

func fence(ctx context.Context, db *sql.DB, d Dialect, namespace string) error {
	r, err := open(ctx, db, d, namespace)
	if err != nil {
		return err
	}
	info, err := r.Engine.Info(ctx, db)
	if err != nil {
		return databaseError(r.Engine, "fence", err)
	}
	if err := info.Check(r.Params.Loss); err != nil {
		return err
	}
	now := time.Now()
	if err := protocol.CheckClock(info.Now, now); err != nil {
		return exported(r.Engine, "fence", err)
	}
	for {
		n, err := r.Fence(ctx, now)
		if err != nil {
			return exported(r.Engine, "fence", err)
		}
		if n < r.Params.Workers {
			return fmt.Errorf("%d of %d numbers were fenced: %w", n, r.Params.Workers, dberrors.ErrRefused)
		}
		if r.Params.Loss == 0 {
			return nil
		}
		// A failover may lose these ceilings as well. The monotonic clock measures the wait, because a database's
		// clock can be set.
		if err := retry.Sleep(ctx, r.Params.Probation); err != nil {
			return err
		}
		if n, err = r.Fenced(ctx, now); err != nil {
			return exported(r.Engine, "fence", err)
		}
		if n == r.Params.Workers {
			return nil
		}
	}
}
