package ids

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Speed is the cost of an id while a number of goroutines make as many as they
// can. There is one value for each round.
type Speed struct {
	Goroutines int       `json:"goroutines"`
	NS         []float64 `json:"ns"`  // wall time in nanoseconds
	CPU        []float64 `json:"cpu"` // CPU time of the process, in seconds for a million ids
}

// PerID returns the median of the wall time for one id, in nanoseconds.
func (s Speed) PerID() float64 { return median(s.NS) }

// PerSecond returns the ids in a second at the median.
func (s Speed) PerSecond() float64 { return 1e9 / s.PerID() }

// CPUPerMillion returns the median CPU time, in seconds for a million ids.
func (s Speed) CPUPerMillion() float64 { return median(s.CPU) }

// Spread returns half the distance between the fastest and the slowest round,
// as a part of the median.
func (s Speed) Spread() float64 { return spread(s.NS) }

// At returns the speed with this number of goroutines.
func (r *Row) At(goroutines int) Speed {
	for _, s := range r.Speed {
		if s.Goroutines == goroutines {
			return s
		}
	}
	return Speed{Goroutines: goroutines}
}

const (
	warmUp      = 5 * time.Millisecond
	warmUpBound = 30 * time.Millisecond // three times the snow generators' MaxAhead, which is used up in one of them
	batchTime   = 20 * time.Microsecond
	batchMost   = 1 << 16
)

// measureSpeed measures all generators in each round, so that other work on the
// machine affects all of them.
func (b *bench) measureSpeed(ctx context.Context) error {
	for _, s := range b.subjects {
		for _, n := range b.goroutines {
			s.row.Speed = append(s.row.Speed, Speed{Goroutines: n})
		}
	}
	for round := range b.Rounds {
		what := fmt.Sprintf("speed, round %d of %d", round+1, b.Rounds)
		want := anySubject
		if round%max(b.BoundEvery, 1) != 0 {
			want = func(s *subject) bool { return s.PerSecond == 0 }
		}
		err := b.each(ctx, round, what, want, func(s *subject) error {
			for i, n := range b.goroutines {
				ns, cpu, err := s.speed(n, b.Speed, b.SpeedBound)
				if err != nil {
					return err
				}
				at := &s.row.Speed[i]
				at.NS, at.CPU = append(at.NS, ns), append(at.CPU, cpu)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func anySubject(*subject) bool { return true }

// speed returns wall nanoseconds for an id and CPU seconds for a million.
func (s *subject) speed(goroutines int, free, bound time.Duration) (ns, cpu float64, err error) {
	runs := s.runs(goroutines)
	warm, d := warmUp, free
	if s.PerSecond > 0 {
		warm, d = warmUpBound, bound
	}
	runtime.GC()
	if _, err = loop(runs, s.batch, warm); err != nil {
		return 0, 0, err
	}
	took, err := loop(runs, s.batch, d)
	if err != nil {
		return 0, 0, err
	}
	ids := float64(took.calls) * float64(s.PerCall)
	return float64(took.wall) / ids, took.cpu.Seconds() * 1e6 / ids, nil
}

func (s *subject) runs(n int) []Run {
	runs := make([]Run, n)
	for i := range runs {
		runs[i] = s.start()
	}
	return runs
}

type sample struct {
	calls     int64
	wall, cpu time.Duration
}

// loop calls each Run in a goroutine of its own until d is over, and at least
// once. It includes the calls that began before the end of d.
func loop(runs []Run, batch int, d time.Duration) (sample, error) {
	var wg sync.WaitGroup
	var calls atomic.Int64
	errs := make([]error, len(runs))
	cpu, begin := cpuTime(), time.Now()
	for i, run := range runs {
		wg.Go(func() {
			var n int64
			for more := true; more; more = time.Since(begin) < d && errs[i] == nil {
				_, errs[i] = run(batch)
				n += int64(batch)
			}
			calls.Add(n)
		})
	}
	wg.Wait()
	return sample{calls.Load(), time.Since(begin), cpuTime() - cpu}, errors.Join(errs...)
}

// calibrate returns a number of calls that take long enough to make a reading of
// the clock after them negligible, and short enough for 64 goroutines to stop in
// time.
func (s *subject) calibrate() (int, error) {
	most := batchMost
	if s.PerSecond > 0 {
		most = max(1, int(s.PerSecond/float64(s.PerCall)*batchTime.Seconds()))
	}
	run := s.start()
	for n := 1; ; n *= 2 {
		if n >= most {
			return most, nil
		}
		best := time.Duration(math.MaxInt64)
		for range 3 { // in case one is interrupted
			begin := time.Now()
			if _, err := run(n); err != nil {
				return 0, err
			}
			best = min(best, time.Since(begin))
		}
		if best >= batchTime {
			return n, nil
		}
	}
}

// allocations returns what a call allocates, rounded down as package testing
// does.
func allocations(run Run, calls int) (allocs, bytes int64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if _, err = run(calls / 10); err != nil {
		return 0, 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = run(calls)
	runtime.ReadMemStats(&after)
	return int64(after.Mallocs-before.Mallocs) / int64(calls), int64(after.TotalAlloc-before.TotalAlloc) / int64(calls), err
}

// cpuTime returns the CPU time of the process, in its code and in the kernel.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

func spread(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	return (slices.Max(x) - slices.Min(x)) / 2 / median(x)
}
