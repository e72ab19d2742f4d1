package store

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/etcdsnow"
	"github.com/shardsnow/snow/lease"
)

// An etcdCluster keeps worker numbers in etcd. Each call has its own deadline, because etcd does not answer without a
// majority.
type etcdCluster struct {
	place
	client  *clientv3.Client
	prefix  string
	timeout time.Duration
}

func openEtcd(c *database.Cluster, timeout time.Duration) (Store, error) {
	config, err := clusterTLS(c)
	if err != nil {
		return nil, err
	}
	cfg := clientv3.Config{
		TLS:       config,
		Endpoints: c.Addrs, Username: c.User, Password: c.Password, DialTimeout: timeout,
		DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 5 * time.Second, Logger: zap.NewNop(),
	}
	client, err := clientv3.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("the cluster does not answer: %w", err)
	}
	return &etcdCluster{place(c.Place()), client, c.Path, timeout}, nil
}

// Product implements Store.
func (e *etcdCluster) Product() string { return "etcd" }

// Init implements Store.
func (e *etcdCluster) Init(ctx context.Context, ns lease.Namespace) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	return etcdsnow.Init(ctx, e.client, e.prefix, ns)
}

// Namespaces implements page.Store.
func (e *etcdCluster) Namespaces(ctx context.Context, names ...string) ([]lease.Namespace, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	return etcdsnow.Namespaces(ctx, e.client, e.prefix, names...)
}

// Clock implements page.Store. etcd has none.
func (e *etcdCluster) Clock(context.Context) (time.Time, error) { return time.Time{}, nil }

// Workers implements page.Store.
func (e *etcdCluster) Workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	return etcdsnow.Workers(ctx, e.client, e.prefix, namespace)
}

// Fence implements Store.
func (e *etcdCluster) Fence(ctx context.Context, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	return etcdsnow.Fence(ctx, e.client, e.prefix, namespace)
}

// Acquire implements service.Numbers. Its caller bounds ctx.
func (e *etcdCluster) Acquire(ctx context.Context, cfg lease.Config) (*lease.Lease, error) {
	return etcdsnow.Acquire(ctx, e.client, e.prefix, cfg)
}

// Close ends the connections.
func (e *etcdCluster) Close() error { return e.client.Close() }
