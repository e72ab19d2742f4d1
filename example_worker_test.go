package snow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shardsnow/snow"
)

// A registryWorker leases its number from a registry, which keeps for each
// number the first tick that it has not granted yet. A real registry is shared
// and durable, and changes the tick of a number by compare-and-swap.
type registryWorker struct {
	grant    *snow.Grant
	registry map[uint64]uint64
	number   uint64
}

func (w *registryWorker) Grant() *snow.Grant { return w.grant }

const minute = 60_000 // ticks

func (w *registryWorker) acquire(number uint64, now time.Time) error {
	layout := snow.DefaultLayout()
	floor := max(w.registry[number], uint64(now.Sub(layout.Epoch())/layout.Tick()))
	w.number, w.registry[number] = number, floor+minute // before the first id is made
	return w.grant.Open(snow.Window{Worker: number, Floor: floor, Ceiling: floor + minute})
}

func (w *registryWorker) renew(now time.Time) {
	w.grant.Advance(now)
	w.registry[w.number] += minute
	w.grant.Raise(w.registry[w.number])
}

func (w *registryWorker) close() {
	w.grant.Explain(errors.New("the worker is closed"))
	w.registry[w.number] = w.grant.Retire() // somebody else may have the rest
}

// A worker whose numbers come from a lease database of your own.
func ExampleWorker() {
	ctx, now := context.Background(), time.Now() // better: the lease database's time
	grant, err := snow.NewGrant(snow.DefaultLayout(), now)
	if err != nil {
		fmt.Println(err)
		return
	}
	worker := &registryWorker{grant: grant, registry: map[uint64]uint64{}}
	keys, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(worker.acquire(7, now))
	worker.renew(now)
	id, err := keys.Next(ctx)
	parts, _ := snow.DefaultLayout().Decompose(id)
	fmt.Println(parts.Worker, err)

	fmt.Println(worker.acquire(8, now), keys.Fill(ctx, make([]snow.ID, 100))) // 7 was lost, and 8 was free
	worker.close()
	_, err = keys.Next(ctx)
	fmt.Println(err)
	// Output:
	// <nil>
	// 7 <nil>
	// <nil> <nil>
	// snow: next: the worker's granted ticks are used up: the worker is closed
}
