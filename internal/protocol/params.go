package protocol

import (
	"fmt"
	"math"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
)

// Constants of the protocol that are the same in every namespace.
const (
	// DefaultMaxSkew is how far the clocks of the database and of a process may be apart, unless a lease is
	// configured with less. More is not possible, because LongestWindow allows for this much.
	DefaultMaxSkew = 30 * time.Second

	// Slack is how far ahead of the database's clock the window of a free row may
	// begin. Its last holder may have made ids ahead of that clock.
	Slack = 2 * time.Second

	// LongestLoss is the longest LossWindow of a namespace.
	LongestLoss = 10 * time.Minute

	// eps is how far the clocks of an old and a new primary may be apart.
	eps = 500 * time.Millisecond
)

// Params are the constants of a namespace. They are in the namespace's row, and all of its leases use the same. The
// documentation of package sqlsnow has the conditions that they must meet.
type Params struct {
	Name   string
	UUID   string
	Layout snow.Layout

	Workers   int64
	Loss      time.Duration // how much confirmed history the database may lose
	Probation time.Duration // from a claim to its first window
	MinRenew  time.Duration // between two renewals
	Raise     time.Duration // the most that a renewal raises the ceiling
	First     time.Duration // the first window
	Window    time.Duration // the window of a number that is not pinned
	Grace     time.Duration // from the end of a window to the next claim
	Pinned    time.Duration // the window of a pinned number
	Claim     time.Duration // how long a claim may wait for its first window
}

// NewParams returns the constants for a loss window, two window lengths and a tick.
func NewParams(loss, window, pinned, tick time.Duration) Params {
	p := Params{Loss: loss, Window: window, Pinned: pinned, First: window, Raise: window}
	if loss == 0 {
		return p
	}
	p.Probation = loss + 2*eps
	p.MinRenew = 10 * time.Second
	p.Raise = 20 * time.Second
	p.First = p.Raise
	p.Claim = p.Probation + 30*time.Second
	// A failover can lose the raises of the last loss window. The grace and the
	// next claimant's probation must outlast them. Windows are whole ticks,
	// rounded up, hence two ticks more for each.
	raises := time.Duration(loss/p.MinRenew) + 1
	p.Grace = max(20*time.Second, raises*(p.Raise+2*tick)+eps-p.Probation)
	p.Grace = p.Grace.Round(time.Millisecond) + time.Millisecond
	return p
}

// Check refuses constants with which windows of a number could overlap.
func (p *Params) Check() error {
	sound := p.Workers > 0 && p.Workers <= p.Layout.Workers() && p.Window > 0 && p.Pinned > 0 && p.First > 0 && p.Raise > 0 && p.Grace >= 0
	if p.Loss > 0 {
		tick := p.Layout.Tick()
		lost := time.Duration(p.Loss/max(p.MinRenew, time.Millisecond)) * (p.Raise + 2*tick)
		sound = sound && p.MinRenew > 0 && p.Probation > p.Loss+eps && p.Claim > p.Probation &&
			p.Grace+p.Probation >= lost+p.Raise+2*tick+eps &&
			p.Grace+p.Probation >= lost+p.First+2*tick+eps
	}
	if !sound {
		return fmt.Errorf("%w: the constants of %q are unsafe", dberrors.ErrNamespaceMismatch, p.Name)
	}
	return nil
}

// Ticks returns how many ticks a duration has, rounded up.
func (p *Params) Ticks(d time.Duration) int64 {
	tick := p.Layout.Tick()
	return int64((d + tick - 1) / tick)
}

// TickAt returns the tick at a time of the database, in microseconds since
// 1970, as the statements compute it.
func (p *Params) TickAt(us int64) int64 {
	return (us*1000 - p.Layout.Epoch().UnixNano()) / int64(p.Layout.Tick())
}

// TimeOf returns the start of a tick, or a time in the far future if package
// time can't represent it.
func (p *Params) TimeOf(tick int64) time.Time {
	longest := math.MaxInt64 / int64(p.Layout.Tick())
	return p.Layout.Epoch().Add(time.Duration(min(tick, longest)) * p.Layout.Tick())
}

// Leasable returns when anybody may take a row that nobody writes before: the time at which the statements'
// condition becomes true. claimed is in milliseconds since 1970.
func (p *Params) Leasable(s State, ceiling, claimed int64) time.Time {
	free := p.TimeOf(ceiling - p.Ticks(Slack))
	switch s {
	case Free:
		return free
	case Claimed:
		if until := time.UnixMilli(claimed).Add(p.Claim + p.Grace); until.After(free) {
			return until
		}
		return free
	case Reserved:
		return p.TimeOf(p.LastTick())
	}
	return p.TimeOf(ceiling + p.Ticks(p.Grace))
}

// Late returns how old the last renewal of a granted row is when its holder has missed two in a row.
func (p *Params) Late() time.Duration { return 2*p.RenewEvery(p.Window) + time.Second }

// LastTick returns the last tick of the layout.
func (p *Params) LastTick() int64 { return 1<<p.Layout.Bits().Timestamp - 1 }

// LongestWindow returns how many ticks a window that was granted up to now can reach beyond the present of the
// clock of this process or of any database, provided that the clocks of this process and of the one that has the
// window are each within DefaultMaxSkew of the right time. The clocks of databases need not be.
//
// A lease adopts a reading of a database's clock only if that is at most one skew ahead of its own
// (serverClock.observe). It asks for windows that end at most one skew beyond the window after that (Machine.cap
// and Request.Latest). A window of a free row can begin Slack later. Two skews more are how far the clocks of the
// two processes can be apart.
func (p *Params) LongestWindow() int64 {
	return p.Ticks(max(p.Window, p.Pinned)) + p.Ticks(4*DefaultMaxSkew) + p.Ticks(Slack) + 1
}

// A namespace with more numbers than large renews less often.
const large = 4096

// RenewEvery returns the time from one renewal of a window to the next, without jitter. In a large namespace it is a
// tenth of the window, from half a minute to a minute: thousands of processes are half the load, and nine tenths of
// the window are still left when a renewal fails.
func (p *Params) RenewEvery(window time.Duration) time.Duration {
	every := oftenEnough(window)
	if p.Workers > large {
		every = max(every, min(time.Minute, window/10))
	}
	return every
}

// oftenEnough returns how often a window is renewed in a namespace that is not large.
func oftenEnough(window time.Duration) time.Duration { return min(30*time.Second, window/3) }
