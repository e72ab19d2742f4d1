package snow

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Bits are the widths of the parts of an id, from the top:
//
//	0 | timestamp | datacenter | worker | sequence | shard
//
// They add up to at most 63; the bits above them are zero. Timestamp and
// sequence have at least one bit each.
type Bits struct {
	Timestamp  uint8 // ticks since the epoch
	Datacenter uint8 // any constant that separates workers: data centre, region, business line
	Worker     uint8 // one number for each process that makes ids
	Sequence   uint8 // ids within a tick
	Shard      uint8 // logical shard; ids are unique without it
}

func (b Bits) sum() int {
	return int(b.Timestamp) + int(b.Datacenter) + int(b.Worker) + int(b.Sequence) + int(b.Shard)
}

func (b Bits) String() string {
	return fmt.Sprintf("%d+%d+%d+%d+%d", b.Timestamp, b.Datacenter, b.Worker, b.Sequence, b.Shard)
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
// The error is a [*FieldError] that names the field ("bits", "epoch", "tick"
// or "timestamp"), its value and its bound.
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
	case tick < time.Microsecond || tick > time.Hour:
		return Layout{}, &FieldError{"tick", tick.String(), "want 1µs to 1h0m0s"}
	case epoch.Before(minEpoch):
		return Layout{}, &FieldError{"epoch", epoch.UTC().Format(time.RFC3339Nano), "want 1900-01-01 or later"}
	case epoch.After(now):
		return Layout{}, &FieldError{"epoch", epoch.UTC().Format(time.RFC3339Nano), "it is in the future"}
	}
	return Layout{epoch.UnixNano(), int64(tick), bits}, nil
}

// String returns the layout as "41+5+5+12+0/1ms@2010-11-04T01:42:54.657Z": the
// widths in the order of [Bits], the tick, and the epoch in UTC. It is ASCII: a
// microsecond is "us". [ParseLayout] reads it.
func (l Layout) String() string {
	if !l.valid() {
		return "invalid layout"
	}
	return l.bits.String() + "/" + strings.ReplaceAll(l.Tick().String(), "µ", "u") + "@" + l.Epoch().Format(time.RFC3339Nano)
}

var errLayoutForm = errors.New(`want a form like "41+0+10+12+0/1ms@2024-01-01T00:00:00Z"`)

// ParseLayout parses exactly what [Layout.String] returns. Unlike [NewLayout]
// it accepts a layout whose timestamp has run out, because the ids that were
// made with it must still be readable. The error is a [*ParseError]; if a value
// is out of bounds, it wraps a [*FieldError].
func ParseLayout(s string) (Layout, error) {
	l, err := parseLayout(s)
	if err != nil {
		return Layout{}, fmt.Errorf("snow: %w", &ParseError{"layout", s, err})
	}
	return l, nil
}

func parseLayout(s string) (Layout, error) {
	widths, rest, ok := strings.Cut(s, "/")
	tickText, epochText, ok2 := strings.Cut(rest, "@")
	fields := strings.Split(widths, "+")
	if !ok || !ok2 || len(fields) != 5 {
		return Layout{}, errLayoutForm
	}
	var w [5]uint8
	for i, f := range fields {
		n, err := strconv.ParseUint(f, 10, 8)
		if err != nil {
			return Layout{}, errLayoutForm
		}
		w[i] = uint8(n)
	}
	tick, err := time.ParseDuration(tickText)
	if err != nil {
		return Layout{}, errLayoutForm
	}
	epoch, err := time.Parse(time.RFC3339Nano, epochText)
	if err != nil {
		return Layout{}, errLayoutForm
	}
	l, err := newLayout(epoch, tick, Bits{w[0], w[1], w[2], w[3], w[4]}, time.Now())
	if err == nil && l.String() != s { // one spelling each, so that texts can be compared
		err = errLayoutForm
	}
	return l, err
}

// MarshalText returns what String returns. The zero Layout is an error.
func (l Layout) MarshalText() ([]byte, error) {
	if !l.valid() {
		return nil, fmt.Errorf("snow: marshal layout: %w", errInvalidLayout)
	}
	return []byte(l.String()), nil
}

// UnmarshalText parses what MarshalText returns, as [ParseLayout] does.
func (l *Layout) UnmarshalText(b []byte) error {
	v, err := ParseLayout(string(b))
	if err == nil {
		*l = v
	}
	return err
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

// PerSecond returns how many ids a second one worker can make in the long run.
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
	id := tick
	for _, f := range []struct {
		name  string
		value uint64
		width uint8
	}{
		{"datacenter", p.Datacenter, l.bits.Datacenter},
		{"worker", p.Worker, l.bits.Worker},
		{"sequence", p.Sequence, l.bits.Sequence},
		{"shard", p.Shard, l.bits.Shard},
	} {
		if err := checkWidth(f.name, f.value, f.width); err != nil {
			return 0, err
		}
		id = id<<f.width | f.value
	}
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
	p.Sequence = next(l.bits.Sequence)
	p.Worker = next(l.bits.Worker)
	p.Datacenter = next(l.bits.Datacenter)
	p.Time = l.tickTime(rest)
	return p, nil
}

// Time returns the start of the tick of id, in UTC. It is the zero time if
// [Layout.Decompose] returns an error.
func (l Layout) Time(id ID) time.Time {
	if l.check(id) != nil {
		return time.Time{}
	}
	return l.tickTime(uint64(id) >> l.timeShift())
}

// Between returns lo and hi such that the ids in [lo, hi) are those whose
// [Layout.Time] is in [from, to). Adjacent time ranges share no id and miss none.
// If from and to are tick boundaries, these are the ids made in [from, to).
//
// An instant before the epoch counts as the epoch, and one after [Layout.End] as
// the end. If to is not after from, the range is empty.
func (l Layout) Between(from, to time.Time) (lo, hi ID) {
	lo, hi = l.firstID(from), l.firstID(to)
	return lo, max(lo, hi)
}

// firstID returns the smallest id of the first tick that starts at t or later.
func (l Layout) firstID(t time.Time) ID {
	tick, inside, ok := l.ticks(t)
	if !ok {
		return 0
	}
	if inside {
		tick++
	}
	if shift := l.timeShift(); tick <= l.lastTick() {
		return ID(tick << shift)
	} else if end := uint64(l.lastTick()+1) << shift; end <= math.MaxInt64 {
		return ID(end)
	}
	// With 63 bits this bound leaves out the very last id, which no generator makes.
	return math.MaxInt64
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

func (l Layout) timeShift() int { return l.bits.sum() - int(l.bits.Timestamp) }

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
