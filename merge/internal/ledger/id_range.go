package ledger

import (
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// An IDRange is the new ids that the rows of one source table may get: those of
// a reserved worker number whose sequence is from First up to and not including
// End. So every tick is free to use. If the layout has lanes, the range is inside
// one, so that its ids ascend from tick to tick. Or, where IDs are numbers, the
// numbers from First up to and not including End.
//
// The place of an id is its number among the ids of the range, in order:
// the id without the bits that all of them have in common. A number is its own
// place.
type IDRange struct {
	IDs        plan.IDs
	Offset     int64 // IDsOffset: from the old ids to the new ones
	Layout     snow.Layout
	Datacenter uint64
	Worker     uint64
	First, End uint64
}

// form returns what the ledger has of a range besides its numbers.
func (r IDRange) form() string {
	switch r.IDs {
	case plan.IDsOffset:
		return string(r.IDs) + " " + strconv.FormatInt(r.Offset, 10)
	case plan.IDsDense:
		return string(r.IDs)
	}
	return r.Layout.String()
}

// parseForm is the inverse of form.
func (r *IDRange) parseForm(text string) (err error) {
	kind, offset, _ := strings.Cut(text, " ")
	switch r.IDs = plan.IDs(kind); r.IDs {
	case plan.IDsOffset:
		r.Offset, err = strconv.ParseInt(offset, 10, 64)
	case plan.IDsDense:
	default:
		r.IDs = ""
		r.Layout, err = snow.ParseLayout(text)
	}
	return err
}

// Part cuts the sequence of a worker number into n equal parts, a power of two
// of them and at least one for each lane, and returns the i-th. It returns false
// if there are fewer.
func (r IDRange) Part(i, n int) (IDRange, bool) {
	b := r.Layout.Bits()
	width := min(uint64(1)<<b.Sequence>>bits.Len(uint(n-1)), 1<<(b.Sequence-b.Lane))
	r.First = uint64(i) * width
	r.End = r.First + width
	return r, width > 0
}

// Width is how many ids of a tick there are.
func (r IDRange) Width() int64 { return int64(r.End - r.First) }

// Compose returns the lowest id of a tick and a sequence.
func (r IDRange) Compose(tick int64, sequence uint64) uint64 {
	b := r.Layout.Bits()
	rest := b.Sequence - b.Lane
	id := uint64(tick) >> b.Span
	id = id<<b.Lane | sequence>>rest
	id = id<<b.Span | uint64(tick)&(1<<b.Span-1)
	id = id<<b.Datacenter | r.Datacenter
	id = id<<b.Worker | r.Worker
	id = id<<rest | sequence&(1<<rest-1)
	return id << b.Shard
}

// Stride is how far the ids of a tick are from the ids of the next tick of its span.
func (r IDRange) Stride() uint64 { return r.Compose(1, 0) - r.Compose(0, 0) }

// Leap is how much farther than a stride the last tick of a span is from the first
// one of the next span: the ids of the other lanes are between them.
func (r IDRange) Leap() uint64 {
	b := r.Layout.Bits()
	return r.Stride() << b.Span * (1<<b.Lane - 1)
}

// own returns what the ids of the range have in common: id & mask == value. No
// two ranges of a run have the same.
func (r IDRange) own() (mask, value uint64) {
	// The bits of the lane are the bits of Leap.
	return r.Stride() - uint64(r.Width())<<r.Layout.Bits().Shard | r.Leap(), r.Compose(0, r.First)
}

// Has reports whether a row with an old id may have a new one.
func (r IDRange) Has(old, id int64) bool {
	switch {
	case !r.IDs.AreNumbers():
		mask, value := r.own()
		return uint64(id)&mask == value
	case id < 1 || uint64(id) < r.First || uint64(id) >= r.End:
		return false
	}
	return r.IDs != plan.IDsOffset || id-r.Offset == old
}

// Tick returns the tick of an instant, below 0 before the epoch.
func (r IDRange) Tick(t time.Time) int64 {
	return int64(t.Sub(r.Layout.Epoch()) / r.Layout.Tick()) // Sub saturates
}

// Least returns the first tick that is used. Its ids are big, if that is not
// long after the epoch: those below are of databases that count, and rows that
// keep such an id may be in the target.
func (r IDRange) Least() int64 {
	ticks := int64((sqlvalue.BigID + r.Stride() - 1) / r.Stride())
	if ticks > int64(time.Hour/r.Layout.Tick()) {
		return 0
	}
	return ticks
}
