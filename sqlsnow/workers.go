package sqlsnow

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/registry"
)

// A WorkerState says what a worker number is used for.
type WorkerState int

// The states.
const (
	Free     = WorkerState(protocol.Free)     // nobody has it; the next window begins at Ceiling or later
	Claimed  = WorkerState(protocol.Claimed)  // a process waits for its first window (LossWindow > 0)
	Granted  = WorkerState(protocol.Granted)  // a process has, or had, the window from Floor to Ceiling
	Reserved = WorkerState(protocol.Reserved) // never leased
)

// String returns "free", "claimed", "granted" or "reserved".
func (s WorkerState) String() string {
	names := [...]string{"free", "claimed", "granted", "reserved"}
	if s < 0 || int(s) >= len(names) {
		return "WorkerState(" + strconv.Itoa(int(s)) + ")"
	}
	return names[s]
}

// A WorkerInfo says who holds a worker number, and until when. Times are the
// database's.
type WorkerInfo struct {
	Worker uint64
	State  WorkerState
	Holder string    // see LeaseConfig.Holder; for a free number, the last holder
	Fence  int64     // how often the number was leased
	Floor  time.Time // the start of the last window; after Fence, the earliest start of the next one
	// its end: no id of this number is later. If it is past and the row is Granted, the holder is gone or can't reach
	// the database
	Ceiling time.Time
	Claimed time.Time // when the holder took the number; zero if nobody ever did
	Renewed time.Time // when the holder last wrote the row; zero if nobody ever did
	// if the number is granted and not renewed by then, its holder is late: it is gone or can't reach the database;
	// else zero
	RenewBy time.Time

	// Leasable is when another process can lease the number, if nobody renews or leases it before. A time that is past
	// means now. It is zero for a reserved number.
	Leasable time.Time
}

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
		all[i] = WorkerInfo{
			Worker: uint64(row.Number), State: WorkerState(row.State), Holder: row.Holder, Fence: row.Fence,
			Floor: r.Params.TimeOf(row.Floor), Ceiling: r.Params.TimeOf(row.Ceiling),
		}
		if row.Claimed != 0 {
			all[i].Claimed = time.UnixMilli(row.Claimed).UTC()
		}
		if row.Renewed != 0 {
			all[i].Renewed = time.UnixMilli(row.Renewed).UTC()
		}
		if row.State == protocol.Granted {
			all[i].RenewBy = all[i].Renewed.Add(r.Params.Late())
		}
		if row.State != protocol.Reserved {
			all[i].Leasable = r.Params.Leasable(row.State, row.Ceiling, row.Claimed).UTC()
		}
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
