package fleet

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// A run is the measurement of one store.
type run struct {
	store  store
	opts   Options
	tb     testing.TB
	result Result
	leases []lease

	renewals atomic.Pointer[times] // of the phase; nil while none counts
	failures atomic.Int64
	losses   atomic.Int64
	back     atomic.Pointer[comeback]
}

// A comeback counts the leases that have renewed since the server was back.
type comeback struct {
	since time.Time
	after *times
	mu    sync.Mutex
	seen  map[int]bool
	want  int
	done  chan struct{} // closed when all have
}

func (c *comeback) renewed(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[i] {
		return
	}
	c.seen[i] = true
	c.after.add(time.Since(c.since))
	if len(c.seen) == c.want {
		close(c.done)
	}
}

// told is called for what happens to the lease i.
func (r *run) told(i int, e sqlsnow.LeaseEvent) {
	switch e.Kind {
	case sqlsnow.Renewed:
		if t := r.renewals.Load(); t != nil {
			t.add(e.Took)
		}
		if b := r.back.Load(); b != nil {
			b.renewed(i)
		}
	case sqlsnow.Failed:
		r.failures.Add(1)
	case sqlsnow.Lost:
		r.losses.Add(1)
	}
}

// measure goes through the phases: fleets that grow, the largest one that starts at once, and the outage.
func (r *run) measure(ctx context.Context) error {
	for _, size := range r.opts.Sizes[:len(r.opts.Sizes)-1] {
		if len(r.leases) == 0 {
			burst, err := r.start(ctx, min(r.opts.Burst, size))
			if err != nil {
				return err
			}
			r.result.Burst = burst
		}
		if more := size - len(r.leases); more > 0 {
			if _, err := r.start(ctx, more); err != nil {
				return err
			}
		}
		if err := r.steady(ctx); err != nil {
			return err
		}
	}
	if err := r.release(ctx); err != nil {
		return err
	}
	bytes, goroutines := memory(), runtime.NumGoroutine()
	size := r.opts.Sizes[len(r.opts.Sizes)-1]
	largest, err := r.start(ctx, size)
	if err != nil {
		return err
	}
	r.result.Largest = largest
	r.result.Bytes = (memory() - bytes) / int64(size)
	r.result.Goroutines = float64(runtime.NumGoroutine()-goroutines) / float64(size)
	if err := r.steady(ctx); err != nil {
		return err
	}
	return r.outage(ctx)
}

// start starts n processes at once.
func (r *run) start(ctx context.Context, n int) (Start, error) {
	r.progress("%d start at once", n)
	s := Start{Leases: n}
	before, err := r.store.processor()
	if err != nil {
		return s, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	trips, took := r.store.roundTrips(), newTimes()
	first := len(r.leases)
	leases := make([]lease, n)
	slots := make(chan struct{}, connections) // a process waits for a connection, and keeps it until it has a number
	var all sync.WaitGroup
	for i := range leases {
		all.Go(func() {
			begin := time.Now()
			slots <- struct{}{}
			defer func() { <-slots }()
			l, err := r.store.acquire(ctx, func(e sqlsnow.LeaseEvent) { r.told(first+i, e) })
			if err != nil {
				cancel(err)
				return
			}
			took.add(time.Since(begin))
			leases[i] = l
		})
	}
	all.Wait()
	s.All = time.Since(took.begin)
	for _, l := range leases {
		if l != nil {
			r.leases = append(r.leases, l)
		}
	}
	if ctx.Err() != nil {
		return s, context.Cause(ctx)
	}
	_, s.P50, s.P99 = took.percentiles()
	s.RoundTrips = r.store.roundTrips() - trips
	after, err := r.store.processor()
	s.Processor = after - before
	return s, err
}

// steady measures the fleet while it renews.
func (r *run) steady(ctx context.Context) error {
	r.progress("%d renew", len(r.leases))
	every, err := r.opts.interval()
	if err != nil {
		return err
	}
	if err := pause(ctx, r.opts.Settle); err != nil {
		return err
	}
	before, err := r.store.processor()
	if err != nil {
		return err
	}
	trips, client, failures, renewals := r.store.roundTrips(), ownTime(), r.failures.Load(), newTimes()
	r.renewals.Store(renewals)
	if err := pause(ctx, r.opts.Steady); err != nil {
		return err
	}
	r.renewals.Store(nil)
	l := Load{Leases: len(r.leases), Every: every, Took: time.Since(renewals.begin), Busiest: renewals.busiest()}
	l.RoundTrips, l.Client, l.Failures = r.store.roundTrips()-trips, ownTime()-client, int(r.failures.Load()-failures)
	after, err := r.store.processor()
	if err != nil {
		return err
	}
	l.Processor = after - before
	l.Renewals, l.P50, l.P99 = renewals.percentiles()
	r.result.Loads = append(r.result.Loads, l)
	r.progress("%d renewals, %v of the server each, %.1f round trips", l.Renewals, l.PerRenewal(), l.Trips())
	return nil
}

// outage kills the server for a while, and waits until all leases have renewed again.
func (r *run) outage(ctx context.Context) error {
	r.progress("the server is away for %v", r.opts.Outage)
	failures, losses := r.failures.Load(), r.losses.Load()
	r.store.kill(r.tb)
	if err := pause(ctx, r.opts.Outage); err != nil {
		return err
	}
	if err := r.store.restart(r.tb); err != nil {
		return err
	}
	r.progress("the server is back; %d attempts failed meanwhile", r.failures.Load()-failures)
	failures = r.failures.Load()
	b := &comeback{since: time.Now(), after: newTimes(), seen: map[int]bool{}, want: len(r.leases), done: make(chan struct{})}
	r.back.Store(b)
	defer r.back.Store(nil)
	select {
	case <-b.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	back := &r.result.Back
	back.All = time.Since(b.since)
	back.Failures, back.Lost, back.Busiest = int(r.failures.Load()-failures), int(r.losses.Load()-losses), b.after.busiest()
	_, back.P50, back.P99 = b.after.percentiles()
	var err error
	back.Processor, err = r.store.processor()
	return err
}

// release gives all numbers back.
func (r *run) release(ctx context.Context) error {
	errs := make(chan error, len(r.leases))
	for _, l := range r.leases {
		go func() { errs <- l.Close(ctx) }()
	}
	for range r.leases {
		if err := <-errs; err != nil {
			return err
		}
	}
	r.leases = nil
	return nil
}

// forget ends the leases without giving their numbers back.
func (r *run) forget() {
	if len(r.leases) > 0 {
		r.store.kill(r.tb)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, l := range r.leases {
		all.Go(func() { _ = l.Close(ctx) })
	}
	all.Wait()
	cancel()
}

func (r *run) progress(format string, args ...any) {
	r.opts.Progress(r.result.Store + ": " + fmt.Sprintf(format, args...))
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// memory returns the memory in use after a collection, including stacks.
func memory() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
