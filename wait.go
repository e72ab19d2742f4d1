package snow

import (
	"context"
	"time"
)

// await returns when the count words that start with first, which are reserved,
// may be used. After an error they are never used: the caller counts them as skipped.
func (g *Generator) await(ctx context.Context, now int64, first, count uint64) error {
	grant := g.grant
	if err := grant.check(first, count); err != nil {
		g.openUntil.Store(0)
		return err
	}
	last := first&grant.positionMask + count - 1
	if lo := grant.position(now); last > lo {
		grant.noteBorrowed((last - lo) >> grant.sequenceBits)
	}
	wait := grant.due(last, g.ahead) - now
	if wait <= 0 {
		return nil
	}
	g.openUntil.Store(0)
	// The positions are ours whatever other calls reserve meanwhile.
	for ; wait > 0; wait = grant.due(last, g.ahead) - grant.clock.now() {
		if err := g.sleep(ctx, wait); err != nil {
			return err
		}
	}
	return nil
}

// due returns the running time at which a position may be used by a generator that may go ahead by as many positions.
func (p *positions) due(position, ahead uint64) int64 {
	if position < ahead {
		return 0
	}
	return p.start(position - ahead + p.sequenceMask + 1)
}

// sleep waits for ns nanoseconds, or until ctx ends, and reports the wait to Config.OnWait.
func (g *Generator) sleep(ctx context.Context, ns int64) error {
	grant := g.grant
	grant.waits.Add(1)
	grant.waited.Add(ns)
	if g.onWait == nil {
		return grant.clock.sleep(ctx, time.Duration(ns), &g.timers)
	}
	done := g.onWait(ctx, time.Duration(ns))
	err := grant.clock.sleep(ctx, time.Duration(ns), &g.timers)
	if done != nil {
		done(err)
	}
	return err
}
