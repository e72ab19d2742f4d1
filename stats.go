package snow

import (
	"runtime"
	"time"
)

// Stats tells what happened on a [Worker] since the process started.
type Stats struct {
	Issued       uint64        // ids made
	Waits        uint64        // calls that waited, pieces of one Fill counted singly
	Waited       time.Duration // how long they were to wait, in all
	Borrowed     time.Duration // how far the last id is ahead of the clock; past MaxAhead, callers wait for theirs
	MostBorrowed time.Duration // the largest that Borrowed has been
	ClockSteps   uint64        // times that the wall clock was found stepped, forward or back
	ClockLag     time.Duration // how far the wall clock was behind the ids at the last look, which is once a second under load
	Left         time.Duration // until the layout's timestamp runs out; at most 292 years
}

func (g *Grant) stats() Stats {
	issued, word := g.issued()
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
	if lo := g.position(now); word > lo {
		s.Borrowed = time.Duration((word-lo)>>g.sequenceBits) * tick
	}
	return s
}

// issued returns how many ids were made, and the word. The two counts of jumps
// tell whether the word and what it skipped belong together.
func (g *Grant) issued() (n, word uint64) {
	for {
		jumped := g.jumped.Load()
		skipped := g.skipped.Load()
		word = g.word.Load()
		if jumped == g.jumping.Load() {
			return word - min(skipped, word), word
		}
		runtime.Gosched()
	}
}
