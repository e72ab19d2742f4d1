package sqlsnow

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/registry"
	"github.com/shardsnow/snow/internal/retry"
	"github.com/shardsnow/snow/lease"
)

// A Namespace is one space of ids. Its worker numbers are leased to the
// processes that make the ids. Tables that share keys need the same namespace:
// ids of two namespaces can be equal.
type Namespace = lease.Namespace

// Init makes a namespace, with a row for each of its worker numbers. If it
// exists with the same constants, Init makes the rows that are missing and
// returns nil, so every process may call it when it starts. If it exists with
// other constants, Init returns [ErrNamespaceMismatch].
//
// If the namespace exists, or some of its rows that were in use, then missing
// rows were deleted, and processes may still use their windows: Init makes the
// rows so that nobody can lease them before the longest window is over. If the
// namespace is gone with all of its rows, Init can't tell that it existed. If
// processes may still use it, call [Fence] right after Init.
//
// Init returns [ErrNotDurable] if the database may forget more than LossWindow of
// what it has confirmed, by its settings (innodb_flush_log_at_trx_commit,
// sync_binlog if the binary log is on, fsync, PRAGMA synchronous) or by the kind of
// a table (MyISAM, MEMORY, UNLOGGED, a view); a [*snow.FieldError] if a field is out
// of bounds; [ErrNotMigrated] without the tables, [ErrReadOnly] on a replica, a
// [*ClockError] if it has to make deleted rows and the clocks are more than 30 s
// apart, and a [*DatabaseError] for any other error of the database.
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
	want, err := ns.Params()
	if err != nil {
		return err
	}
	info, err := e.Info(ctx, db)
	if err != nil {
		return checkDialect(ctx, db, d, exported(e, "init", err))
	}
	e = e.In(info)
	if err := info.Check(want.Loss); err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		err := registry.Create(ctx, e, db, want, info.Now)
		if !e.IsBusy(err) || tries == retry.MaxTries || retry.Pause(ctx, 100*time.Millisecond) != nil {
			return exported(e, "init", err)
		}
	}
}
