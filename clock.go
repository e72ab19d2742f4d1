package snow

import (
	"context"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// resyncEvery is how much running time passes before the wall clock is read again.
const resyncEvery = int64(time.Second)

// A clock tells running time since a layout's epoch. It is the monotonic clock,
// set to the wall clock once. After that it only moves forward, except by
// retreat, so no step of the wall clock makes it repeat a tick.
type clock struct {
	base   time.Time    // monotonic readings count from it
	source timeSource   // nil for the machine's clocks
	offset atomic.Int64 // nanoseconds from the epoch to base; only retreat lowers it
	epoch  int64

	tick       int64  // nanoseconds
	reciprocal uint64 // of tick, for a division by multiplication
	shift      uint8

	nextSync atomic.Int64 // running time at which the wall clock is read again
	lastSync atomic.Int64
	lag      atomic.Int64 // how far the wall clock was behind when it was last read
	steps    atomic.Uint64
}

// A timeSource stands in for the machine's clocks. Its nil value is the machine.
type timeSource interface {
	mono() time.Duration          // since base
	wall() (int64, time.Duration) // nanoseconds since 1970, and mono at the same instant
	sleep(ctx context.Context, d time.Duration) error
}

// start sets c to the present. It reports whether the epoch has begun.
func (c *clock) start(l Layout, source timeSource) bool {
	c.tick, c.epoch, c.source = l.tick, l.epoch, source
	// Granlund and Montgomery, "Division by Invariant Integers using
	// Multiplication" (PLDI 1994), for dividends below 2^63: with
	// k = ceil(log2 tick), n / tick is n·m >> (63 + k), where m = 2^(63+k)/tick + 1.
	k := bits.Len64(uint64(l.tick) - 1)
	c.reciprocal, _ = bits.Div64(1<<(k-1), 0, uint64(l.tick))
	c.reciprocal++
	c.shift = uint8(k - 1)

	var wall int64
	var mono time.Duration
	if source != nil {
		wall, mono = source.wall()
	} else {
		c.base = time.Now()
		wall = c.base.UnixNano()
	}
	c.offset.Store(wall - l.epoch - int64(mono))
	c.lastSync.Store(wall - l.epoch)
	c.nextSync.Store(wall - l.epoch + resyncEvery)
	return wall >= l.epoch
}

// startAt sets c to now. The machine's wall clock is never read again. It
// reports whether the epoch has begun.
func (c *clock) startAt(l Layout, now time.Time) bool {
	c.start(l, nil)
	c.nextSync.Store(math.MaxInt64)
	c.offset.Store(c.reading(now))
	return !now.Before(l.Epoch())
}

// advance moves running time forward to now.
func (c *clock) advance(now time.Time) {
	for {
		offset := c.offset.Load()
		behind := c.reading(now) - offset - int64(time.Since(c.base))
		c.lag.Store(max(-behind, 0))
		if behind <= 0 || c.offset.CompareAndSwap(offset, offset+behind) {
			return
		}
	}
}

// retreat moves running time back to now.
func (c *clock) retreat(now time.Time) {
	for {
		offset := c.offset.Load()
		ahead := offset + int64(time.Since(c.base)) - c.reading(now)
		if ahead <= 0 || c.offset.CompareAndSwap(offset, offset-ahead) {
			return
		}
	}
}

// reading returns t in nanoseconds since the epoch, bounded so that running time
// can't overflow.
func (c *clock) reading(t time.Time) int64 {
	const century = 100 * 365 * 24 * int64(time.Hour)
	return min(max(0, int64(t.Sub(time.Unix(0, c.epoch)))), math.MaxInt64-century)
}

// now returns running time in nanoseconds since the epoch.
func (c *clock) now() int64 {
	if c.source != nil {
		return c.offset.Load() + int64(c.source.mono())
	}
	return c.offset.Load() + int64(time.Since(c.base))
}

// ticks returns ns in whole ticks. ns must not be negative.
func (c *clock) ticks(ns int64) uint64 {
	hi, _ := bits.Mul64(uint64(ns), c.reciprocal)
	return hi >> (c.shift & 63)
}

// sync reads the wall clock if a reading is due. If the wall clock is ahead, because
// the machine was suspended or its clock corrected, sync moves running time
// forward and reports true. If it is behind, running time goes on as before.
func (c *clock) sync(now int64) bool {
	next := c.nextSync.Load()
	if now < next || !c.nextSync.CompareAndSwap(next, now+resyncEvery) {
		return false
	}
	offset := c.offset.Load()
	var wall int64
	var mono time.Duration
	if c.source != nil {
		wall, mono = c.source.wall()
	} else {
		t := time.Now()
		wall, mono = t.UnixNano(), t.Sub(c.base)
	}
	running := offset + int64(mono)
	lag := running - (wall - c.epoch)
	// Clocks are corrected by slewing at up to 0.1 %; a change of more than that,
	// or of more than a second, is a step.
	slew := int64(time.Millisecond) + min((running-c.lastSync.Swap(running))/1000, int64(time.Second))
	if change := lag - c.lag.Swap(max(lag, 0)); change > slew || -change > slew {
		c.steps.Add(1)
	}
	return lag < 0 && c.offset.CompareAndSwap(offset, offset-lag)
}

// endsWithin reports whether ctx has a deadline less than d from now.
func (c *clock) endsWithin(ctx context.Context, d int64) bool {
	deadline, ok := ctx.Deadline()
	return ok && c.source == nil && time.Until(deadline) < time.Duration(d)
}

// sleep returns after d, or when ctx ends. It takes a timer from a pool, because a wait must not allocate.
func (c *clock) sleep(ctx context.Context, d time.Duration, timers *sync.Pool) error {
	switch {
	case c.source != nil:
		return c.source.sleep(ctx, d)
	case ctx.Done() == nil:
		time.Sleep(d)
		return nil
	}
	timer, ok := timers.Get().(*time.Timer)
	if ok {
		timer.Reset(d)
	} else {
		timer = time.NewTimer(d)
	}
	defer timers.Put(timer)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		timer.Stop()
		return ctx.Err()
	}
}
