//go:build unix

package etcdtest

import (
	"context"
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/shardsnow/snow/etcdsnow"
	"github.com/shardsnow/snow/internal/testkit/storetest"
	"github.com/shardsnow/snow/lease"
)

func TestContract(t *testing.T) { storetest.Run(t, contract{Start(t).Client, "snow"}) }

// A contract is etcdsnow with a prefix.
type contract struct {
	*clientv3.Client
	prefix string
}

func (c contract) Init(ctx context.Context, ns lease.Namespace) error {
	return etcdsnow.Init(ctx, c.Client, c.prefix, ns)
}

func (c contract) Namespaces(ctx context.Context, names ...string) ([]lease.Namespace, error) {
	return etcdsnow.Namespaces(ctx, c.Client, c.prefix, names...)
}

func (c contract) Acquire(ctx context.Context, cfg lease.Config) (*lease.Lease, error) {
	return etcdsnow.Acquire(ctx, c.Client, c.prefix, cfg)
}

func (c contract) Workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error) {
	return etcdsnow.Workers(ctx, c.Client, c.prefix, namespace)
}

func (c contract) Fence(ctx context.Context, namespace string) error {
	return etcdsnow.Fence(ctx, c.Client, c.prefix, namespace)
}

func (c contract) Reserve(ctx context.Context, namespace, holder string) (lease.Reservation, error) {
	return etcdsnow.Reserve(ctx, c.Client, c.prefix, namespace, holder)
}

func (c contract) Reclaim(ctx context.Context, namespace, holder string, worker uint64) (lease.Reservation, error) {
	return etcdsnow.Reclaim(ctx, c.Client, c.prefix, namespace, holder, worker)
}

func (c contract) At(root string) storetest.Client { return contract{c.Client, c.prefix + "/" + root} }

func (c contract) Get(ctx context.Context, key string) ([]byte, error) {
	reply, err := c.Client.Get(ctx, c.prefix+"/"+key)
	if err != nil || len(reply.Kvs) != 1 {
		return nil, errors.Join(err, errors.New("no such key"))
	}
	return reply.Kvs[0].Value, nil
}

func (c contract) Put(ctx context.Context, key string, value []byte) error {
	_, err := c.Client.Put(ctx, c.prefix+"/"+key, string(value))
	return err
}

func (c contract) Delete(ctx context.Context, key string) error {
	_, err := c.Client.Delete(ctx, c.prefix+"/"+key)
	return err
}

func (c contract) Wired(t *testing.T, write func(send func() error) error) storetest.Client {
	t.Helper()
	wired, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints(), Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { wired.Close() })
	wired.KV = &wire{wired.KV, write}
	return contract{wired, c.prefix}
}

// A wire is what stands between a client and the cluster: send carries a write out.
type wire struct {
	clientv3.KV
	write func(send func() error) error
}

func (w *wire) Txn(ctx context.Context) clientv3.Txn { return &wireTxn{Txn: w.KV.Txn(ctx), wire: w} }

type wireTxn struct {
	clientv3.Txn
	wire   *wire
	writes bool
}

func (t *wireTxn) If(c ...clientv3.Cmp) clientv3.Txn {
	t.Txn, t.writes = t.Txn.If(c...), true
	return t
}

func (t *wireTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.Txn = t.Txn.Then(ops...)
	return t
}

func (t *wireTxn) Commit() (reply *clientv3.TxnResponse, err error) {
	send := func() error {
		reply, err = t.Txn.Commit()
		return err
	}
	if !t.writes {
		return reply, send()
	}
	if err := t.wire.write(send); err != nil {
		return nil, err
	}
	return reply, nil
}
