package sqlsnow

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/leases"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/registry"
	"github.com/shardsnow/snow/lease"
)

// A WorkerState says what a worker number is used for.
type WorkerState = lease.WorkerState

// The states.
const (
	Free     = lease.Free     // nobody has it; the next window begins at Ceiling or later
	Claimed  = lease.Claimed  // a process waits for its first window (LossWindow > 0)
	Granted  = lease.Granted  // a process has, or had, the window from Floor to Ceiling
	Reserved = lease.Reserved // never leased
)

// A WorkerInfo says who holds a worker number, and until when. Times are the
// database's.
type WorkerInfo = lease.WorkerInfo

// Workers returns all worker numbers of a namespace, in ascending order. It
// takes no lock and may be called at any time. It returns the errors of [Acquire].
func Workers(ctx context.Context, db *sql.DB, d Dialect, namespace string) ([]WorkerInfo, error) {
	all, err := workers(ctx, db, d, namespace)
	if err != nil {
		return nil, fmt.Errorf("sqlsnow: workers of namespace %q: %w", namespace, err)
	}
	return all, nil
}

func workers(ctx context.Context, db *sql.DB, d Dialect, namespace string) ([]WorkerInfo, error) {
	r, err := open(ctx, db, d, namespace)
	if err != nil {
		return nil, err
	}
	rows, err := r.Workers(ctx)
	if err != nil {
		return nil, databaseError(r.Engine, "workers", err)
	}
	all := make([]WorkerInfo, len(rows))
	for i, row := range rows {
		all[i] = leases.Info(&r.Params, row.Number, protocol.Row{
			State: row.State, Fence: row.Fence, Floor: row.Floor, Ceiling: row.Ceiling, Claimed: row.Claimed, Holder: row.Holder,
		}, row.Renewed)
	}
	return all, nil
}

// open reads the constants of a namespace.
func open(ctx context.Context, db *sql.DB, d Dialect, namespace string) (*registry.Registry, error) {
	r, _, err := greet(ctx, db, d, namespace)
	return r, err
}

// greet is open, and returns what the server said about itself before.
func greet(ctx context.Context, db *sql.DB, d Dialect, namespace string) (*registry.Registry, dbserver.Info, error) {
	if err := names.Check("namespace", namespace); err != nil {
		return nil, dbserver.Info{}, err
	}
	e, info, err := engine(ctx, db, d)
	if err != nil {
		return nil, dbserver.Info{}, err
	}
	p, err := registry.Read(ctx, e, db, namespace)
	if err != nil {
		return nil, dbserver.Info{}, exported(e, "read the namespace", err)
	}
	return &registry.Registry{DB: db, Engine: e, Params: p}, info, nil
}

// engine returns the engine of a dialect for the schema of the pool's tables, and what the server says about itself.
func engine(ctx context.Context, db *sql.DB, d Dialect) (*dbserver.Engine, dbserver.Info, error) {
	e, err := dbserver.For(d)
	if err != nil {
		return nil, dbserver.Info{}, err
	}
	info, err := e.Info(ctx, db)
	if err == nil && info.Unmigrated {
		return nil, info, ErrNotMigrated
	}
	if err != nil {
		return nil, info, checkDialect(ctx, db, d, exported(e, "open", err))
	}
	return e.In(info), info, nil
}
