package sqlsnow

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/shardsnow/snow/sqlsnow/internal/dberrors"
	"github.com/shardsnow/snow/sqlsnow/internal/protocol"
)

// Fence makes it safe to lease worker numbers after a restore from a backup, when
// the database has forgotten windows that processes still use. It moves the
// ceiling of every number to the end of the longest window that could have been
// granted before the call. Processes that hold a number go on and need not be
// stopped. Until that window is over, new processes get a [*NoWorkerError], or
// wait for the number that they asked for.
//
// Call it after the restore, before the first Acquire reaches the database. It
// uses the database's clock, and returns a [*ClockError] if that is more than
// 30 s from this process's clock. Its other errors are those of [Init].
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
	if err := protocol.CheckClock(info.Now, time.Now()); err != nil {
		return exported(r.Engine, "fence", err)
	}
	n, err := r.Fence(ctx)
	if err != nil {
		return exported(r.Engine, "fence", err)
	}
	if n < r.Params.Workers {
		return fmt.Errorf("%d of %d numbers were fenced: %w", n, r.Params.Workers, dberrors.ErrRefused)
	}
	return nil
}
