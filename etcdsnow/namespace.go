package etcdsnow

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/versioned"
	"github.com/shardsnow/snow/lease"
)

// DefaultPrefix is the prefix of all keys if a call's is empty.
const DefaultPrefix = "snow/"

// A Namespace is one space of ids. Its worker numbers are leased to the processes that make the ids. Tables that share
// keys need the same namespace: ids of two namespaces can be equal. Its LossWindow must be zero: no failover loses what
// etcd has confirmed.
type Namespace = lease.Namespace

// ownClock says that the time that counts is this process's.
var ownClock = versioned.Options{OwnClock: true}

// Init makes a namespace, with a key for each of its worker numbers. If it exists with the same constants, Init makes the
// keys that are missing and returns nil, so every process may call it when it starts. If it exists with other constants,
// Init returns [ErrNamespaceMismatch].
//
// If the namespace exists, or some of its keys that were in use, then missing keys were deleted, and processes may still
// use their windows: Init makes the keys so that nobody can lease them before the longest window is over. If the
// namespace is gone with all of its keys, Init can't tell that it existed. If processes may still use it, call [Fence]
// right after Init.
//
// Init returns a [*snow.FieldError] if a field is out of bounds, a [*DamagedError] for a key that it can't read, a
// [*ClockError] if it has to make deleted keys and others show that this process's clock may be behind, and a
// [*ClusterError] for any other error of etcd.
func Init(ctx context.Context, client *clientv3.Client, prefix string, ns Namespace) error {
	if err := initNamespace(ctx, client, prefix, ns); err != nil {
		return fmt.Errorf("etcdsnow: init namespace %q: %w", ns.Name, err)
	}
	return nil
}

func initNamespace(ctx context.Context, client *clientv3.Client, prefix string, ns Namespace) error {
	s, err := newStore(client, prefix)
	if err != nil {
		return err
	}
	want, err := ns.Params()
	if err != nil {
		return err
	}
	if want.Loss > 0 {
		return &snow.FieldError{
			Field: "LossWindow", Value: want.Loss.String(), Bound: "want 0: etcd confirms what a majority has on disk, and no failover loses it",
		}
	}
	return exported("init", versioned.Create(ctx, s, want, ownClock))
}

// Namespaces returns the namespaces with these names, in that order, as [Init] made them: nothing in them is left out or
// zero but LossWindow. Without names it returns all, by name. It returns the errors of [Acquire]; a name that does not
// exist is [ErrNoNamespace].
func Namespaces(ctx context.Context, client *clientv3.Client, prefix string, names ...string) ([]Namespace, error) {
	all, err := namespaces(ctx, client, prefix, names)
	if err != nil {
		return nil, fmt.Errorf("etcdsnow: namespaces: %w", err)
	}
	return all, nil
}

func namespaces(ctx context.Context, client *clientv3.Client, prefix string, chosen []string) ([]Namespace, error) {
	if len(chosen) == 0 {
		s, err := newStore(client, prefix)
		if err != nil {
			return nil, err
		}
		if chosen, err = versioned.Names(ctx, s); err != nil {
			return nil, exported("read the names", err)
		}
	}
	all := make([]Namespace, 0, len(chosen))
	for _, name := range chosen {
		r, err := open(ctx, client, prefix, name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		p := &r.Params
		all = append(all, Namespace{Name: p.Name, Layout: p.Layout, Workers: int(p.Workers), Window: p.Window, PinnedWindow: p.Pinned})
	}
	return all, nil
}

// open reads the constants of a namespace.
func open(ctx context.Context, client *clientv3.Client, prefix, namespace string) (*versioned.Registry, error) {
	if err := names.Check("namespace", namespace); err != nil {
		return nil, err
	}
	s, err := newStore(client, prefix)
	if err != nil {
		return nil, err
	}
	r, err := versioned.Open(ctx, s, namespace, ownClock)
	return r, exported("read the namespace", err)
}

// newStore returns the keys with a prefix.
func newStore(client *clientv3.Client, prefix string) (*store, error) {
	if client == nil {
		return nil, &snow.FieldError{Field: "client", Value: "nil", Bound: "want one of clientv3.New"}
	}
	if prefix == "" {
		prefix = DefaultPrefix
	}
	if len(prefix) > 255 || !utf8.ValidString(prefix) || strings.ContainsFunc(prefix, unicode.IsControl) {
		return nil, &snow.FieldError{
			Field: "prefix", Value: strconv.Quote(prefix[:min(len(prefix), 80)]), Bound: "want at most 255 bytes of UTF-8 without control characters",
		}
	}
	return &store{kv: client, prefix: strings.TrimSuffix(prefix, "/") + "/"}, nil
}

// Fence makes it safe to lease worker numbers after a snapshot was restored, when the cluster has forgotten windows that
// processes still use. It moves the ceiling of every number to the end of the longest window that could have been
// granted before the call. Processes that hold a number need not be stopped. Those whose window lasts two minutes more
// go on. In the last two minutes of a window, a clock can't tell whether somebody else had the number since, in history
// that the restore removed. So those processes lose the number, finish their window, and are like new ones. Until the
// longest window is over, new processes get a [*NoWorkerError], or wait for the number that they asked for.
//
// Call it after the restore, and let no Acquire reach the cluster before it has returned. If ctx ends before, call it
// again: it moves the rows in groups.
//
// The ceilings are the longest window and 122 s beyond this process's clock. That covers every window if the clock of
// each process, and of this one, was within 30 s of the right time. Fence returns a [*ClockError] if a row shows that this
// process's clock may be behind, a [*DamagedError] if a row is missing or was written by hand, after it has moved all
// others, and the errors of [Init].
func Fence(ctx context.Context, client *clientv3.Client, prefix, namespace string) error {
	r, err := open(ctx, client, prefix, namespace)
	if err == nil {
		if err = r.CheckClock(ctx); err == nil {
			_, err = r.Fence(ctx, time.Now())
		}
	}
	if err != nil {
		return fmt.Errorf("etcdsnow: fence namespace %q: %w", namespace, exported("fence", err))
	}
	return nil
}
