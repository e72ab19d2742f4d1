package ids

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Percentiles say how long single calls took. Nothing is subtracted: they include
// two readings of the clock, as the row of the empty call shows.
type Percentiles struct {
	Goroutines int           `json:"goroutines"`
	Calls      uint64        `json:"calls"`
	P50        time.Duration `json:"p50"`
	P99        time.Duration `json:"p99"`
	P999       time.Duration `json:"p99_9"`
	P9999      time.Duration `json:"p99_99"`
	Max        time.Duration `json:"max"`
}

// latencyGoroutines are the numbers of goroutines at saturation.
var latencyGoroutines = [...]int{1, 64}

// LatencyAt returns the percentiles at saturation with this number of
// goroutines, or nil.
func (r *Row) LatencyAt(goroutines int) *Percentiles {
	for i := range r.Latency {
		if r.Latency[i].Goroutines == goroutines {
			return &r.Latency[i]
		}
	}
	return nil
}

func (s *subject) timed() bool { return s.Kind != Floor || s.Name == FloorEmpty }

// measureLatency times single calls at saturation.
func (b *bench) measureLatency(ctx context.Context) error {
	return b.each(ctx, 0, "latency at saturation", (*subject).timed, func(s *subject) error {
		for _, n := range latencyGoroutines {
			runs := s.runs(n)
			warm := warmUp
			if s.PerSecond > 0 {
				warm = warmUpBound
			}
			runtime.GC()
			if _, err := loop(runs, s.batch, warm); err != nil {
				return err
			}
			h, err := timeCalls(runs, b.Latency)
			if err != nil {
				return err
			}
			s.row.Latency = append(s.row.Latency, h.percentiles(n))
		}
		return nil
	})
}

// timeCalls times every single call of each Run until d is over.
func timeCalls(runs []Run, d time.Duration) (*histogram, error) {
	each := make([]histogram, len(runs))
	errs := make([]error, len(runs))
	var wg sync.WaitGroup
	begin := time.Now()
	for i, run := range runs {
		wg.Go(func() {
			h := &each[i]
			for {
				from := time.Since(begin)
				if from >= d {
					return
				}
				if _, errs[i] = run(1); errs[i] != nil {
					return
				}
				h.add(time.Since(begin) - from)
			}
		})
	}
	wg.Wait()
	sum := new(histogram)
	for i := range each {
		sum.merge(&each[i])
	}
	return sum, errors.Join(errs...)
}

// measureTrickle times calls of a program with little to do: one call of each
// generator every millisecond. It calls all of them in one goroutine, in an order
// that rotates, so the caches are equally cold for all.
func (b *bench) measureTrickle(ctx context.Context) error {
	for setting, group := range b.groups((*subject).timed) {
		b.Progress("latency at 1,000 ids/s")
		if err := b.trickle(ctx, setting, group); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) trickle(ctx context.Context, setting *Setting, group []*subject) error {
	defer setting.use()()
	runs, err := fresh(group)
	if err != nil {
		return err
	}
	each := make([]histogram, len(group))
	runtime.GC()
	begin := time.Now()
	err = ticks(ctx, time.Millisecond, b.TrickleCalls, func(tick int) error {
		for i := range group {
			i := (i + tick) % len(group)
			from := time.Since(begin)
			if _, err := runs[i](1); err != nil {
				return err
			}
			each[i].add(time.Since(begin) - from)
		}
		return nil
	})
	for i, s := range group {
		p := each[i].percentiles(1)
		s.row.Trickle = &p
	}
	return err
}

// fresh returns Runs of new generators that have made one id each. Generators that
// were measured at saturation may still be ahead of the clock.
func fresh(group []*subject) ([]Run, error) {
	runs := make([]Run, len(group))
	for i, s := range group {
		start, err := s.New()
		if err == nil {
			runs[i] = start()
			_, err = runs[i](1)
		}
		if err != nil {
			return nil, fmt.Errorf("ids: %s: %w", s.Name, err)
		}
	}
	return runs, nil
}

// groups returns the wanted subjects by the setting that they need.
func (b *bench) groups(want func(*subject) bool) map[*Setting][]*subject {
	groups := map[*Setting][]*subject{}
	for _, s := range b.subjects {
		if want(s) {
			groups[s.Setting] = append(groups[s.Setting], s)
		}
	}
	return groups
}

// ticks calls do n times, once for each tick of the clock. It skips ticks that come
// during a call.
func ticks(ctx context.Context, tick time.Duration, n int, do func(i int) error) error {
	t := time.NewTicker(tick)
	defer t.Stop()
	for i := range n {
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}
