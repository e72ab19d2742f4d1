//go:build linux

package zksnow

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/testkit/storetest"
	"github.com/shardsnow/snow/internal/testkit/zkserver"
	"github.com/shardsnow/snow/internal/versioned"
	"github.com/shardsnow/snow/lease"
)

func TestContract(t *testing.T) {
	conn := dial(t, zkserver.Start(t, 1).Addrs()...)
	storetest.Run(t, contract{conn, conn, DefaultRoot})
}

// A contract is this package with a root, and for leases a client that may be a wire.
type contract struct {
	conn  *zk.Conn
	wired client
	root  string
}

func (c contract) Init(ctx context.Context, ns lease.Namespace) error {
	return Init(ctx, c.conn, c.root, ns)
}

func (c contract) Namespaces(ctx context.Context, names ...string) ([]lease.Namespace, error) {
	return Namespaces(ctx, c.conn, c.root, names...)
}

func (c contract) open(ctx context.Context, namespace string) (*versioned.Registry, error) {
	r, err := versioned.Open(ctx, newStoreOf(c.wired, c.root), namespace, options)
	return r, exported("open", err)
}

func (c contract) Acquire(ctx context.Context, cfg lease.Config) (*lease.Lease, error) {
	if c.wired == c.conn {
		return Acquire(ctx, c.conn, c.root, cfg)
	}
	return lease.Acquire(ctx, "zksnow", cfg, func(ctx context.Context) (lease.Registry, protocol.Params, error) {
		r, err := c.open(ctx, cfg.Namespace)
		if err != nil {
			return nil, protocol.Params{}, err
		}
		return onRegistry{r}, r.Params, nil
	})
}

func (c contract) Workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error) {
	return Workers(ctx, c.conn, c.root, namespace)
}

func (c contract) Fence(ctx context.Context, namespace string) error {
	return Fence(ctx, c.conn, c.root, namespace)
}

func (c contract) Reserve(ctx context.Context, namespace, holder string) (lease.Reservation, error) {
	if c.wired == c.conn {
		return Reserve(ctx, c.conn, c.root, namespace, holder)
	}
	r, err := c.open(ctx, namespace)
	if err != nil {
		return lease.Reservation{}, err
	}
	worker, err := r.Reserve(ctx, holder)
	return lease.Reservation{Worker: uint64(worker)}, exported("reserve", err)
}

func (c contract) Reclaim(ctx context.Context, namespace, holder string, worker uint64) (lease.Reservation, error) {
	return Reclaim(ctx, c.conn, c.root, namespace, holder, worker)
}

func (c contract) At(root string) storetest.Client {
	return contract{c.conn, c.wired, c.root + "/" + root}
}

func (c contract) Wired(_ *testing.T, write func(send func() error) error) storetest.Client {
	return contract{c.conn, &multiWire{c.conn, write}, c.root}
}

// A multiWire stands between transactions and the servers.
type multiWire struct {
	client
	write func(send func() error) error
}

func (w *multiWire) Multi(ops ...any) (results []zk.MultiResponse, err error) {
	if lost := w.write(func() error { results, err = w.client.Multi(ops...); return err }); lost != nil && err == nil {
		return nil, lost
	}
	return results, err
}

func (c contract) Get(ctx context.Context, key string) ([]byte, error) {
	all, err := newStoreOf(c.conn, c.root).Get(ctx, key)
	if err == nil && all[0].Version == 0 {
		err = errors.New("no such key")
	}
	if err != nil {
		return nil, err
	}
	return all[0].Value, nil
}

func (c contract) Put(ctx context.Context, key string, value []byte) error {
	s := newStoreOf(c.conn, c.root)
	for {
		all, err := s.Get(ctx, key)
		if err != nil {
			return err
		}
		if done, err := s.Write(ctx, all, []versioned.Entry{{Key: key, Value: value}}); err != nil || done {
			return err
		}
	}
}

func (c contract) Delete(ctx context.Context, key string) error {
	s := newStoreOf(c.conn, c.root)
	all, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	_, err = c.conn.Multi(&zk.DeleteRequest{Path: s.path(key) + "/" + tag(all[0].Value), Version: -1}, &zk.DeleteRequest{Path: s.path(key), Version: -1})
	return err
}
