package fleet

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow/internal/testkit/zkserver"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/zksnow"
)

// A zkStore is an ensemble of three members, and a few clients.
type zkStore struct {
	ensemble *zkserver.Ensemble
	clients  [pools]*zk.Conn
	trips    trips
	next     atomic.Int64
}

func startZooKeeper(ctx context.Context, tb testing.TB, opts Options) (store, error) {
	z := &zkStore{ensemble: zkserver.Start(tb, 3)}
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		return z.trips.dial(ctx, network, address)
	}
	for i := range z.clients {
		var err error
		z.clients[i], _, err = zk.Connect(z.ensemble.Addrs(), 10*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false), zk.WithDialer(dial))
		if err != nil {
			return nil, err
		}
	}
	ns, err := opts.namespace()
	if err == nil {
		err = zksnow.Init(ctx, z.clients[0], "", ns)
	}
	if err != nil {
		z.close()
		return nil, err
	}
	return z, nil
}

// silent drops what the client says.
type silent struct{}

func (silent) Printf(string, ...any) {}

func (z *zkStore) version() string { return "ZooKeeper of Debian 12, three members" }

func (z *zkStore) acquire(ctx context.Context, told func(sqlsnow.LeaseEvent)) (lease, error) {
	return zksnow.Acquire(ctx, z.clients[z.next.Add(1)%pools], "", zksnow.LeaseConfig{
		Namespace: name, Wait: true, Holder: holder, Logger: slog.New(slog.DiscardHandler),
		OnEvent: func(_ context.Context, event sqlsnow.LeaseEvent) { told(event) },
	})
}

func (z *zkStore) processor() (time.Duration, error) {
	pids := make([]int, len(z.ensemble.Members))
	for i, m := range z.ensemble.Members {
		pids[i] = m.Pid()
	}
	return processorTimes(pids...)
}

func (z *zkStore) roundTrips() int64 { return z.trips.n.Load() }

func (z *zkStore) kill(tb testing.TB) {
	for _, m := range z.ensemble.Members {
		m.Kill(tb)
	}
}

func (z *zkStore) restart(tb testing.TB) error {
	for _, m := range z.ensemble.Members {
		m.Start(tb)
	}
	for _, m := range z.ensemble.Members {
		m.Await(tb)
	}
	return nil
}

func (z *zkStore) close() {
	for _, c := range z.clients {
		if c != nil {
			c.Close()
		}
	}
}
