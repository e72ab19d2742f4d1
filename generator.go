package snow

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// A Source makes ids for code that assigns keys. A [*Generator] is a Source.
type Source interface {
	// Fill sets every element of ids to a new id, in ascending order. If it
	// returns an error, ids holds no id.
	Fill(ctx context.Context, ids []ID) error
}

// Config configures a [Generator]. Its zero value is the default.
type Config struct {
	// MaxAhead bounds how far ids may be stamped ahead of the clock: a burst
	// that uses up the sequence of a tick borrows from the ticks that follow,
	// and past MaxAhead it waits. It is rounded up to whole ticks and is at
	// most one minute. Zero means 10 ms on a Fixed worker and 1 s on any other, such
	// as a lease, or one tick if that is longer.
	//
	// All generators of a Worker have the same MaxAhead.
	//
	// A Fixed worker waits for MaxAhead and a tick, from its making on, before
	// its first id. To lower MaxAhead of a Fixed worker, pause for the old value
	// between the old process and the new one.
	MaxAhead time.Duration

	// OnWait, if not nil, is told of waits, for traces and measurements: it is
	// called before a wait in Next or Fill with the ctx of that call and the time
	// that the wait is to take. What it returns, if not nil, is called after the
	// wait with nil, or with the error of ctx. A call may wait more than once.
	// Calls that need not wait don't look at it. It must be safe for concurrent
	// use, and callers wait for it.
	OnWait func(ctx context.Context, d time.Duration) (done func(err error))
}

const (
	fixedMaxAhead   = 10 * time.Millisecond
	leasedMaxAhead  = time.Second
	longestMaxAhead = time.Minute
)

// A Generator makes ids. Its ids ascend: every id is greater than all ids that
// the generator, or another one on the same [Worker], returned before the call
// began. They are unique as long as the Worker's number is used by nobody else.
//
// Time never goes back in a generator: it runs on the monotonic clock and takes
// over forward corrections of the wall clock, which it looks at about once a
// second while ids are made. It does not follow backward ones. Methods are safe
// for concurrent use.
type Generator struct {
	grant *Grant
	ahead uint64 // positions in the present tick and in those that may be borrowed

	// Before openUntil, in running time, the present tick is known to have been
	// started, and words of the same number that are below openBelow may be used
	// at once. Both are hints, renewed once a tick, that save a look at the word.
	openUntil atomic.Int64
	openBelow atomic.Uint64

	onWait func(context.Context, time.Duration) func(error) // see Config
}

var (
	errNoWorker    = errors.New("the worker is nil")
	errNoGenerator = errors.New("snow: the generator is not made by NewGenerator")
)

// NewGenerator returns a generator that stamps ids for w. A MaxAhead that is
// negative, over one minute, or another one than that of an earlier generator
// of w is a [*FieldError].
func NewGenerator(w Worker, cfg Config) (*Generator, error) {
	g, err := newGenerator(w, cfg)
	if err != nil {
		return nil, fmt.Errorf("snow: new generator: %w", err)
	}
	return g, nil
}

func newGenerator(w Worker, cfg Config) (*Generator, error) {
	if w == nil {
		return nil, errNoWorker
	}
	grant := w.Grant()
	if grant == nil {
		return nil, errNoWorker
	}
	maxAhead := cfg.MaxAhead
	switch {
	case maxAhead < 0 || maxAhead > longestMaxAhead:
		return nil, &FieldError{"MaxAhead", maxAhead.String(), "want 0 to " + longestMaxAhead.String()}
	case maxAhead == 0 && grant.fixed:
		maxAhead = fixedMaxAhead
	case maxAhead == 0:
		maxAhead = leasedMaxAhead
	}
	tick := grant.layout.Tick()
	ticks := min(uint64((maxAhead+tick-1)/tick), grant.layout.lastTick()/2)
	ahead := (ticks + 1) << grant.sequenceBits
	if !grant.ahead.CompareAndSwap(0, ahead) && grant.ahead.Load() != ahead {
		return nil, &FieldError{"MaxAhead", maxAhead.String(), "the worker has a generator with another one"}
	}
	if grant.fixed {
		grant.floor.Store(grant.born + ahead) // the ticks that an earlier process may have borrowed are over by then
	}
	return &Generator{grant: grant, ahead: ahead, onWait: cfg.OnWait}, nil
}

// Layout returns the layout of the ids.
func (g *Generator) Layout() Layout {
	if g == nil || g.grant == nil {
		return Layout{}
	}
	return g.grant.layout
}

// Next returns an id greater than every id that was returned before the call. When the
// sequence is used up as far ahead as Config.MaxAhead allows it waits its
// turn; if ctx ends before that, or is bound to, it returns ctx's error.
//
// Next returns [ErrTimeExhausted] at the end of the layout and
// [ErrLeaseExpired] at the end of the worker's granted ticks.
func (g *Generator) Next(ctx context.Context) (ID, error) {
	if g == nil || g.grant == nil {
		return 0, errNoGenerator
	}
	t := g.grant
	var since time.Duration // spelled out, because clock.now is not inlined
	if t.clock.source == nil {
		since = time.Since(t.clock.base)
	} else {
		since = t.clock.source.mono()
	}
	if t.clock.offset.Load()+int64(since) >= g.openUntil.Load() || ctx.Err() != nil {
		return g.nextInTurn(ctx)
	}
	// The common case: the tick that it is now has been opened, so the next
	// word is a good one. An addition can't fail and so is never repeated,
	// however many goroutines are here; whether its result may be used is
	// looked at after it. A position that starts a tick goes the long way,
	// which keeps count of what happens once a tick.
	// Words of another number are further than ahead from openBelow.
	word := t.word.Add(1)
	if g.openBelow.Load()-1-word < g.ahead && word&t.sequenceMask != 0 {
		return t.id(word), nil
	}
	return g.nextAt(ctx, word)
}

// nextInTurn is Next where the present tick is not open.
func (g *Generator) nextInTurn(ctx context.Context) (ID, error) {
	err := ctx.Err()
	if err == nil {
		var word uint64
		if word, _, err = g.reserve(ctx, 1); err == nil {
			return g.grant.id(word), nil
		}
	}
	return 0, fmt.Errorf("snow: next: %w", err)
}

// nextAt is Next where word is reserved, but may not be used before it is
// settled.
func (g *Generator) nextAt(ctx context.Context, word uint64) (ID, error) {
	err := g.settle(ctx, g.grant.clock.now(), word, 1)
	if errors.Is(err, errMoved) {
		return g.nextInTurn(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("snow: next: %w", err)
	}
	return g.grant.id(word), nil
}

// Fill sets every element of ids to a new id, in ascending order, and makes one
// reservation for all of them as long as Config.MaxAhead allows. A longer slice
// is filled in pieces that others can come between, each of which waits its
// turn as [Generator.Next] does.
//
// If it returns an error, which is one of those that Next returns, every
// element of ids is zero.
func (g *Generator) Fill(ctx context.Context, ids []ID) error {
	if g == nil || g.grant == nil {
		clear(ids)
		return errNoGenerator
	}
	err, rest := ctx.Err(), ids
	for err == nil && len(rest) > 0 {
		var first, n uint64
		if first, n, err = g.reserve(ctx, uint64(len(rest))); err == nil {
			g.grant.write(rest[:n], first)
			rest = rest[n:]
		}
	}
	if err != nil {
		g.grant.skipped.Add(uint64(len(ids) - len(rest)))
		clear(ids)
		return fmt.Errorf("snow: fill %d ids: %w", len(ids), err)
	}
	return nil
}

// Observe makes every later id of g greater than id, which another worker made
// with the same layout: so an answer sorts after the question, whatever the
// clocks of the two say. An id that is not a valid one, or that is further
// ahead than Config.MaxAhead allows ([ErrTooFarAhead]), is an error and
// changes nothing.
func (g *Generator) Observe(id ID) error {
	if g == nil || g.grant == nil {
		return errNoGenerator
	}
	err := g.grant.layout.check(id)
	if err == nil {
		err = g.grant.observe(id, g.ahead)
	}
	if err != nil {
		return fmt.Errorf("snow: observe %d: %w", id, err)
	}
	return nil
}

// Stats returns what happened on the generator's Worker since the process
// started. It takes no lock.
func (g *Generator) Stats() Stats {
	if g == nil || g.grant == nil {
		return Stats{}
	}
	return g.grant.stats()
}
