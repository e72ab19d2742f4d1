package snow

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// reserve takes at most n positions that follow each other, and returns the
// word of the first when all of them may be used. It takes fewer where MaxAhead
// does not allow more at once.
func (g *Generator) reserve(ctx context.Context, n uint64) (first, count uint64, err error) {
	t := g.grant
	for {
		now := t.clock.now()
		if t.clock.sync(now) {
			now = t.clock.now()
		}
		old := t.word.Load()
		held := t.find(old)
		if held == nil {
			if t.word.Load() == old {
				return 0, 0, t.ended()
			}
			continue
		}
		lo, last, limit := t.position(now), old&t.positionMask, held.limit.Load()
		if floor := t.floor.Load(); lo < floor && last < floor {
			if floor >= limit {
				return 0, 0, t.exhausted(limit)
			}
			if err := g.sleep(ctx, t.start(floor)-now); err != nil {
				return 0, 0, err
			}
			continue
		}
		// Those who give up waiting leave gaps. So that many of them can't use up
		// the future, the queue ends at as much again as may be borrowed.
		if last >= lo && last-lo >= 2*g.ahead {
			if last+1 >= limit { // no wait helps
				return 0, 0, t.exhausted(limit)
			}
			if err := g.sleep(ctx, t.start(last-2*g.ahead)+t.clock.tick-now); err != nil {
				return 0, 0, err
			}
			continue
		}
		fresh := last < lo
		first = last + 1
		if fresh {
			first = t.spreadStart(lo)
		}
		if first >= limit || limit-first < n {
			return 0, 0, t.exhausted(limit)
		}
		// A wait that ctx is bound to cut short would use up positions for
		// nothing, and push those who can wait further back.
		if wait := g.due(first+n-1) - now; wait > 0 && t.clock.endsWithin(ctx, wait) {
			return 0, 0, context.DeadlineExceeded
		}
		// A slice that is too long goes in pieces of a tick, for others to come between.
		count = n
		end := lo + g.ahead
		if first+n > end {
			count = min(n, max(end-min(first, end), t.sequenceMask+1))
		}
		if !fresh {
			first = t.word.Add(count) - count + 1
		} else if !t.jump(old, held.number+first+count-1, first-last-1) {
			continue
		} else {
			first += held.number
		}
		if first < held.number+end {
			g.openBelow.Store(held.number + min(end, limit))
			g.openUntil.Store(min(t.start(lo)+t.clock.tick, now+resyncEvery))
		}
		if err := g.settle(ctx, now, first, count); !errors.Is(err, errMoved) {
			return first, count, err
		}
	}
}

// settle returns when count positions from that of the word first on, which are
// reserved, may be used. After an error they never are.
func (g *Generator) settle(ctx context.Context, now int64, first, count uint64) error {
	t := g.grant
	if err := t.check(first, count); err != nil {
		g.openUntil.Store(0)
		t.skipped.Add(count)
		return err
	}
	last := first&t.positionMask + count - 1
	if lo := t.position(now); last > lo {
		t.noteBorrowed((last - lo) >> t.sequenceBits)
	}
	wait := g.due(last) - now
	if wait <= 0 {
		return nil
	}
	g.openUntil.Store(0)
	// The positions are ours whatever others take meanwhile, so waiting is fair.
	for ; wait > 0; wait = g.due(last) - t.clock.now() {
		if err := g.sleep(ctx, wait); err != nil {
			t.skipped.Add(count)
			return err
		}
	}
	return nil
}

// due returns the running time at which a position may be used.
func (g *Generator) due(position uint64) int64 {
	if position < g.ahead {
		return 0
	}
	return g.grant.start(position - g.ahead + g.grant.sequenceMask + 1)
}

// jump moves the word from old to new, and counts the positions between them
// that are skipped. It reports false if the word is not at old.
func (g *Grant) jump(old, new, skipped uint64) bool {
	g.jumping.Add(1)
	ok := g.word.CompareAndSwap(old, new)
	if ok {
		g.skipped.Add(skipped)
	}
	g.jumped.Add(1)
	return ok
}

// start returns the running time at which the tick of a position starts.
func (g *Grant) start(position uint64) int64 {
	return int64(position>>g.sequenceBits) * g.clock.tick
}

// exhausted says why no position below limit is left.
func (g *Grant) exhausted(limit uint64) error {
	if limit >= g.end() {
		return ErrTimeExhausted
	}
	return g.expired()
}

// observe raises the word so that all later ids are greater than id.
func (g *Grant) observe(id ID, ahead uint64) error {
	// Within a tick, ids are in the order of their workers.
	shift := g.layout.timeShift()
	sequence := uint64(id) >> g.shardBits & g.sequenceMask
	number := uint64(id) & (1<<shift - 1) >> g.shardBits >> g.sequenceBits << g.positionBits
	tick := uint64(id) >> shift << g.sequenceBits
	for {
		old := g.word.Load()
		held := g.find(old)
		if held == nil {
			if g.word.Load() == old {
				return g.ended()
			}
			continue
		}
		target := tick
		switch {
		case number > held.number:
			target |= g.sequenceMask
		case number == held.number:
			target |= sequence
		case target == 0:
			return nil // in the tick of the epoch
		default:
			target--
		}
		if target >= g.position(g.clock.now())+ahead {
			return ErrTooFarAhead
		}
		if limit := held.limit.Load(); target+1 >= limit {
			return g.exhausted(limit)
		}
		if last := old & g.positionMask; last >= target || g.jump(old, held.number+target, target-last) {
			return nil
		}
	}
}

// write sets ids to the ids of the words from first on.
func (g *Grant) write(ids []ID, first uint64) {
	for len(ids) > 0 {
		n := min(uint64(len(ids)), g.sequenceMask-first&g.sequenceMask+1)
		run := ids[:n]
		if g.shardBits == 0 { // ids of a tick are consecutive numbers
			next := g.id(first)
			for i := range run {
				run[i] = next
				next++
			}
		} else {
			for i := range run {
				run[i] = g.id(first + uint64(i))
			}
		}
		ids, first = ids[n:], first+n
	}
}

func (g *Generator) sleep(ctx context.Context, ns int64) error {
	t := g.grant
	t.waits.Add(1)
	t.waited.Add(ns)
	if g.onWait == nil {
		return t.clock.sleep(ctx, time.Duration(ns))
	}
	done := g.onWait(ctx, time.Duration(ns))
	err := t.clock.sleep(ctx, time.Duration(ns))
	if done != nil {
		done(err)
	}
	return err
}

// counters are what Stats is made of. Nothing that happens for every id is
// counted: how many were made follows from the word.
type counters struct {
	jumping, jumped atomic.Uint64 // equal when skipped fits the word
	skipped         atomic.Uint64 // positions up to the word that made no id
	waits           atomic.Uint64
	waited          atomic.Int64
	borrowed        atomic.Uint64 // at most, in ticks
}

func (c *counters) noteBorrowed(ticks uint64) {
	for old := c.borrowed.Load(); old < ticks && !c.borrowed.CompareAndSwap(old, ticks); old = c.borrowed.Load() {
	}
}
