package sqlsnow

import (
	"fmt"
	"math"
	"time"

	"github.com/shardsnow/snow"
)

// Constants of the protocol that are the same in every namespace.
const (
	// eps is how far the clocks of an old and a new primary may be apart.
	eps = 500 * time.Millisecond

	// slack is how far ahead of the database's clock the window of a free row
	// may begin: its last holder may have stamped ids ahead of it.
	slack = 2 * time.Second

	// forgetsAll is a database that may lose any amount of what it confirmed.
	forgetsAll = time.Duration(math.MaxInt64)
)

// terms are the constants of a namespace. All of its leases go by the same
// ones, which are those of the row in the database. See doc.go for what they
// have to fulfil.
type terms struct {
	name   string
	uuid   string
	layout snow.Layout

	workers   int64
	loss      time.Duration // how much confirmed history the database may lose
	probation time.Duration // from a claim to its first window
	minRenew  time.Duration // between two renewals
	raise     time.Duration // by a renewal, at most
	first     time.Duration // the first window
	window    time.Duration // of a number that anybody may take
	grace     time.Duration // from the end of a window to the next claim
	pinned    time.Duration // window of a pinned number
	claim     time.Duration // how long a claim may wait for its first window
}

// termsFor returns the terms for a loss window and two window lengths.
func termsFor(loss, window, pinned, tick time.Duration) terms {
	t := terms{loss: loss, window: window, pinned: pinned, first: window, raise: window}
	if loss == 0 {
		return t
	}
	t.probation = loss + 2*eps
	t.minRenew = 10 * time.Second
	t.raise = 20 * time.Second
	t.first = t.raise
	t.claim = t.probation + 30*time.Second
	// A failover can lose the raises of the last loss window. The grace and the
	// next claimant's probation must outlast them. Windows are whole ticks,
	// rounded up, hence two ticks more for each.
	raises := time.Duration(loss/t.minRenew) + 1
	t.grace = max(20*time.Second, raises*(t.raise+2*tick)+eps-t.probation)
	t.grace = t.grace.Round(time.Millisecond) + time.Millisecond
	return t
}

// check refuses constants with which windows of a number could overlap. The
// argument is in doc.go.
func (t *terms) check() error {
	sound := t.workers > 0 && t.workers <= t.layout.Workers() && t.window > 0 && t.pinned > 0 && t.first > 0 && t.raise > 0 && t.grace >= 0
	if t.loss > 0 {
		tick := t.layout.Tick()
		lost := time.Duration(t.loss/max(t.minRenew, time.Millisecond)) * (t.raise + 2*tick)
		sound = sound && t.minRenew > 0 && t.probation > t.loss+eps && t.claim > t.probation &&
			t.grace+t.probation >= lost+t.raise+2*tick+eps &&
			t.grace+t.probation >= lost+t.first+2*tick+eps
	}
	if !sound {
		return fmt.Errorf("%w: the constants of %q are unsafe", ErrNamespaceMismatch, t.name)
	}
	return nil
}

// ticks returns how many ticks a duration has, rounded up.
func (t *terms) ticks(d time.Duration) int64 {
	tick := t.layout.Tick()
	return int64((d + tick - 1) / tick)
}

// tickAt returns the tick at a time of the database, in microseconds since
// 1970, as the statements compute it.
func (t *terms) tickAt(us int64) int64 {
	return (us*1000 - t.layout.Epoch().UnixNano()) / int64(t.layout.Tick())
}

// timeOf returns the start of a tick, or a time far away where package time
// has no room for it.
func (t *terms) timeOf(tick int64) time.Time {
	longest := math.MaxInt64 / int64(t.layout.Tick())
	return t.layout.Epoch().Add(time.Duration(min(tick, longest)) * t.layout.Tick())
}

func (t *terms) lastTick() int64 { return 1<<t.layout.Bits().Timestamp - 1 }

// need is what a session must be fit for.
func (t *terms) need() need {
	if t.loss > 0 {
		return toLeaseLossy
	}
	return toLease
}
