//go:build linux

package zksnow

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow/internal/testkit/leasefaults"
	"github.com/shardsnow/snow/internal/testkit/zkserver"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestFaults(t *testing.T) {
	leasefaults.RunStore(t, openStore, func(t *testing.T) *leasefaults.StoreTarget {
		return &leasefaults.StoreTarget{
			Cluster: cluster{zkserver.Start(t, 3)},
			DSN: func(addrs []string, space string) string {
				return "zookeeper://" + strings.Join(addrs, ",") + "/" + space
			},
			Init: func(ctx context.Context, dsn string, ns sqlsnow.Namespace) error {
				return at(dsn, func(conn *zk.Conn, root string) error { return Init(ctx, conn, root, ns) })
			},
			Fence: func(ctx context.Context, dsn, namespace string) error {
				return at(dsn, func(conn *zk.Conn, root string) error { return Fence(ctx, conn, root, namespace) })
			},
			Executed: func(ctx context.Context, dsn, namespace string) (n int64, err error) {
				err = at(dsn, func(conn *zk.Conn, root string) error {
					r, err := open(ctx, conn, root, namespace)
					if err != nil {
						return err
					}
					rows, err := r.Workers(ctx)
					for _, row := range rows {
						n += row.Seq
					}
					return err
				})
				return n, err
			},
		}
	})
}

// openStore is what a worker process does.
func openStore(dsn string) (leasefaults.Acquire, error) { return openWith(dsn, 10*time.Second) }

func openWith(dsn string, timeout time.Duration) (leasefaults.Acquire, error) {
	conn, root, err := connect(dsn, timeout)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, cfg LeaseConfig) (leasefaults.Lease, error) {
		l, err := Acquire(ctx, conn, root, cfg)
		if err != nil {
			return nil, err
		}
		return l, nil
	}, nil
}

func connect(dsn string, timeout time.Duration) (conn *zk.Conn, root string, err error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, "", err
	}
	conn, _, err = zk.Connect(strings.Split(u.Host, ","), timeout, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	return conn, u.Path, err
}

func at(dsn string, do func(conn *zk.Conn, root string) error) error {
	conn, root, err := connect(dsn, 20*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	return do(conn, root)
}

// A cluster is an ensemble with faults.
type cluster struct{ *zkserver.Ensemble }

func (c cluster) KillLeader(tb testing.TB) (end func()) {
	leader := c.Leader(tb)
	leader.Kill(tb)
	return func() { leader.Restart(tb) }
}

func (c cluster) StopLeader(tb testing.TB) (end func()) {
	leader := c.Leader(tb)
	leader.Stop(tb)
	return func() {
		leader.Continue(tb)
		leader.Await(tb)
	}
}

func (c cluster) LoseMember(tb testing.TB) (end func()) {
	member := c.Followers(tb)[0]
	member.Kill(tb)
	member.Wipe(tb)
	return func() { member.Restart(tb) }
}

func (c cluster) LoseQuorum(tb testing.TB) (end func()) {
	lost := c.Followers(tb)
	for _, m := range lost {
		m.Kill(tb)
	}
	return func() {
		for _, m := range lost {
			m.Start(tb)
		}
		for _, m := range c.Members {
			m.Await(tb)
		}
	}
}

func (c cluster) RestoreCopy(tb testing.TB) (end func()) { return c.Copy(tb) }
