package snow

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String returns the layout as "41+5+5+12+0/1ms@2010-11-04T01:42:54.657Z": the
// widths in the order of [Bits], the tick, and the epoch in UTC. The widths of a
// layout with lanes are seven, as they are in its ids from the top: [Clustered]
// begins with "21+6+20+0+9+7+0". It is ASCII: a microsecond is "us".
// [ParseLayout] reads it.
func (l Layout) String() string {
	if !l.valid() {
		return "invalid layout"
	}
	return l.bits.String() + "/" + strings.ReplaceAll(l.Tick().String(), "µ", "u") + "@" + l.Epoch().Format(time.RFC3339Nano)
}

func (b Bits) String() string {
	if b.Lane == 0 || b.Lane > b.Sequence || b.Span > b.Timestamp {
		return fmt.Sprintf("%d+%d+%d+%d+%d", b.Timestamp, b.Datacenter, b.Worker, b.Sequence, b.Shard)
	}
	return fmt.Sprintf("%d+%d+%d+%d+%d+%d+%d", b.Timestamp-b.Span, b.Lane, b.Span, b.Datacenter, b.Worker, b.rest(), b.Shard)
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
	if !ok || !ok2 {
		return Layout{}, errLayoutForm
	}
	bits, err := parseBits(widths)
	if err != nil {
		return Layout{}, err
	}
	tick, err := time.ParseDuration(tickText)
	if err != nil {
		return Layout{}, errLayoutForm
	}
	epoch, err := time.Parse(time.RFC3339Nano, epochText)
	if err != nil {
		return Layout{}, errLayoutForm
	}
	l, err := newLayout(epoch, tick, bits, time.Now())
	if err == nil && l.String() != s { // one spelling each, so that texts can be compared
		err = errLayoutForm
	}
	return l, err
}

// parseBits parses what Bits.String returns.
func parseBits(s string) (Bits, error) {
	fields := strings.Split(s, "+")
	if len(fields) != 5 && len(fields) != 7 {
		return Bits{}, errLayoutForm
	}
	var w [7]uint8
	for i, f := range fields {
		n, err := strconv.ParseUint(f, 10, 7) // so that the sum of two fits a byte
		if err != nil {
			return Bits{}, errLayoutForm
		}
		w[i] = uint8(n)
	}
	if len(fields) == 5 {
		return Bits{Timestamp: w[0], Datacenter: w[1], Worker: w[2], Sequence: w[3], Shard: w[4]}, nil
	}
	return Bits{Timestamp: w[0] + w[2], Datacenter: w[3], Worker: w[4], Sequence: w[1] + w[5], Shard: w[6], Lane: w[1], Span: w[2]}, nil
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
