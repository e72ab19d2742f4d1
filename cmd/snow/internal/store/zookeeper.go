package store

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/lease"
	"github.com/shardsnow/snow/zksnow"
)

// A zooKeeper keeps worker numbers in ZooKeeper. Each call has its own deadline, because ZooKeeper does not answer
// without a majority.
type zooKeeper struct {
	place
	conn    *zk.Conn
	root    string
	timeout time.Duration
}

// noLog is a log of the client that nobody reads: errors of calls say the same.
type noLog struct{}

func (noLog) Printf(string, ...any) {}

// openZooKeeper connects in the background. A user is an account of the scheme digest.
func openZooKeeper(c *database.Cluster, timeout time.Duration) (Store, error) {
	config, err := clusterTLS(c)
	if err != nil {
		return nil, err
	}
	dial := net.DialTimeout
	if config != nil {
		dial = func(network, addr string, timeout time.Duration) (net.Conn, error) {
			return tls.DialWithDialer(&net.Dialer{Timeout: timeout}, network, addr, config)
		}
	}
	conn, _, err := zk.Connect(c.Addrs, 10*time.Second, zk.WithLogger(noLog{}), zk.WithLogInfo(false), zk.WithDialer(dial))
	if err != nil {
		return nil, fmt.Errorf("the servers do not answer: %w", err)
	}
	z := &zooKeeper{place: place(c.Place()), conn: conn, timeout: timeout}
	if c.Path != "" {
		z.root = "/" + c.Path
	}
	if c.User == "" {
		return z, nil
	}
	// The client has no context: it answers when it has a session, or is closed.
	added := make(chan error, 1)
	go func() { added <- conn.AddAuth("digest", []byte(c.User+":"+c.Password)) }()
	select {
	case err = <-added:
	case <-time.After(timeout):
		err = context.DeadlineExceeded
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("the servers do not answer: %w", err)
	}
	return z, nil
}

// Product implements Store.
func (z *zooKeeper) Product() string { return "ZooKeeper" }

// Init implements Store.
func (z *zooKeeper) Init(ctx context.Context, ns lease.Namespace) error {
	ctx, cancel := context.WithTimeout(ctx, z.timeout)
	defer cancel()
	return zksnow.Init(ctx, z.conn, z.root, ns)
}

// Namespaces implements page.Store.
func (z *zooKeeper) Namespaces(ctx context.Context, names ...string) ([]lease.Namespace, error) {
	ctx, cancel := context.WithTimeout(ctx, z.timeout)
	defer cancel()
	return zksnow.Namespaces(ctx, z.conn, z.root, names...)
}

// Clock implements page.Store.
func (z *zooKeeper) Clock(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, z.timeout)
	defer cancel()
	return zksnow.Clock(ctx, z.conn, z.root)
}

// Workers implements page.Store.
func (z *zooKeeper) Workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, z.timeout)
	defer cancel()
	return zksnow.Workers(ctx, z.conn, z.root, namespace)
}

// Fence implements Store.
func (z *zooKeeper) Fence(ctx context.Context, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, z.timeout)
	defer cancel()
	return zksnow.Fence(ctx, z.conn, z.root, namespace)
}

// Acquire implements service.Numbers. Its caller bounds ctx.
func (z *zooKeeper) Acquire(ctx context.Context, cfg lease.Config) (*lease.Lease, error) {
	return zksnow.Acquire(ctx, z.conn, z.root, cfg)
}

// Close ends the session.
func (z *zooKeeper) Close() error {
	z.conn.Close()
	return nil
}
