package fleet

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// The stores.
const (
	MariaDB    = "MariaDB"
	PostgreSQL = "PostgreSQL"
	Etcd       = "etcd"
	ZooKeeper  = "ZooKeeper"
)

// What all leases have in common.
const (
	name   = "fleet" // of the namespace
	holder = "a process of the fleet"
)

// namespace returns a namespace with more numbers than the largest fleet.
func (o Options) namespace() (sqlsnow.Namespace, error) {
	layout, err := snow.NewLayout(snow.DefaultLayout().Epoch(), snow.DefaultLayout().Tick(), snow.Bits{Timestamp: 41, Worker: 15, Sequence: 7})
	largest := int64(o.Sizes[len(o.Sizes)-1])
	return sqlsnow.Namespace{Name: name, Layout: layout, Workers: int(min(layout.Workers(), max(2048, largest*8/5))), Window: o.Window}, err
}

// interval returns how often the leases renew, without jitter.
func (o Options) interval() (time.Duration, error) {
	ns, err := o.namespace()
	if err != nil {
		return 0, err
	}
	p, err := ns.Params()
	return p.RenewEvery(p.Window), err
}

// A kind is a kind of store.
type kind struct {
	name string
	most int // leases of the largest fleet
	// start starts a server of the kind, with a namespace that has more numbers than the largest fleet
	start func(ctx context.Context, tb testing.TB, opts Options) (store, error)
}

// kinds returns the kinds with these names, or all.
func kinds(names []string) []kind {
	const most, few = 100_000, 5000 // etcd and ZooKeeper keep a cluster of three in step, on the same machine
	all := []kind{
		{MariaDB, most, mariadb.start}, {PostgreSQL, most, postgres.start}, {Etcd, few, startEtcd}, {ZooKeeper, few, startZooKeeper},
	}
	return slices.DeleteFunc(all, func(k kind) bool { return len(names) > 0 && !slices.Contains(names, k.name) })
}

// A store is a server, with a namespace whose numbers are leased.
type store interface {
	version() string
	// acquire leases a number; told is called for what happens to the lease
	acquire(ctx context.Context, told func(sqlsnow.LeaseEvent)) (lease, error)
	processor() (time.Duration, error) // of the servers, since they were started
	roundTrips() int64                 // of all connections; requests of etcd
	kill(tb testing.TB)
	restart(tb testing.TB) error
	close()
}

// A lease is a lease of any store.
type lease interface {
	Close(ctx context.Context) error
}
