package snow

import (
	"runtime"
	"time"
)

// Stats says what happened on a [Worker] since it was made. In JSON, for expvar
// and logs, durations are whole nanoseconds.
type Stats struct {
	Issued uint64        `json:"issued"`    // ids made
	Waits  uint64        `json:"waits"`     // waits of Next and Fill; one Fill may wait several times
	Waited time.Duration `json:"waited_ns"` // total time that these waits were to take
	// how far the last id is ahead of the clock; beyond MaxAhead, calls wait
	Borrowed     time.Duration `json:"borrowed_ns"`
	MostBorrowed time.Duration `json:"most_borrowed_ns"` // the largest value of Borrowed so far
	// how often the wall clock was found to have been stepped, forward or back
	ClockSteps uint64 `json:"clock_steps"`
	// how far the wall clock was behind the ids when it was last read, once a second under load
	ClockLag time.Duration `json:"clock_lag_ns"`
	Left     time.Duration `json:"left_ns"` // until the layout's timestamp runs out; at most 292 years
}

func (g *Grant) stats() Stats {
	issued, last := g.issued()
	now := g.clock.now()
	tick := g.layout.Tick()
	s := Stats{
		Issued:       issued,
		Waits:        g.waits.Load(),
		Waited:       time.Duration(g.waited.Load()),
		MostBorrowed: time.Duration(g.borrowed.Load()) * tick,
		ClockSteps:   g.clock.steps.Load(),
		ClockLag:     time.Duration(g.clock.lag.Load()),
		Left:         max(0, g.layout.End().Sub(g.layout.Epoch().Add(time.Duration(now)))),
	}
	if lo := g.position(now); last > lo {
		s.Borrowed = time.Duration((last-lo)>>g.sequenceBits) * tick
	}
	return s
}

// issued returns how many ids were made, and the last position. While the two
// counts of jumps are equal, skipped and the position are consistent.
func (g *Grant) issued() (n, last uint64) {
	for {
		jumped := g.jumped.Load()
		skipped := g.skipped.Load()
		last = g.last()
		if jumped == g.jumping.Load() {
			return last - min(skipped, last), last
		}
		runtime.Gosched()
	}
}
