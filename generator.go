package snow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A Source makes ids for code that assigns keys. A [*Generator] is a Source. Its
// methods are safe for concurrent use.
type Source interface {
	// Next returns a new id, or an error and no id.
	Next(ctx context.Context) (ID, error)

	// Fill sets every element of ids to a new id, in ascending order. If it
	// returns an error, ids holds no id.
	Fill(ctx context.Context, ids []ID) error
}

// Config configures a [Generator]. Its zero value is the default.
type Config struct {
	// MaxAhead is how far the time of an id may be ahead of the clock: a burst
	// that uses up the sequence of a tick borrows from the following ticks, and
	// waits when it has borrowed MaxAhead. It is rounded up to whole ticks and is
	// at most one minute. Zero means 10 ms on a Fixed worker and 1 s on any other,
	// such as a lease, or one tick if that is longer.
	//
	// All generators of a Worker need the same MaxAhead.
	//
	// The first id of a Fixed worker is made MaxAhead and one tick after the call
	// of Fixed. To lower the MaxAhead of a Fixed worker, pause for the old value
	// between the old process and the new one.
	MaxAhead time.Duration

	// OneLane keeps all ids of the generator in lane 0, if the layout has lanes:
	// they ascend as in a layout without lanes, and each of them uses up
	// the sequence as 2^[Bits.Lane] ids do. It is for databases that gain nothing
	// from lanes, such as PostgreSQL, where others use the same layout, and for
	// ids whose order matters more. The other generators of a Worker may take turns.
	OneLane bool

	// OnWait, if not nil, is called before each wait in Next or Fill, for traces
	// and measurements, with the ctx of that call and the time that the wait will
	// take. The function that it returns, if not nil, is called after the wait
	// with nil or with the error of ctx. One call of Next or Fill may wait more
	// than once; one that does not wait does not call OnWait. OnWait must be safe
	// for concurrent use, and Next and Fill wait until it returns.
	OnWait func(ctx context.Context, d time.Duration) (done func(err error))
}

const (
	fixedMaxAhead   = 10 * time.Millisecond
	leasedMaxAhead  = time.Second
	longestMaxAhead = time.Minute
)

// A Generator makes ids. Its ids ascend: every id is greater than all ids that
// this generator, or another one of the same [Worker], returned before the call
// began. They are unique as long as nobody else uses the Worker's number.
//
// If the layout has lanes (see [Bits]), an id is only greater than the earlier ids
// of its lane, and all ids of earlier spans. Calls of Next take turns over the
// lanes, unless [Config].OneLane is set.
//
// Time never goes back in a generator. It follows the monotonic clock and is
// moved forward when the wall clock is: the wall clock is read about once a
// second while ids are made. A wall clock that is moved back changes nothing.
// Methods are safe for concurrent use.
type Generator struct {
	grant *Grant
	ahead uint64 // positions in the present tick and in the ticks that may be borrowed
	lane  uint64 // 0 with Config.OneLane, otherwise anyLane

	// Until the running time openUntil, the present tick is known to be open, and
	// words below openBelow with the same number may be used at once. Both are
	// hints, renewed once a tick, so that the fast path need not load the word.
	openUntil atomic.Int64
	openBelow atomic.Uint64

	// of *time.Timer; not in the Grant, which several bubbles of testing/synctest may share
	timers sync.Pool
	onWait func(context.Context, time.Duration) func(error) // see Config
}

var (
	errNoWorker    = errors.New("the worker is nil")
	errNoGenerator = errors.New("snow: the generator was not made by NewGenerator")
)

// NewGenerator returns a generator of ids for w. A MaxAhead that is negative,
// more than one minute, or different from the MaxAhead of an earlier generator of
// w is a [*FieldError].
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
		return nil, &FieldError{"MaxAhead", maxAhead.String(), "want the same as the worker's other generators"}
	}
	if grant.fixed {
		grant.floor.Store(grant.born + ahead) // after all ticks that an earlier process may have borrowed
	}
	lane := uint64(anyLane)
	if cfg.OneLane && grant.laneBits != 0 {
		lane = 0
	}
	return &Generator{grant: grant, ahead: ahead, lane: lane, onWait: cfg.OnWait}, nil
}

// Layout returns the layout of the ids.
func (g *Generator) Layout() Layout {
	if g == nil || g.grant == nil {
		return Layout{}
	}
	return g.grant.layout
}

// Next returns an id greater than every id that was returned before the call, of
// its lane if the layout has lanes. If the sequence is used up as far ahead as Config.MaxAhead allows, Next waits for
// its turn. If ctx ends during the wait, Next returns ctx's error. If ctx has a
// deadline before its turn, it returns [context.DeadlineExceeded] at once.
//
// Next returns [ErrTimeExhausted] at the end of the layout and
// [ErrLeaseExpired] at the end of the worker's granted ticks.
func (g *Generator) Next(ctx context.Context) (ID, error) {
	if g == nil || g.grant == nil {
		return 0, errNoGenerator
	}
	grant := g.grant
	var since time.Duration // spelled out, because clock.now is not inlined
	if grant.clock.source == nil {
		since = time.Since(grant.clock.base)
	} else {
		since = grant.clock.source.mono()
	}
	if grant.clock.offset.Load()+int64(since) >= g.openUntil.Load() || ctx.Err() != nil {
		return g.nextInTurn(ctx)
	}
	// The common case: the present tick is open, so the next word may be used.
	// However many goroutines call Next, an addition can't fail and is never
	// repeated; whether its result may be used is checked afterwards. A position
	// that starts a tick takes the slow path, which counts what happens once a
	// tick. A word with another number is never within ahead of openBelow, so it
	// takes the slow path too.
	word := grant.word.Add(1)
	if g.openBelow.Load()-1-word < g.ahead && word&grant.sequenceMask != 0 {
		return grant.id(word), nil
	}
	return g.nextAt(ctx, word)
}

// nextInTurn is Next when the present tick is not open.
func (g *Generator) nextInTurn(ctx context.Context) (ID, error) {
	err := ctx.Err()
	if err == nil {
		var word uint64
		if word, _, err = g.reserve(ctx, 1, g.lane); err == nil {
			return g.grant.id(word), nil
		}
	}
	return 0, fmt.Errorf("snow: next: %w", err)
}

// nextAt is Next for a reserved word that may have to wait, or may be unusable.
func (g *Generator) nextAt(ctx context.Context, word uint64) (ID, error) {
	err := g.await(ctx, g.grant.clock.now(), word, 1)
	if err == nil {
		return g.grant.id(word), nil
	}
	g.grant.skipped.Add(1)
	if errors.Is(err, errMoved) {
		return g.nextInTurn(ctx)
	}
	return 0, fmt.Errorf("snow: next: %w", err)
}

// Fill sets every element of ids to a new id, in ascending order, with one
// reservation for all of them if Config.MaxAhead allows it. A longer slice is
// filled in pieces, and each piece waits for its turn as [Generator.Next] does;
// ids between the pieces may go to other calls.
//
// If the layout has lanes, all ids are of one lane, and the positions of the other
// lanes between them are not used: a Fill uses up the sequence 2^Bits.Lane times as
// fast as Next does.
//
// Fill returns the same errors as Next, and every element of ids is zero then.
func (g *Generator) Fill(ctx context.Context, ids []ID) error {
	if g == nil || g.grant == nil {
		clear(ids)
		return errNoGenerator
	}
	err, rest := ctx.Err(), ids
	for lane := g.lane; err == nil && len(rest) > 0; {
		var first, n uint64
		if first, n, err = g.reserve(ctx, uint64(len(rest)), lane); err == nil {
			g.grant.write(rest[:n], first)
			rest = rest[n:]
			lane = first & g.grant.laneMask // or the pieces would not ascend
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
// with the same layout. So an answer sorts after its question even if the clocks
// of the two workers differ. If id is not valid, or its time is further ahead of
// the clock than Config.MaxAhead (a [*FieldError] of the field "time"), Observe
// returns an error and changes nothing. A layout with lanes can't keep this order:
// Observe always returns a [*FieldError] of the field "layout" then. When the worker has no tick left, it
// returns the errors of Next.
func (g *Generator) Observe(id ID) error {
	if g == nil || g.grant == nil {
		return errNoGenerator
	}
	err := g.grant.layout.check(id)
	if err == nil {
		err = g.observe(id)
	}
	if err != nil {
		return fmt.Errorf("snow: observe %d: %w", id, err)
	}
	return nil
}

// Stats returns what happened on the generator's Worker since the Worker was
// made. It takes no lock.
func (g *Generator) Stats() Stats {
	if g == nil || g.grant == nil {
		return Stats{}
	}
	return g.grant.stats()
}
