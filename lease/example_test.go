package lease_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/versioned"
	"github.com/shardsnow/snow/lease"
)

// ready is for leases of every kind of store.
func ready(l *lease.Lease) string {
	if s := l.Stats(); s.Ready() {
		return fmt.Sprintf("ready for %v", s.Left.Round(time.Minute))
	}
	return "not ready"
}

func Example() {
	l, err := leaseInMemory(context.Background())
	if err != nil {
		panic(err)
	}
	defer l.Close(context.Background())
	fmt.Println(ready(l))
	// Output: ready for 10m0s
}

// A memory is a registry whose store is in memory.
type memory struct{ *versioned.Registry }

func (memory) Explain(_ string, err error) error { return err }
func (memory) IsBusy(error) bool                 { return false }

// leaseInMemory does what sqlsnow.Acquire does for a database.
func leaseInMemory(ctx context.Context) (*lease.Lease, error) {
	params, err := lease.Namespace{Name: "shop", Layout: snow.DefaultLayout()}.Params()
	if err != nil {
		return nil, err
	}
	store := &versioned.Memory{}
	if err := versioned.Create(ctx, store, params, versioned.Options{}); err != nil {
		return nil, err
	}
	cfg := lease.Config{Namespace: "shop", Logger: slog.New(slog.DiscardHandler)}
	return lease.Acquire(ctx, "example", cfg, func(ctx context.Context) (lease.Registry, protocol.Params, error) {
		r, err := versioned.Open(ctx, store, "shop", versioned.Options{})
		if err != nil {
			return nil, protocol.Params{}, err
		}
		return memory{r}, r.Params, nil
	})
}

// Packages of this project that keep namespaces in a store call Acquire.
func ExampleAcquire() {
	l, err := leaseInMemory(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Close(context.Background()))
	// Output: <nil>
}
