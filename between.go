package snow

import (
	"iter"
	"math"
	"time"
)

// Between returns the ranges [lo, hi) of ids whose [Layout.Time] is in [from, to).
// Adjacent time ranges share no id and miss none. If from and to are tick
// boundaries, these are the ids made in [from, to).
//
//	for lo, hi := range layout.Between(from, to) {
//
// A layout without lanes has exactly one range, which is empty if the time range
// is. One with lanes has at most 2^(Bits.Lane+1)-1, and exactly one if from and to
// begin spans. Ranges ascend and do not touch; only a single one can be empty.
//
// An instant before the epoch counts as the epoch, and one after [Layout.End] as
// the end. If to is not after from, the range is empty.
func (l Layout) Between(from, to time.Time) iter.Seq2[ID, ID] {
	first, end := l.firstTick(from), l.firstTick(to)
	return func(yield func(lo, hi ID) bool) {
		if first >= end {
			lo := l.lowest(first, 0)
			yield(lo, lo)
			return
		}
		// A range is held back until the next one does not begin at its end.
		lo, hi := ID(-1), ID(-1)
		add := func(nextLo, nextHi ID) bool {
			switch {
			case nextLo == nextHi:
				return true
			case nextLo == hi:
				hi = nextHi
				return true
			}
			ok := lo < 0 || yield(lo, hi)
			lo, hi = nextLo, nextHi
			return ok
		}
		if l.ranges(first, end, add) {
			yield(lo, hi)
		}
	}
}

// ranges calls add for the ranges of ids of the ticks [first, end), which is not
// empty, in ascending order, until add returns false.
func (l Layout) ranges(first, end uint64, add func(lo, hi ID) bool) bool {
	lanes, span := uint64(1)<<l.bits.Lane, uint64(1)<<l.bits.Span
	last := end &^ (span - 1) // the first tick of the last span
	whole := (first + span - 1) &^ (span - 1)
	if whole > end { // all of it is inside one span
		for lane := range lanes {
			if !add(l.lowest(first, lane), l.lowest(end, lane)) {
				return false
			}
		}
		return true
	}
	for lane := range lanes {
		if first < whole && !add(l.lowest(first, lane), l.laneEnd(first, lane)) {
			return false
		}
	}
	if !add(l.lowest(whole, 0), l.lowest(last, 0)) {
		return false
	}
	for lane := range lanes {
		if !add(l.lowest(last, lane), l.lowest(end, lane)) {
			return false
		}
	}
	return true
}

// firstTick returns the first tick that starts at t or later, at most one past the last.
func (l Layout) firstTick(t time.Time) uint64 {
	tick, inside, ok := l.ticks(t)
	if !ok {
		return 0
	}
	if inside {
		tick++
	}
	return min(tick, l.lastTick()+1)
}

// lowest returns the lowest id of a tick and a lane.
func (l Layout) lowest(tick, lane uint64) ID { return l.bound(l.bits.join(tick, lane)) }

// laneEnd returns the id after the last one of a lane in the span of a tick.
func (l Layout) laneEnd(tick, lane uint64) ID {
	return l.bound(l.bits.join(tick|(1<<l.bits.Span-1), lane) + 1)
}

func (l Layout) bound(joined uint64) ID {
	if shift := l.bits.belowTime(); joined <= math.MaxInt64>>shift {
		return ID(joined << shift)
	}
	// With 63 bits this bound leaves out the very last id, which no generator makes.
	return math.MaxInt64
}
