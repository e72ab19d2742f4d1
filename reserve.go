package snow

import (
	"context"
	"errors"
	"math"
	"time"
)

// anyLane is the lane whose turn it is.
const anyLane = math.MaxUint64

// reserve reserves the positions of at most n ids of one lane, waits until all of
// them may be used, and returns the word of the first one. It reserves fewer than
// n if MaxAhead does not allow n at once.
func (g *Generator) reserve(ctx context.Context, n, lane uint64) (first, ids uint64, err error) {
	grant := g.grant
	need := grant.extent(n)
	slack := uint64(0) // up to the first position of the lane
	if lane != anyLane {
		slack = grant.laneMask
	}
	need += slack
	for {
		now := grant.clock.now()
		if grant.clock.sync(now) {
			now = grant.clock.now()
		}
		old := grant.word.Load()
		present := grant.find(old)
		if present == nil {
			if grant.word.Load() == old {
				return 0, 0, grant.ended()
			}
			continue
		}
		lo, last, limit := grant.position(now), old&grant.positionMask, present.limit.Load()
		if floor := grant.floor.Load(); lo < floor && last < floor {
			if floor >= limit {
				return 0, 0, grant.exhausted(limit)
			}
			if err := g.sleep(ctx, grant.start(floor)-now); err != nil {
				return 0, 0, err
			}
			continue
		}
		// Calls that give up waiting leave gaps. The queue is bounded by twice
		// MaxAhead, so that many such calls can't use up the future.
		if last >= lo && last-lo >= 2*g.ahead {
			if last+1 >= limit { // waiting would not help
				return 0, 0, grant.exhausted(limit)
			}
			if err := g.sleep(ctx, grant.start(last-2*g.ahead)+grant.clock.tick-now); err != nil {
				return 0, 0, err
			}
			continue
		}
		fresh := last < lo
		first = last + 1
		if fresh {
			first = grant.turn(lo, last)
		}
		if first >= limit || limit-first < need {
			return 0, 0, grant.exhausted(limit)
		}
		// If ctx is going to end during the wait, the positions would be used
		// up for nothing, and later calls would wait longer.
		if wait := grant.due(first+need-1, g.ahead) - now; wait > 0 && grant.clock.endsWithin(ctx, wait) {
			return 0, 0, context.DeadlineExceeded
		}
		// A slice that is too long is filled in pieces of a tick, so that other
		// calls get their turn in between.
		count := need
		ids = n
		end := lo + g.ahead
		if first+need > end {
			most := min(need, max(end-min(first, end), grant.sequenceMask+1))
			ids = (most-slack-1)>>(grant.laneBits&63) + 1
			count = grant.extent(ids) + slack
		}
		if !fresh {
			first = grant.take(count, ids)
		} else if !grant.jump(old, present.number+first+count-1, first-last-1+count-ids) {
			continue
		} else {
			first += present.number
		}
		if g.lane == anyLane && first < present.number+end {
			g.openBelow.Store(present.number + min(end, limit))
			g.openUntil.Store(min(grant.start(lo)+grant.clock.tick, now+resyncEvery))
		}
		err := g.await(ctx, now, first, count)
		if err == nil {
			return first + (lane-first)&slack, ids, nil
		}
		grant.skipped.Add(ids)
		if !errors.Is(err, errMoved) {
			return 0, 0, err
		}
	}
}

// observe raises the word so that all later ids are greater than id.
func (g *Generator) observe(id ID) error {
	grant := g.grant
	if grant.laneBits != 0 {
		return &FieldError{"layout", grant.layout.String(), "it has lanes: later ids of another lane may be less"}
	}
	// Within a tick, ids sort by worker number first.
	shift := grant.layout.bits.belowTime()
	sequence := uint64(id) >> grant.shardBits & grant.sequenceMask
	number := uint64(id) & (1<<shift - 1) >> grant.shardBits >> grant.sequenceBits << grant.positionBits
	tick := uint64(id) >> shift << grant.sequenceBits
	for {
		old := grant.word.Load()
		present := grant.find(old)
		if present == nil {
			if grant.word.Load() == old {
				return grant.ended()
			}
			continue
		}
		target := tick
		switch {
		case number > present.number:
			target |= grant.sequenceMask
		case number == present.number:
			target |= sequence
		case target == 0:
			return nil // in the tick of the epoch
		default:
			target--
		}
		if target >= grant.position(grant.clock.now())+g.ahead {
			return tooFarAhead(grant.layout.Time(id))
		}
		if limit := present.limit.Load(); target+1 >= limit {
			return grant.exhausted(limit)
		}
		if last := old & grant.positionMask; last >= target || grant.jump(old, present.number+target, target-last) {
			return nil
		}
	}
}

func tooFarAhead(t time.Time) error {
	return &FieldError{"time", t.Format(time.RFC3339Nano), "it is further ahead of the clock than MaxAhead"}
}
