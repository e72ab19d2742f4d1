package snow

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// A Window is a worker number and the ticks that it may stamp. Ticks are
// counted from the layout's epoch.
type Window struct {
	Datacenter uint64
	Worker     uint64
	Floor      uint64 // the first tick that may be stamped
	Ceiling    uint64 // the first tick that must not be stamped; at most one past the layout's last
}

// A tenure is the time in which a grant has one window: words of its number,
// from its first position up to its limit, may be used.
type tenure struct {
	number uint64 // datacenter and worker, where the word has them
	from   uint64 // the first position
	limit  atomic.Uint64
	prev   atomic.Pointer[tenure] // whose last words may still be on their way
}

const retired = 1 << 63 // in the word: nothing may be taken from it

var (
	errTooLate = errors.New("the window is over before it could begin")
	errMoved   = errors.New("the word is of a tenure long over") // try again
)

// NewGrant returns a Grant that may not stamp anything yet, for those who
// implement a [Worker]. Its running time starts at now, which need not be what
// the machine's clock says, and goes on by the monotonic clock; [Grant.Advance]
// corrects it. A now before the layout's epoch is [ErrClockBeforeEpoch].
func NewGrant(layout Layout, now time.Time) (*Grant, error) {
	g, err := blankGrant(layout)
	if err == nil && !g.clock.startAt(layout, now) {
		err = ErrClockBeforeEpoch
	}
	if err != nil {
		return nil, fmt.Errorf("snow: new grant: %w", err)
	}
	return g, nil
}

// Open lets the grant stamp w from now on, in place of the window before, if
// any. The caller answers for it that nobody else may stamp w's number in its
// ticks. Ids go on ascending: the first tick that is stamped comes after all
// those that were reserved in the window before. If w has none that does, its
// Ceiling too low, Open returns an error and changes nothing.
func (g *Grant) Open(w Window) error {
	number, err := g.numberOf(w.Datacenter, w.Worker)
	if err == nil {
		err = g.open(number, w.Floor, w.Ceiling)
	}
	if err != nil {
		return fmt.Errorf("snow: open the ticks %d to %d of worker %d: %w", w.Floor, w.Ceiling, w.Worker, err)
	}
	return nil
}

func (g *Grant) open(number, floor, ceiling uint64) error {
	if ceiling > g.layout.lastTick()+1 {
		return &FieldError{"Ceiling", strconv.FormatUint(ceiling, 10), "the layout has " + strconv.FormatUint(g.layout.lastTick()+1, 10) + " ticks"}
	}
	g.opening.Lock()
	defer g.opening.Unlock()
	former := g.tenure.Load()
	for !g.closed.Load() {
		tick := floor
		if former != nil {
			if g.find(g.word.Load()&^retired) == nil { // it ran into the number
				return ErrTimeExhausted
			}
			tick = max(tick, g.last()>>g.sequenceBits+1)
		}
		if tick >= ceiling {
			return errTooLate
		}
		from := tick << g.sequenceBits
		// The new tenure is known before the first word of it can be taken.
		g.install(former, number, from, ceiling<<g.sequenceBits)
		// The position that the word is put on is not used itself.
		first := min(g.spreadStart(from), from|g.sequenceMask>>1)
		for old := g.word.Load(); former == nil || old&g.positionMask < from; old = g.word.Load() {
			if g.jump(old, number|first, first-old&g.positionMask) {
				return nil
			}
		}
		g.tenure.Store(former)
	}
	return ErrLeaseExpired
}

// install makes a tenure the present one, after former.
func (g *Grant) install(former *tenure, number, from, limit uint64) {
	next := &tenure{number: number, from: from}
	next.limit.Store(min(limit, g.end()))
	if former != nil {
		former.prev.Store(nil)
		next.prev.Store(former)
	}
	g.tenure.Store(next)
}

// Raise moves the ceiling of the open window up to the tick ceiling. A lower
// one than before changes nothing, for ids below the old one may be made
// already.
func (g *Grant) Raise(ceiling uint64) {
	g.opening.Lock()
	defer g.opening.Unlock()
	held := g.tenure.Load()
	if held == nil {
		return
	}
	limit := min(min(ceiling, g.layout.lastTick()+1)<<(g.sequenceBits&63), g.end())
	if limit > held.limit.Load() {
		held.limit.Store(limit)
	}
}

// Suspend ends the open window at once, where it may be somebody else's: from
// now on generators return [ErrLeaseExpired], until the next Open. Ids that were
// reserved before may still be on their way to their callers.
func (g *Grant) Suspend() {
	g.opening.Lock()
	defer g.opening.Unlock()
	g.word.Or(retired)
}

// Retire ends the grant: from now on its generators return [ErrLeaseExpired],
// and it can't be opened again. It returns the first tick that none of them has
// reserved an id in; ids of earlier ticks may still be on their way to callers
// who wait for them. Without a window it is 0.
func (g *Grant) Retire() (next uint64) {
	g.opening.Lock()
	defer g.opening.Unlock()
	g.closed.Store(true)
	word := g.word.Or(retired)
	switch {
	case g.tenure.Load() == nil:
		return 0
	case g.find(word&^retired) == nil: // it ran into the number
		return g.layout.lastTick() + 1
	}
	return word&g.positionMask>>g.sequenceBits + 1
}

// Advance moves running time forward to now, as of this call. It never moves
// it back, for which there is Retreat: how far it is ahead of now is Stats.ClockLag.
func (g *Grant) Advance(now time.Time) {
	g.clock.advance(now)
}

// Now returns running time, which ids are stamped with.
func (g *Grant) Now() time.Time {
	return g.layout.Epoch().Add(time.Duration(g.clock.now()))
}

// Retreat moves running time back to now, as of this call, where it is ahead of
// it: the clock that it was advanced by was wrong. Ids do not go back. Until the
// time of the last one is reached again, generators go as far ahead of it as
// Config.MaxAhead lets them, and then wait, or return [ErrLeaseExpired] where the window ends
// before. Retreat returns that time.
func (g *Grant) Retreat(now time.Time) (last time.Time) {
	g.clock.retreat(now)
	return g.layout.Epoch().Add(time.Duration(g.start(g.last())))
}

// Explain says why the window is not a longer one: the [ErrLeaseExpired] of
// generators wraps why from now on. It does not end the window.
func (g *Grant) Explain(why error) {
	if why == nil {
		g.why.Store(nil)
		return
	}
	g.why.Store(&expiredError{why})
}

// An expiredError is ErrLeaseExpired, and why.
type expiredError struct{ why error }

func (e *expiredError) Error() string   { return ErrLeaseExpired.Error() + ": " + e.why.Error() }
func (e *expiredError) Unwrap() []error { return []error{ErrLeaseExpired, e.why} }

// expired returns ErrLeaseExpired, with what explains it.
func (g *Grant) expired() error {
	if e := g.why.Load(); e != nil {
		return e
	}
	return ErrLeaseExpired
}

// numberOf returns a number as the word has it.
func (g *Grant) numberOf(datacenter, worker uint64) (uint64, error) {
	if err := checkWidth("datacenter", datacenter, g.layout.bits.Datacenter); err != nil {
		return 0, err
	}
	if err := checkWidth("worker", worker, g.layout.bits.Worker); err != nil {
		return 0, err
	}
	return (datacenter<<g.layout.bits.Worker | worker) << g.positionBits, nil
}

// last returns the last position reserved.
func (g *Grant) last() uint64 { return g.word.Load() & g.positionMask }

// find returns the tenure that a word belongs to. It is nil for a word of a
// tenure long over, for one taken after Suspend or Retire, and past the end of the layout,
// where positions run into the number.
func (g *Grant) find(word uint64) *tenure {
	for t := g.tenure.Load(); t != nil; t = t.prev.Load() {
		if word&^g.positionMask == t.number && word&g.positionMask >= t.from {
			return t
		}
	}
	return nil
}

// check says whether count positions from that of word on may be used.
func (g *Grant) check(word, count uint64) error {
	t := g.find(word)
	if t == nil {
		return errMoved
	}
	if limit := t.limit.Load(); word&g.positionMask+count > limit {
		return g.exhausted(limit)
	}
	return nil
}

// ended says why the grant's word belongs to no tenure.
func (g *Grant) ended() error {
	if t := g.tenure.Load(); t != nil && g.find(g.word.Load()&^retired) == nil {
		return g.exhausted(t.limit.Load())
	}
	return g.expired()
}
