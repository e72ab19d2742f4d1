package merge

import (
	"math/bits"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
)

// An idRange is the new ids that the rows of one source table may get: those of
// a reserved worker number whose sequence is from first up to and not including
// end. So every tick is free to use.
//
// The place of an id is its number among those of the range, in their order:
// the id without the bits that all of them have in common.
type idRange struct {
	layout     snow.Layout
	datacenter uint64
	worker     uint64
	first, end uint64
}

// part cuts the sequence of a worker number into n equal parts, a power of two
// of them, and returns the i-th. It returns false if there are fewer.
func (r idRange) part(i, n int) (idRange, bool) {
	all := uint64(1) << r.layout.Bits().Sequence
	width := all >> bits.Len(uint(n-1))
	r.first = uint64(i) * width
	r.end = r.first + width
	return r, width > 0
}

// width is how many ids of a tick there are.
func (r idRange) width() int64 { return int64(r.end - r.first) }

// compose returns the lowest id of a tick and a sequence.
func (r idRange) compose(tick int64, sequence uint64) uint64 {
	b := r.layout.Bits()
	id := uint64(tick)
	id = id<<b.Datacenter | r.datacenter
	id = id<<b.Worker | r.worker
	id = id<<b.Sequence | sequence
	return id << b.Shard
}

// stride is how far the ids of a tick are from those of the next one.
func (r idRange) stride() uint64 { return r.compose(1, 0) - r.compose(0, 0) }

// own returns what the ids of the range have in common: id & mask == value. No
// two ranges of a run have the same.
func (r idRange) own() (mask, value uint64) {
	return r.stride() - uint64(r.width())<<r.layout.Bits().Shard, r.compose(0, r.first)
}

// place returns the place of an id of the range.
func (r idRange) place(id int64) int64 {
	b := r.layout.Bits()
	sequence := id >> b.Shard & (1<<b.Sequence - 1)
	return id/int64(r.stride())*r.width() + sequence - int64(r.first)
}

// tick returns the tick of an instant, below 0 before the epoch.
func (r idRange) tick(t time.Time) int64 {
	return int64(t.Sub(r.layout.Epoch()) / r.layout.Tick()) // Sub saturates
}

// least returns the first tick that is used. Its ids are big, if that is not
// long after the epoch: those below are of databases that count, and rows that
// keep such an id may be in the target.
func (r idRange) least() int64 {
	ticks := int64((sqlvalue.BigID + r.stride() - 1) / r.stride())
	if ticks > int64(time.Hour/r.layout.Tick()) {
		return 0
	}
	return ticks
}
