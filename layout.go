package snow

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"time"
)

// Bits are the widths of the parts of an id, from the top:
//
//	0 | timestamp | datacenter | worker | sequence | shard
//
// They add up to at most 63; the bits above them are zero. Timestamp and
// sequence have at least one bit each.
//
// With Lane and Span, which take no bits of their own, the top bits of the
// sequence are inside the timestamp instead:
//
//	0 | timestamp | lane | Span lowest bits of the timestamp | datacenter | worker | rest of the sequence | shard
//
// Ids then ascend in 2^Lane lanes at once. Calls of Next take turns over the
// lanes, and a Fill stays in one. Many connections that insert into one table
// meet at 2^Lane places of its index instead of one, which keeps the pages of a
// clustered index full. In exchange only ids of one lane, and ids of different
// spans of 2^Span ticks, sort by time. A worker's ids are even modulo a power of
// two up to 2^(Sequence-Lane+Shard) instead of 2^(Sequence+Shard).
type Bits struct {
	Timestamp  uint8 // ticks since the epoch
	Datacenter uint8 // any constant that separates workers: data centre, region, business line
	Worker     uint8 // one number for each process that makes ids
	Sequence   uint8 // ids within a tick
	Shard      uint8 // logical shard; ids are unique without it

	Lane uint8 // how many top bits of the sequence are inside the timestamp: 0 to 6, and less than Sequence
	Span uint8 // how many bits of the timestamp are below them: 1 to Timestamp-1, or 0 if Lane is 0
}

// maxLane bounds the number of ranges of ids that a time range has.
const maxLane = 6

func (b Bits) sum() int {
	return int(b.Timestamp) + int(b.Datacenter) + int(b.Worker) + int(b.Sequence) + int(b.Shard)
}

// rest is the width of the sequence without the lane.
func (b Bits) rest() uint8 { return b.Sequence - b.Lane }

// belowTime is the width of all that is below the timestamp.
func (b Bits) belowTime() int { return b.sum() - int(b.Timestamp) - int(b.Lane) }

// join puts a lane into a tick. The tick may be one past the last.
func (b Bits) join(tick, lane uint64) uint64 {
	return (tick>>b.Span<<b.Lane+lane)<<b.Span + tick&(1<<b.Span-1)
}

// split takes the lane out again.
func (b Bits) split(joined uint64) (tick, lane uint64) {
	low := joined & (1<<b.Span - 1)
	above := joined >> b.Span
	return above>>b.Lane<<b.Span | low, above & (1<<b.Lane - 1)
}

// A Layout says what the bits of an [ID] mean: the width of each part, the
// epoch, and the length of a tick. All programs that share an id space must
// use the same layout, for ever.
//
// A Layout is immutable and comparable with ==. The zero Layout is not valid:
// Compose, Decompose and generators refuse it. Methods are safe for concurrent
// use.
type Layout struct {
	epoch int64 // nanoseconds since 1970, UTC
	tick  int64 // nanoseconds
	bits  Bits
}

// Parts are what a [Layout] reads from an id.
type Parts struct {
	Time       time.Time // start of the tick, in UTC
	Datacenter uint64
	Worker     uint64
	Sequence   uint64
	Shard      uint64
}

// minEpoch keeps nanoseconds since an epoch within an int64 until 2192.
var minEpoch = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)

// NewLayout returns the layout with this epoch, tick and widths. The epoch must
// be 1900-01-01 or later and not in the future, and the tick 1 µs to 1 h. A
// layout whose timestamp has run out is refused.
//
// The error is a [*FieldError] that names the field ("bits", "lane", "span",
// "epoch", "tick" or "timestamp"), its value and its bound.
func NewLayout(epoch time.Time, tick time.Duration, bits Bits) (Layout, error) {
	now := time.Now()
	l, err := newLayout(epoch, tick, bits, now)
	if err == nil && !l.End().After(now) {
		err = &FieldError{"timestamp", fmt.Sprintf("of %d bits", bits.Timestamp), "it ran out at " + l.End().Format(time.RFC3339Nano)}
	}
	if err != nil {
		return Layout{}, fmt.Errorf("snow: new layout: %w", err)
	}
	return l, nil
}

func newLayout(epoch time.Time, tick time.Duration, bits Bits, now time.Time) (Layout, error) {
	switch {
	case bits.sum() > 63:
		return Layout{}, &FieldError{"bits", bits.String(), fmt.Sprintf("%d in all, an id has 63", bits.sum())}
	case bits.Timestamp == 0:
		return Layout{}, &FieldError{"bits", bits.String(), "the timestamp has none, want at least 1"}
	case bits.Sequence == 0:
		return Layout{}, &FieldError{"bits", bits.String(), "the sequence has none, want at least 1"}
	case bits.Lane > maxLane || bits.Lane >= bits.Sequence:
		return Layout{}, &FieldError{"lane", strconv.Itoa(int(bits.Lane)), fmt.Sprintf("want at most %d", min(maxLane, bits.Sequence-1))}
	case bits.Lane == 0 && bits.Span != 0:
		return Layout{}, &FieldError{"span", strconv.Itoa(int(bits.Span)), "want 0 without a lane"}
	case bits.Lane != 0 && (bits.Span == 0 || bits.Span >= bits.Timestamp):
		return Layout{}, &FieldError{"span", strconv.Itoa(int(bits.Span)), fmt.Sprintf("want 1 to %d", bits.Timestamp-1)}
	case tick < time.Microsecond || tick > time.Hour:
		return Layout{}, &FieldError{"tick", tick.String(), "want 1µs to 1h0m0s"}
	case epoch.Before(minEpoch):
		return Layout{}, &FieldError{"epoch", epoch.UTC().Format(time.RFC3339Nano), "want 1900-01-01 or later"}
	case epoch.After(now):
		return Layout{}, &FieldError{"epoch", epoch.UTC().Format(time.RFC3339Nano), "it is in the future"}
	}
	return Layout{epoch.UnixNano(), int64(tick), bits}, nil
}

// Bits returns the widths.
func (l Layout) Bits() Bits { return l.bits }

// Epoch returns the instant of tick 0, in UTC.
func (l Layout) Epoch() time.Time { return time.Unix(0, l.epoch).UTC() }

// Tick returns the length of a tick.
func (l Layout) Tick() time.Duration { return time.Duration(l.tick) }

// End returns the first instant that the timestamp can't represent, in UTC. It
// is at most about a thousand million years after the epoch.
func (l Layout) End() time.Time { return l.tickTime(1 << l.bits.Timestamp) }

// Workers returns how many worker numbers a datacenter has.
func (l Layout) Workers() int64 { return 1 << l.bits.Worker }

// PerSecond returns how many ids a second one worker can make in the long run
// with [Generator.Next]. With lanes, [Generator.Fill] makes 2^Bits.Lane times
// fewer: what it leaves of the other lanes is not used.
func (l Layout) PerSecond() float64 {
	if !l.valid() {
		return 0
	}
	return math.Ldexp(1e9/float64(l.tick), int(l.bits.Sequence))
}

// Compose returns the id with these parts. The time is rounded down to a tick.
//
// A part that does not fit is a [*FieldError] that names it ("time",
// "datacenter", "worker", "sequence" or "shard"). Parts that are all zero are
// an error too: the zero ID means "not assigned".
func (l Layout) Compose(p Parts) (ID, error) {
	id, err := l.compose(p)
	if err != nil {
		return 0, fmt.Errorf("snow: compose: %w", err)
	}
	return id, nil
}

func (l Layout) compose(p Parts) (ID, error) {
	if !l.valid() {
		return 0, errInvalidLayout
	}
	tick, _, ok := l.ticks(p.Time)
	if !ok || tick > l.lastTick() {
		bound := "want " + l.Epoch().Format(time.RFC3339Nano) + " or later and before " + l.End().Format(time.RFC3339Nano)
		return 0, &FieldError{"time", p.Time.UTC().Format(time.RFC3339Nano), bound}
	}
	b := l.bits
	for _, f := range []struct {
		name  string
		value uint64
		width uint8
	}{
		{"datacenter", p.Datacenter, b.Datacenter},
		{"worker", p.Worker, b.Worker},
		{"sequence", p.Sequence, b.Sequence},
		{"shard", p.Shard, b.Shard},
	} {
		if err := checkWidth(f.name, f.value, f.width); err != nil {
			return 0, err
		}
	}
	rest := b.rest()
	id := b.join(tick, p.Sequence>>rest)
	id = id<<b.Datacenter | p.Datacenter
	id = id<<b.Worker | p.Worker
	id = id<<rest | p.Sequence&(1<<rest-1)
	id = id<<b.Shard | p.Shard
	if id == 0 {
		return 0, errUnsetID
	}
	return ID(id), nil
}

// Decompose returns the parts of id. A negative id, the zero ID, and an id
// with more bits than the layout are errors.
func (l Layout) Decompose(id ID) (Parts, error) {
	if err := l.check(id); err != nil {
		return Parts{}, fmt.Errorf("snow: decompose: %w", err)
	}
	rest := uint64(id)
	next := func(width uint8) uint64 {
		v := rest & (1<<width - 1)
		rest >>= width
		return v
	}
	var p Parts
	p.Shard = next(l.bits.Shard)
	p.Sequence = next(l.bits.rest())
	p.Worker = next(l.bits.Worker)
	p.Datacenter = next(l.bits.Datacenter)
	tick, lane := l.bits.split(rest)
	p.Sequence |= lane << l.bits.rest()
	p.Time = l.tickTime(tick)
	return p, nil
}

// Time returns the start of the tick of id, in UTC. It is the zero time if
// [Layout.Decompose] returns an error.
func (l Layout) Time(id ID) time.Time {
	if l.check(id) != nil {
		return time.Time{}
	}
	tick, _ := l.bits.split(uint64(id) >> l.bits.belowTime())
	return l.tickTime(tick)
}

// Shard returns the logical shard that id carries: its lowest Bits.Shard bits.
func (l Layout) Shard(id ID) uint64 { return uint64(id) & (1<<l.bits.Shard - 1) }

// WithShard returns id with its logical shard replaced by shard modulo
// 2^Bits.Shard. Generated ids differ in their other bits, so they still differ
// after WithShard.
//
// A layout without shard bits, and an id that [Layout.Decompose] refuses, are
// errors.
func (l Layout) WithShard(id ID, shard uint64) (ID, error) {
	if err := l.check(id); err != nil {
		return 0, fmt.Errorf("snow: with shard: %w", err)
	}
	if l.bits.Shard == 0 {
		return 0, fmt.Errorf("snow: with shard: %w", &FieldError{"shard", strconv.FormatUint(shard, 10), "the layout has no shard bits"})
	}
	mask := ID(1)<<l.bits.Shard - 1
	id = id&^mask | ID(shard)&mask
	if id == 0 {
		return 0, fmt.Errorf("snow: with shard: %w", errUnsetID)
	}
	return id, nil
}

var errInvalidLayout = errors.New("the layout is the zero Layout")

func (l Layout) valid() bool      { return l.tick > 0 }
func (l Layout) lastTick() uint64 { return 1<<l.bits.Timestamp - 1 }

func (l Layout) check(id ID) error {
	switch {
	case !l.valid():
		return errInvalidLayout
	case id < 0:
		return &FieldError{"id", id.String(), errNegative.Error()}
	case id == 0:
		return errUnsetID
	case uint64(id)>>l.bits.sum() != 0:
		return &FieldError{"id", id.String(), errTooManyID.Error()}
	}
	return nil
}

func checkWidth(field string, value uint64, width uint8) error {
	if value>>width == 0 {
		return nil
	}
	return &FieldError{field, strconv.FormatUint(value, 10), fmt.Sprintf("want at most %d", uint64(1)<<width-1)}
}

// ticks returns how many whole ticks t is after the epoch, whether t is inside
// a tick rather than at its start, and ok = false if t is before the epoch. It
// computes with 128 bits, because a layout with long ticks lasts longer than an
// int64 of nanoseconds.
func (l Layout) ticks(t time.Time) (n uint64, inside, ok bool) {
	epoch := l.Epoch()
	if !l.valid() || t.Before(epoch) {
		return 0, false, false
	}
	seconds := uint64(t.Unix()) - uint64(epoch.Unix())
	nanos := int64(t.Nanosecond() - epoch.Nanosecond())
	if nanos < 0 {
		seconds, nanos = seconds-1, nanos+1e9
	}
	hi, lo := bits.Mul64(seconds, 1e9)
	lo, carry := bits.Add64(lo, uint64(nanos), 0)
	hi += carry
	if hi >= uint64(l.tick) {
		return math.MaxInt64, false, true
	}
	n, rem := bits.Div64(hi, lo, uint64(l.tick))
	return min(n, math.MaxInt64), rem != 0, true
}

// tickTime returns the start of tick n, or a time about a thousand million
// years from now where package time would overflow.
func (l Layout) tickTime(n uint64) time.Time {
	const farthest = 1 << 55 // seconds
	seconds, nanos := uint64(farthest), uint64(0)
	if hi, lo := bits.Mul64(n, uint64(l.tick)); hi < 1e9 {
		seconds, nanos = bits.Div64(hi, lo, 1e9)
	}
	epoch := l.Epoch()
	return time.Unix(epoch.Unix()+int64(min(seconds, farthest)), int64(epoch.Nanosecond())+int64(nanos)).UTC()
}
