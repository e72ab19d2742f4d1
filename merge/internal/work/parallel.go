package work

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
)

// Parallel calls do at the same time for each of some sessions. The first error
// ends the others.
func Parallel(ctx context.Context, all []*chunk.Conns, do func(context.Context, *chunk.Conns) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	for _, c := range all {
		group.Go(func() {
			if err := do(ctx, c); err != nil {
				stop(err) // the first one counts: the others follow from it
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// ParallelEach calls do once for each number below n, several at a time: each of some sessions takes the next number.
func ParallelEach(ctx context.Context, all []*chunk.Conns, n int, do func(ctx context.Context, c *chunk.Conns, i int) error) error {
	var next atomic.Int64
	return Parallel(ctx, all, func(ctx context.Context, c *chunk.Conns) error {
		for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			if err := do(ctx, c, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// PagesOf returns what the goroutine of each of some sessions remembers of the map.
func PagesOf(all []*chunk.Conns) map[*chunk.Conns]*ledger.Pages {
	pages := map[*chunk.Conns]*ledger.Pages{}
	for _, c := range all {
		pages[c] = ledger.NewPages()
	}
	return pages
}
