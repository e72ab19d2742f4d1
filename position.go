package snow

import "math/rand/v2"

// positions is the bit arithmetic of a layout. It has four kinds of values:
//
//   - A tick counts from the layout's epoch.
//   - A position is tick | sequence. It grows by one from id to id. With lanes it
//     is tick | rest of the sequence | lane, so that ids take turns over the lanes.
//   - A row is a position without the lane. It grows by one from id to id of a lane.
//   - A number is datacenter | worker, shifted to where a word has it.
//   - A word is number | position. The top bit of a word is free: see retired.
//
// An id is tick | number | sequence | shard, so that ids of all workers sort by
// time; with lanes, the lane is inside the tick (see Bits). A word has the number
// on top, so that adding 1 to it makes the next word of the same worker.
type positions struct {
	layout       Layout
	seed         uint64 // for the spread of sequences and shards
	sequenceMask uint64
	positionMask uint64
	restMask     uint64 // the sequence of a row
	laneMask     uint64
	belowLane    uint64 // mask of what an id has below the lane, without the shard
	positionBits uint8
	numberBits   uint8
	sequenceBits uint8
	restBits     uint8
	laneBits     uint8
	laneShift    uint8 // bits of belowLane
	shardBits    uint8
	shardShift   uint8
}

func positionsOf(l Layout) positions {
	b := l.bits
	laneShift := b.Span + b.Datacenter + b.Worker + b.rest()
	return positions{
		layout:       l,
		seed:         rand.Uint64(),
		positionBits: b.Timestamp + b.Sequence,
		positionMask: 1<<(b.Timestamp+b.Sequence) - 1,
		sequenceMask: 1<<b.Sequence - 1,
		numberBits:   b.Datacenter + b.Worker,
		sequenceBits: b.Sequence,
		restMask:     1<<b.rest() - 1,
		restBits:     b.rest(),
		laneMask:     1<<b.Lane - 1,
		laneBits:     b.Lane,
		belowLane:    1<<laneShift - 1,
		laneShift:    laneShift,
		shardBits:    b.Shard,
		shardShift:   64 - b.Shard,
	}
}

// numberOf returns the number of a worker.
func (p *positions) numberOf(datacenter, worker uint64) (uint64, error) {
	if err := checkWidth("datacenter", datacenter, p.layout.bits.Datacenter); err != nil {
		return 0, err
	}
	if err := checkWidth("worker", worker, p.layout.bits.Worker); err != nil {
		return 0, err
	}
	return (datacenter<<p.layout.bits.Worker | worker) << p.positionBits, nil
}

// end is the position after the last one that is used. The very last position
// of the layout is left out: with 63 bits its id would be 2^63-1, which no
// half-open range can contain (see Layout.Between).
func (p *positions) end() uint64 { return p.positionMask }

// start returns the running time, in nanoseconds since the epoch, at which the
// tick of a position starts.
func (p *positions) start(position uint64) int64 {
	return int64(position>>p.sequenceBits) * p.layout.tick
}

// id returns the id of a word.
func (p *positions) id(word uint64) ID {
	position := word & p.positionMask
	row := position >> (p.laneBits & 63)
	rest := row & p.restMask
	id := (row-rest)<<(p.numberBits&63) | word>>(p.positionBits&63)<<(p.restBits&63) | rest
	if p.laneBits != 0 {
		below := id & p.belowLane
		id = (id-below)<<(p.laneBits&63) | position&p.laneMask<<(p.laneShift&63) | below
	}
	if p.shardBits != 0 {
		id = id<<(p.shardBits&63) | p.spread(position)>>(p.shardShift&63)
	}
	return ID(id)
}

// extent returns how many positions n ids of one lane take, from the first one to
// the last one. Positions of the other lanes in between are not used.
func (p *positions) extent(n uint64) uint64 { return (n-1)<<(p.laneBits&63) + 1 }

// write sets ids to the ids of one lane that start with the word first.
func (p *positions) write(ids []ID, first uint64) {
	for len(ids) > 0 {
		n := min(uint64(len(ids)), p.restMask-first>>(p.laneBits&63)&p.restMask+1)
		run := ids[:n]
		if p.shardBits == 0 { // ids of a tick are consecutive numbers
			next := p.id(first)
			for i := range run {
				run[i] = next
				next++
			}
		} else {
			for i := range run {
				run[i] = p.id(first + uint64(i)<<(p.laneBits&63))
			}
		}
		ids, first = ids[n:], first+n<<(p.laneBits&63)
	}
}

// turn returns the position of the first id in the tick that starts at position
// lo, where last is the last position before: it is in the next lane, and in the
// row of spreadStart.
func (p *positions) turn(lo, last uint64) uint64 {
	return max(p.spreadStart(lo)&^p.laneMask|(last+1)&p.laneMask, 1)
}

// spreadStart returns the position of the first id in the tick that starts at
// position lo. If that were always lo, ids made at a low rate would all end in
// the same digits, and id % n would send every row to one shard. The seed hides
// from outsiders how many ids a tick had.
func (p *positions) spreadStart(lo uint64) uint64 {
	return max(lo|mix(lo+p.seed)&p.sequenceMask, 1) // position 0 could be the zero ID
}

// golden is 2^64 over the golden ratio. The top bits of its multiples are spread
// evenly, also over a short run of multiples (Fibonacci hashing; Knuth, TAOCP 3,
// 6.4).
const golden = 0x9E3779B97F4A7C15

// spread returns a number whose top bits are the shard of an id. The caller of
// Next may replace that shard with Layout.WithShard.
func (p *positions) spread(position uint64) uint64 { return (position + p.seed) * golden }
