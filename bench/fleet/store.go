package fleet

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// The stores.
const (
	MariaDB    = "MariaDB"
	PostgreSQL = "PostgreSQL"
)

// A kind is a kind of store.
type kind struct {
	name string
	// start starts a server of the kind, with a namespace that has more numbers than the largest fleet
	start func(ctx context.Context, tb testing.TB, opts Options) (store, error)
}

// kinds returns the kinds with these names, or all.
func kinds(names []string) []kind {
	all := []kind{{MariaDB, mariadb.start}, {PostgreSQL, postgres.start}}
	return slices.DeleteFunc(all, func(k kind) bool { return len(names) > 0 && !slices.Contains(names, k.name) })
}

// A store is a server, with a namespace whose numbers are leased.
type store interface {
	version() string
	// acquire leases a number; told is called for what happens to the lease
	acquire(ctx context.Context, told func(sqlsnow.LeaseEvent)) (lease, error)
	processor() (time.Duration, error) // of the server, since it was started
	roundTrips() int64                 // of all connections
	kill(tb testing.TB)
	restart(tb testing.TB) error
	close()
}

// A lease is a lease of any store.
type lease interface {
	Close(ctx context.Context) error
}
