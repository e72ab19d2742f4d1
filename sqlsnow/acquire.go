package sqlsnow

import (
	"context"
	"database/sql"
	"time"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/registry"
	"github.com/shardsnow/snow/internal/retry"
	"github.com/shardsnow/snow/lease"
)

// The types of package lease, which runs leases for every kind of store.
type (
	// A Lease is the right to make ids with a worker number that nobody else has
	// in the same ticks: a [snow.Worker]. It renews itself until Close.
	Lease = lease.Lease

	// LeaseConfig configures [Acquire] and [Open]. All but Namespace may be zero.
	LeaseConfig = lease.Config

	// LeaseStats says how a lease is doing.
	LeaseStats = lease.Stats

	// A LeaseEvent is something that happened to a lease: see LeaseConfig.OnEvent.
	LeaseEvent = lease.Event

	// EventKind is what happened to a lease.
	EventKind = lease.EventKind
)

// The kinds of events.
const (
	Acquired = lease.Acquired // the first window is durable
	Renewed  = lease.Renewed  // a renewal succeeded
	Failed   = lease.Failed   // a statement or an attempt failed, and another one follows
	Lost     = lease.Lost     // the number is lost, for the reason of a [*LostError]
	Swapped  = lease.Swapped  // another number is held, and ids go on
	Ended    = lease.Ended    // no id can be made any more: see [Lease.Err]
)

// Acquire leases a worker number and returns when its first window is durable.
// The lease then renews itself in the background; ctx only bounds the call.
//
// If no number is free, Acquire returns a [*NoWorkerError], or waits until ctx ends
// if LeaseConfig.Wait is set. For a certain number (LeaseConfig.Worker) it always
// waits, and then returns a [*HeldError].
// It returns a [*ClockError] if the database's clock can't be trusted,
// [ErrNotDurable] if settings allow the database to lose what it confirmed,
// [ErrNotMigrated] or [ErrNoNamespace] if something is missing, a
// [*snow.FieldError] if a field is out of bounds, and a [*DatabaseError] for
// other errors of the database. If ctx ends while a statement is under way, the
// database may still execute it. Then nobody can lease that number for one
// window.
func Acquire(ctx context.Context, db *sql.DB, d Dialect, cfg LeaseConfig) (*Lease, error) {
	return lease.Acquire(ctx, "sqlsnow", cfg, func(ctx context.Context) (lease.Registry, protocol.Params, error) {
		e, err := dbserver.For(d)
		if err != nil {
			return nil, protocol.Params{}, err
		}
		r, hello, err := greet(ctx, db, d, cfg.Namespace)
		for tries := 0; e.IsBusy(err) && tries < retry.MaxTries && retry.Pause(ctx, 100*time.Millisecond) == nil; tries++ {
			r, hello, err = greet(ctx, db, d, cfg.Namespace)
		}
		if err != nil {
			return nil, protocol.Params{}, err
		}
		return &onRegistry{r, &hello}, r.Params, nil
	})
}

// onRegistry is the registry of a lease.
type onRegistry struct {
	registry *registry.Registry
	hello    *dbserver.Info // what the server said about itself when the namespace was opened, until it is used
}

// Do implements lease.Registry. The first request of a lease would ask the server what it has said already.
func (l *onRegistry) Do(ctx context.Context, q protocol.Request) protocol.Reply {
	if hello := l.hello; hello != nil && q.Ask == protocol.AskServer {
		l.hello = nil
		return l.registry.Greeting(*hello, l.registry.Params.UUID)
	}
	r := l.registry.Do(ctx, q)
	if r.Err != nil {
		r.Err = exported(l.registry.Engine, q.Ask.String(), r.Err)
		r.Failure = failureOf(l.registry.Engine, r.Err)
	}
	return r
}

// Explain implements lease.Registry.
func (l *onRegistry) Explain(op string, err error) error { return decided(l.registry.Engine, op, err) }

// IsBusy implements lease.Registry.
func (l *onRegistry) IsBusy(err error) bool { return l.registry.Engine.IsBusy(err) }
