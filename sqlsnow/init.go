package sqlsnow

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/shardsnow/snow/sqlsnow/internal/dbserver"
	"github.com/shardsnow/snow/sqlsnow/internal/registry"
)

// Init makes a namespace, with a row for each of its worker numbers. Where it
// exists already with the same constants, Init makes the rows that are missing
// and returns nil: so every process may call it at its start. With others it
// returns [ErrNamespaceMismatch].
//
// Rows that are missing in a namespace that is there, or whose other rows are,
// were deleted while their windows may go on: they are made so that nobody gets
// them before the longest window is over. Of a namespace that is gone with all of
// its rows the database knows nothing: call [Fence] right after Init where it is
// made again and processes may still use it.
//
// A database that may forget what it has confirmed, by its settings of
// innodb_flush_log_at_trx_commit, sync_binlog (where the binary log is on),
// fsync or PRAGMA synchronous, for longer than LossWindow allows, is
// [ErrNotDurable]. A field out of bounds is a [*snow.FieldError]; without the
// tables it is [ErrNotMigrated], and on a replica [ErrReadOnly]. Any other
// error of the database is a [*DatabaseError].
func Init(ctx context.Context, db *sql.DB, d Dialect, ns Namespace) error {
	if err := initNamespace(ctx, db, d, ns); err != nil {
		return fmt.Errorf("sqlsnow: init namespace %q: %w", ns.Name, err)
	}
	return nil
}

func initNamespace(ctx context.Context, db *sql.DB, d Dialect, ns Namespace) error {
	e, err := dbserver.For(d)
	if err != nil {
		return err
	}
	want, err := ns.params()
	if err != nil {
		return err
	}
	info, err := e.Info(ctx, db)
	if err != nil {
		return checkDialect(ctx, db, d, databaseError(e, "init", err))
	}
	if err := info.Check(want.Loss); err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		err := registry.Create(ctx, e, db, want, info.Now)
		if !e.IsBusy(err) || tries == dbserver.MaxTries || dbserver.Pause(ctx, 100*time.Millisecond) != nil {
			return exported(e, "init", err)
		}
	}
}
