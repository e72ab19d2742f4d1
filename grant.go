package snow

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A Grant says what a worker may use: a number, the ticks that it may make ids
// in with that number, and the clock that tells the present tick. All
// generators of a Worker share its Grant, so they never repeat each other's ids.
//
// Only code that implements a [Worker] needs its methods: Open, Raise, Suspend
// and Retire change the ticks, Advance and Retreat correct the clock, and
// Explain says why the ticks end. All methods are safe for concurrent use.
type Grant struct {
	positions
	clock clock
	fixed bool   // see Fixed: nothing remembers which ticks an earlier process used
	born  uint64 // position of the tick when the grant was made

	// word holds the last position that was reserved and the number that it is
	// reserved for, so that both change in one step:
	//
	//	suspended or retired: 1 | datacenter, worker | tick | sequence
	//
	// The position only grows. The terms say which of them may be used.
	_       [64]byte // the word is written for every id; keep the rest out of its cache line
	word    atomic.Uint64
	_       [64]byte
	term    atomic.Pointer[term]
	floor   atomic.Uint64 // the first position that a fixed worker may use
	ahead   atomic.Uint64 // of all generators: see Generator.ahead; 0 before the first one
	opening sync.Mutex    // one Open, Raise, Suspend or Retire at a time
	closed  atomic.Bool   // by Retire
	why     atomic.Pointer[expiredError]

	counters
}

// counters are the counts for Stats. Ids are not counted one by one: the number of
// ids follows from the word.
type counters struct {
	jumping, jumped atomic.Uint64 // equal while skipped and the word are consistent
	skipped         atomic.Uint64 // positions up to the word that made no id
	waits           atomic.Uint64
	waited          atomic.Int64
	borrowed        atomic.Uint64 // the most ever, in ticks
}

func (c *counters) noteBorrowed(ticks uint64) {
	for old := c.borrowed.Load(); old < ticks && !c.borrowed.CompareAndSwap(old, ticks); old = c.borrowed.Load() {
	}
}

// A Window is a worker number and the ticks when it may be used. Ticks are
// counted from the layout's epoch.
type Window struct {
	Datacenter uint64
	Worker     uint64
	Floor      uint64 // the first tick that may be used
	Ceiling    uint64 // the first tick that must not be used; at most one past the layout's last
}

// A term is an open window in positions: the words with its number, from its
// first position up to its limit, may be used.
type term struct {
	number uint64 // datacenter and worker, where the word has them
	from   uint64 // the first position
	limit  atomic.Uint64
	prev   atomic.Pointer[term] // calls may still hold words of it that they just reserved
}

const retired = 1 << 63 // in the word: no position may be reserved

var (
	errTooLate = errors.New("no tick of the window is left")
	errMoved   = errors.New("the word belongs to a term that is over") // reserve another one
)

// NewGrant returns a Grant without a window, for code that implements a
// [Worker]. Its running time starts at now, which may differ from the machine's
// clock, and follows the monotonic clock; [Grant.Advance] and
// [Grant.Retreat] correct it. A now before the layout's epoch is a
// [*FieldError].
func NewGrant(layout Layout, now time.Time) (*Grant, error) {
	g, err := blankGrant(layout)
	if err == nil && !g.clock.startAt(layout, now) {
		err = beforeEpoch(layout, "now", now)
	}
	if err != nil {
		return nil, fmt.Errorf("snow: new grant: %w", err)
	}
	return g, nil
}

// blankGrant returns a grant without a clock or a number.
func blankGrant(l Layout) (*Grant, error) {
	if !l.valid() {
		return nil, errInvalidLayout
	}
	return &Grant{positions: positionsOf(l)}, nil
}

func beforeEpoch(l Layout, field string, t time.Time) error {
	return &FieldError{field, t.UTC().Format(time.RFC3339Nano), "want the layout's epoch or later, which is " + l.Epoch().Format(time.RFC3339Nano)}
}

// Open lets generators use w from now on, in place of the window before. The
// caller guarantees that nobody else makes ids with w's number in w's ticks.
//
// Time keeps ascending: the first tick of w that is used comes after every tick
// that was used before. If w has no such tick, Open returns an error and
// changes nothing.
func (g *Grant) Open(w Window) error {
	number, err := g.numberOf(w.Datacenter, w.Worker)
	if err == nil {
		err = g.open(number, w.Floor, w.Ceiling)
	}
	if err != nil {
		return fmt.Errorf("snow: open ticks %d to %d of worker %d: %w", w.Floor, w.Ceiling, w.Worker, err)
	}
	return nil
}

func (g *Grant) open(number, floor, ceiling uint64) error {
	if ceiling > g.layout.lastTick()+1 {
		return &FieldError{"Ceiling", strconv.FormatUint(ceiling, 10), "the layout has " + strconv.FormatUint(g.layout.lastTick()+1, 10) + " ticks"}
	}
	g.opening.Lock()
	defer g.opening.Unlock()
	former := g.term.Load()
	for !g.closed.Load() {
		tick := floor
		if former != nil {
			if g.find(g.word.Load()&^retired) == nil { // the position ran into the number
				return ErrTimeExhausted
			}
			tick = max(tick, g.last()>>g.sequenceBits+1)
		}
		if tick >= ceiling {
			return errTooLate
		}
		from := tick << g.sequenceBits
		// find must know the new term before anybody reserves a word of it.
		g.install(former, number, from, ceiling<<g.sequenceBits)
		// No id gets the position that the word is set to. It is in the first half of the tick, in any lane,
		// as with a Fixed worker.
		first := max(g.spreadStart(from)&^(g.sequenceMask>>1+1), 1)
		for old := g.word.Load(); former == nil || old&g.positionMask < from; old = g.word.Load() {
			if g.jump(old, number|first, first-old&g.positionMask) {
				return nil
			}
		}
		g.term.Store(former)
	}
	return ErrLeaseExpired
}

// install makes a term the present one, after former.
func (g *Grant) install(former *term, number, from, limit uint64) {
	next := &term{number: number, from: from}
	next.limit.Store(min(limit, g.end()))
	if former != nil {
		former.prev.Store(nil)
		next.prev.Store(former)
	}
	g.term.Store(next)
}

// Raise moves the ceiling of the open window up to the tick ceiling. A ceiling
// below the present one changes nothing, because ids below the present one may
// have been made.
func (g *Grant) Raise(ceiling uint64) {
	g.opening.Lock()
	defer g.opening.Unlock()
	present := g.term.Load()
	if present == nil {
		return
	}
	limit := min(min(ceiling, g.layout.lastTick()+1)<<(g.sequenceBits&63), g.end())
	if limit > present.limit.Load() {
		present.limit.Store(limit)
	}
}

// Suspend ends the open window at once, because it may belong to somebody else:
// generators return [ErrLeaseExpired] until the next Open. Calls that reserved
// an id before may still return it.
func (g *Grant) Suspend() {
	g.opening.Lock()
	defer g.opening.Unlock()
	g.word.Or(retired)
}

// Retire ends the grant: from now on its generators return [ErrLeaseExpired],
// and it can't be opened again. It returns the first tick without a reserved
// id, so that the ticks from there on can be handed back. Calls that
// reserved an id before may still return it. Retire returns 0 if there never was
// a window.
func (g *Grant) Retire() (next uint64) {
	g.opening.Lock()
	defer g.opening.Unlock()
	g.closed.Store(true)
	word := g.word.Or(retired)
	switch {
	case g.term.Load() == nil:
		return 0
	case g.find(word&^retired) == nil: // the position ran into the number
		return g.layout.lastTick() + 1
	}
	return word&g.positionMask>>g.sequenceBits + 1
}

// Advance moves running time forward to now. It never moves it back: Retreat
// does. Stats.ClockLag is how far running time is ahead of now.
func (g *Grant) Advance(now time.Time) {
	g.clock.advance(now)
}

// Now returns running time: the time of the ids that are made now.
func (g *Grant) Now() time.Time {
	return g.layout.Epoch().Add(time.Duration(g.clock.now()))
}

// Retreat moves running time back to now, if it is ahead of now because Advance
// was called with a wrong time. Ids do not go back: generators wait, as at full
// load, until the time of the last id is at most Config.MaxAhead in the future,
// or return [ErrLeaseExpired] if the window ends before. Retreat returns the
// time of the last id, and the running time at which the next one is made.
func (g *Grant) Retreat(now time.Time) (last, next time.Time) {
	g.clock.retreat(now)
	position, ahead := g.last(), g.ahead.Load()
	last = g.layout.Epoch().Add(time.Duration(g.start(position)))
	if ahead == 0 || position < ahead {
		return last, last
	}
	return last, g.layout.Epoch().Add(time.Duration(g.due(position, ahead)))
}

// Explain says why the window will end, or has ended: from now on the
// [ErrLeaseExpired] of generators wraps why. It does not end the window. A nil
// why takes the explanation back.
func (g *Grant) Explain(why error) {
	if why == nil {
		g.why.Store(nil)
		return
	}
	g.why.Store(&expiredError{why})
}

// An expiredError is ErrLeaseExpired and the reason for it.
type expiredError struct{ why error }

func (e *expiredError) Error() string   { return ErrLeaseExpired.Error() + ": " + e.why.Error() }
func (e *expiredError) Unwrap() []error { return []error{ErrLeaseExpired, e.why} }

// expired returns ErrLeaseExpired with its explanation.
func (g *Grant) expired() error {
	if e := g.why.Load(); e != nil {
		return e
	}
	return ErrLeaseExpired
}

// position returns the first position of the tick at ns. After the end of the
// layout it stays at the position after the last tick, because a later one would
// overflow.
func (g *Grant) position(ns int64) uint64 {
	return min(g.clock.ticks(ns), g.layout.lastTick()+1) << (g.sequenceBits & 63)
}

// last returns the last position that was reserved.
func (g *Grant) last() uint64 { return g.word.Load() & g.positionMask }

// take reserves the next count positions, which will make n ids, and returns the
// word of the first one.
func (g *Grant) take(count, n uint64) (first uint64) {
	if count == n {
		return g.word.Add(count) - count + 1
	}
	g.jumping.Add(1)
	first = g.word.Add(count) - count + 1
	g.skipped.Add(count - n)
	g.jumped.Add(1)
	return first
}

// jump moves the word from old to new, and counts the positions between them as
// skipped. It reports false if the word is no longer old.
func (g *Grant) jump(old, new, skipped uint64) bool {
	g.jumping.Add(1)
	ok := g.word.CompareAndSwap(old, new)
	if ok {
		g.skipped.Add(skipped)
	}
	g.jumped.Add(1)
	return ok
}

// find returns the term that a word belongs to. It returns nil if that term is
// no longer remembered, if the word was reserved after Suspend or Retire, and
// past the end of the layout, where positions run into the number.
func (g *Grant) find(word uint64) *term {
	for t := g.term.Load(); t != nil; t = t.prev.Load() {
		if word&^g.positionMask == t.number && word&g.positionMask >= t.from {
			return t
		}
	}
	return nil
}

// check returns an error unless the count words that start with word may be used.
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

// ended says why the grant's word has no term.
func (g *Grant) ended() error {
	if t := g.term.Load(); t != nil && g.find(g.word.Load()&^retired) == nil {
		return g.exhausted(t.limit.Load())
	}
	return g.expired()
}

// exhausted says why no position below limit is left.
func (g *Grant) exhausted(limit uint64) error {
	if limit >= g.end() {
		return ErrTimeExhausted
	}
	return g.expired()
}
