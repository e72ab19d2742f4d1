package snow

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// A Worker is the right to stamp ids with a worker number. [Fixed] makes one
// from a number that the caller answers for.
type Worker interface {
	// Grant returns what the worker may stamp. It is the same Grant in every
	// call.
	Grant() *Grant
}

// A Grant is a worker number, the ticks that it may stamp, the clock that
// tells which tick it is, and the last position that was used. All generators
// of one Worker share its Grant, so they can't repeat one another.
//
// Those who implement a Worker make one with [NewGrant], and with Open, Raise,
// Suspend, Advance, Retreat and Retire say what it may stamp, and with Explain why not. All methods are safe for concurrent
// use.
type Grant struct {
	clock        clock
	layout       Layout
	seed         uint64 // of the spread of sequences and shards
	fixed        bool   // see Fixed: nothing remembers which ticks an earlier process used
	born         uint64 // position of the tick in which the grant was made
	sequenceMask uint64
	positionMask uint64
	positionBits uint8
	numberBits   uint8
	sequenceBits uint8
	shardBits    uint8
	shardShift   uint8

	// word is the last position reserved, below the number that it is reserved
	// for, so that the two change in one step:
	//
	//	suspended or retired: 1 | datacenter, worker | tick | sequence
	//
	// The position only grows. See tenure for which of them may be used.
	_       [64]byte // the word is written for every id; keep the rest out of its cache line
	word    atomic.Uint64
	_       [64]byte
	tenure  atomic.Pointer[tenure]
	floor   atomic.Uint64 // the first position that may be used by a fixed worker
	ahead   atomic.Uint64 // of all generators: see Generator.ahead; 0 before the first one
	opening sync.Mutex    // one Open, Raise or Retire at a time
	closed  atomic.Bool   // by Retire
	why     atomic.Pointer[expiredError]

	counters
}

// Fixed returns a Worker with a number that the caller answers for: while it is
// in use, nobody else, in this process or another one, may use the same
// datacenter and worker number with the same layout. Call Fixed once for a
// number and share the Worker: its generators can't repeat one another, those
// of a second Worker with that number can.
//
// A Fixed worker has no memory across restarts. Generators wait out their
// [Config].MaxAhead before the first id, so a restart can't repeat an id as
// long as the wall clock is not behind that of the earlier process. Its limit
// is a wall clock that was stepped back at any time since the earlier process
// started: Stats.ClockLag of that process, while it runs, is how long to pause
// before the next one starts.
//
// A number that does not fit the layout is a [*FieldError]; a clock before the
// layout's epoch is [ErrClockBeforeEpoch].
func Fixed(layout Layout, datacenter, worker uint64) (Worker, error) {
	g, err := newGrant(layout, datacenter, worker, nil)
	if err != nil {
		return nil, fmt.Errorf("snow: fixed worker: %w", err)
	}
	return fixed{g}, nil
}

type fixed struct{ grant *Grant }

func (f fixed) Grant() *Grant { return f.grant }

func newGrant(l Layout, datacenter, worker uint64, source timeSource) (*Grant, error) {
	g, err := blankGrant(l)
	if err != nil {
		return nil, err
	}
	number, err := g.numberOf(datacenter, worker)
	if err != nil {
		return nil, err
	}
	if !g.clock.start(l, source) {
		return nil, ErrClockBeforeEpoch
	}
	g.fixed = true
	g.born = g.position(g.clock.now())
	g.install(nil, number, 0, g.end())
	g.word.Store(number)
	return g, nil
}

// blankGrant returns a grant without a clock or a number.
func blankGrant(l Layout) (*Grant, error) {
	if !l.valid() {
		return nil, errInvalidLayout
	}
	b := l.bits
	return &Grant{
		layout:       l,
		seed:         rand.Uint64(),
		positionBits: b.Timestamp + b.Sequence,
		positionMask: 1<<(b.Timestamp+b.Sequence) - 1,
		sequenceMask: 1<<b.Sequence - 1,
		numberBits:   b.Datacenter + b.Worker,
		sequenceBits: b.Sequence,
		shardBits:    b.Shard,
		shardShift:   64 - b.Shard,
	}, nil
}

// end is the position after the last one of the layout. The very last position
// of all is left out: with 63 bits its id would be 2^63-1, which no half-open
// range can hold (see Layout.Between).
func (g *Grant) end() uint64 { return g.positionMask }

// position returns the first position of the tick at ns. Past the end of the
// layout it stays at the position after the last tick, because a shift further
// on would wrap.
func (g *Grant) position(ns int64) uint64 {
	return min(g.clock.ticks(ns), g.layout.lastTick()+1) << (g.sequenceBits & 63)
}

// id returns the id of a word.
func (g *Grant) id(word uint64) ID {
	position := word & g.positionMask
	sequence := position & g.sequenceMask
	id := (position-sequence)<<(g.numberBits&63) | word>>(g.positionBits&63)<<(g.sequenceBits&63) | sequence
	if g.shardBits != 0 {
		id = id<<(g.shardBits&63) | g.spread(position)>>(g.shardShift&63)
	}
	return ID(id)
}

// spreadStart returns the position in the fresh tick at lo to start from. Were
// it always lo, ids made at a low rate would all end in the same digits, and
// id % n would send every row to one shard. The seed keeps outsiders from
// reading off the sequence how many ids a tick had.
func (g *Grant) spreadStart(lo uint64) uint64 {
	return max(lo|mix(lo+g.seed)&g.sequenceMask, 1) // position 0 could be the zero ID
}

// golden is 2^64 over the golden ratio. Its multiples are spread evenly in runs
// and singly (Fibonacci hashing; Knuth, TAOCP 3, 6.4).
const golden = 0x9E3779B97F4A7C15

// spread returns a number whose top bits are the shard of a position, where
// nobody set it.
func (g *Grant) spread(position uint64) uint64 { return (position + g.seed) * golden }
