package etcdsnow

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/leases"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/versioned"
	"github.com/shardsnow/snow/lease"
)

// The types of package lease, which runs leases for every kind of store.
type (
	// A Lease is the right to make ids with a worker number that nobody else has in the same ticks: a [snow.Worker]. It
	// renews itself until Close.
	Lease = lease.Lease

	// LeaseConfig configures [Acquire] and [Open]. All but Namespace may be zero.
	LeaseConfig = lease.Config
)

// Open makes the namespace if it is missing, leases a worker number, and returns a generator of ids with that number. It
// calls [Init], [Acquire] and [snow.NewGenerator], in this order:
//
//	keys, lease, err := etcdsnow.Open(ctx, client, "",
//		etcdsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout()}, etcdsnow.LeaseConfig{})
//	defer lease.Close(context.Background())
//
// Every process may call Open each time that it starts, and any number of processes may call it at the same time. If
// nothing is missing, Open only reads until it leases the number. The lease renews itself in the background until
// Close; ctx only bounds the call.
//
// cfg.Namespace may be left empty; if it is not, a name other than ns.Name is a [*snow.FieldError]. cfg.Generator
// configures the generator. Open returns the errors of the functions that it calls. After an error no number is leased,
// with the exception that Acquire has.
func Open(ctx context.Context, client *clientv3.Client, prefix string, ns Namespace, cfg LeaseConfig) (*snow.Generator, *Lease, error) {
	if cfg.Namespace == "" {
		cfg.Namespace = ns.Name
	}
	if cfg.Namespace != ns.Name {
		return nil, nil, fmt.Errorf("etcdsnow: open: %w", &snow.FieldError{
			Field: "LeaseConfig.Namespace", Value: strconv.Quote(cfg.Namespace), Bound: "want the Namespace's, " + strconv.Quote(ns.Name) + ", or none",
		})
	}
	if err := Init(ctx, client, prefix, ns); err != nil {
		return nil, nil, err
	}
	ids := cfg.Generator
	cfg.Generator = snow.Config{}
	l, err := Acquire(ctx, client, prefix, cfg)
	if err != nil {
		return nil, nil, err
	}
	keys, err := snow.NewGenerator(l, ids)
	if err != nil {
		return nil, nil, errors.Join(err, l.Close(context.WithoutCancel(ctx)))
	}
	return keys, l, nil
}

// Acquire leases a worker number and returns when its first window is durable. The lease then renews itself in the
// background; ctx only bounds the call. Give it a deadline: without a majority, etcd does not answer.
//
// If no number is free, Acquire returns a [*NoWorkerError], or waits until ctx ends if LeaseConfig.Wait is set. For a
// certain number (LeaseConfig.Worker) it always waits, and then returns a [*HeldError]. It returns a [*ClockError] if the
// rows of at least two other processes show that this process's clock is behind, [ErrNoNamespace] if the namespace is
// missing, a [*DamagedError] if its key can't be used, a [*snow.FieldError] if a field is out of bounds, and a
// [*ClusterError] for other errors of etcd. If ctx ends while a transaction is under way, the cluster may still carry it
// out. Then nobody can lease that number for one window.
func Acquire(ctx context.Context, client *clientv3.Client, prefix string, cfg LeaseConfig) (*Lease, error) {
	return lease.Acquire(ctx, "etcdsnow", cfg, func(ctx context.Context) (lease.Registry, protocol.Params, error) {
		r, err := open(ctx, client, prefix, cfg.Namespace)
		if err != nil {
			return nil, protocol.Params{}, err
		}
		return onRegistry{r}, r.Params, nil
	})
}

// onRegistry is the registry of a lease.
type onRegistry struct{ *versioned.Registry }

// Do implements lease.Registry.
func (r onRegistry) Do(ctx context.Context, q protocol.Request) protocol.Reply {
	reply := r.Registry.Do(ctx, q)
	if reply.Err != nil {
		reply.Err = exported(q.Ask.String(), reply.Err)
		reply.Failure = failureOf(reply.Err)
	}
	return reply
}

// Explain implements lease.Registry.
func (onRegistry) Explain(_ string, err error) error {
	if own := leases.Typed(err); own != nil {
		return own
	}
	return err
}

// IsBusy implements lease.Registry.
func (onRegistry) IsBusy(err error) bool { return isBusy(err) }
