package snow

import (
	"fmt"
	"math/rand/v2"
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
type Grant struct {
	clock        clock
	number       uint64 // datacenter and worker, above the sequence
	sequenceMask uint64
	numberBits   uint8
	sequenceBits uint8
	shardBits    uint8
	shardShift   uint8
	layout       Layout
	seed         uint64 // of the spread of sequences and shards
	born         uint64 // position of the tick in which the grant was made

	// word is the last position reserved: tick << Bits.Sequence | sequence. It
	// only grows. Positions from word+1 up to limit are free to be reserved.
	_     [64]byte // the word is written for every id; keep the rest out of its cache line
	word  atomic.Uint64
	_     [64]byte
	limit atomic.Uint64 // the first position that must not be used; only grows, for generators keep copies
	floor atomic.Uint64 // the first position that may be used
	ahead atomic.Uint64 // of all generators: see Generator.ahead; 0 before the first one

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
	if !l.valid() {
		return nil, errInvalidLayout
	}
	if err := checkWidth("datacenter", datacenter, l.bits.Datacenter); err != nil {
		return nil, err
	}
	if err := checkWidth("worker", worker, l.bits.Worker); err != nil {
		return nil, err
	}
	g := &Grant{
		layout:       l,
		number:       (datacenter<<l.bits.Worker | worker) << l.bits.Sequence,
		sequenceBits: l.bits.Sequence,
		shardBits:    l.bits.Shard,
		shardShift:   64 - l.bits.Shard,
		sequenceMask: 1<<l.bits.Sequence - 1,
		numberBits:   l.bits.Datacenter + l.bits.Worker,
		seed:         rand.Uint64(),
	}
	if !g.clock.start(l, source) {
		return nil, ErrClockBeforeEpoch
	}
	g.born = g.position(g.clock.now())
	g.limit.Store(g.end())
	return g, nil
}

// end is the position after the last one of the layout. The very last position
// of all is left out: with 63 bits its id would be 2^63-1, which no half-open
// range can hold (see Layout.Between).
func (g *Grant) end() uint64 { return 1<<(g.layout.bits.Timestamp+g.sequenceBits) - 1 }

// position returns the first position of the tick at ns. Past the end of the
// layout it stays at the position after the last tick, because a shift further
// on would wrap.
func (g *Grant) position(ns int64) uint64 {
	return min(g.clock.ticks(ns), g.layout.lastTick()+1) << (g.sequenceBits & 63)
}

// id returns the id at a position.
func (g *Grant) id(position uint64) ID {
	sequence := position & g.sequenceMask
	id := (position-sequence)<<(g.numberBits&63) | g.number | sequence
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
