package snow

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// randomLayout returns a layout with at least this many shard bits.
func randomLayout(r *rand.Rand, shard int) Layout {
	left := 63 - 2 - shard
	width := func() uint8 {
		n := r.IntN(left + 1)
		left -= n
		return uint8(n)
	}
	bits := Bits{Timestamp: 1 + width(), Sequence: 1 + width(), Datacenter: width(), Worker: width(), Shard: uint8(shard) + width()}
	if r.IntN(2) == 0 { // half of them use all 63 bits
		bits.Timestamp += uint8(left)
	}
	if lanes := min(maxLane, int(bits.Sequence)-1); lanes > 0 && bits.Timestamp > 1 && r.IntN(2) == 0 {
		bits.Lane, bits.Span = uint8(1+r.IntN(lanes)), uint8(1+r.IntN(int(bits.Timestamp)-1))
	}
	// Package time ends before a layout of many long ticks does.
	tick := time.Duration(1000 + r.Int64N(1<<min(r.IntN(42), 80-int(bits.Timestamp))))
	epoch := minEpoch.Add(time.Duration(r.Int64N(int64(100 * 365 * 24 * time.Hour))))
	return Layout{epoch.UnixNano(), int64(tick), bits}
}

// The oracle does the same with numbers that can't overflow: nanoseconds since
// 1970 and ids as sums of products.
type oracle struct{ Layout }

func (o oracle) nanos(t time.Time) *big.Int {
	n := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(1e9))
	return n.Add(n, big.NewInt(int64(t.Nanosecond())))
}

func (o oracle) tick(t time.Time) *big.Int {
	n := new(big.Int).Sub(o.nanos(t), o.nanos(o.Epoch()))
	return n.Div(n, big.NewInt(int64(o.Tick()))) // rounds down, also below zero
}

// compose writes the bits of the parts one after another.
func (o oracle) compose(p Parts) *big.Int {
	b := o.Bits()
	binary := func(n *big.Int, width uint8) string {
		if width == 0 {
			return ""
		}
		text := n.Text(2)
		return strings.Repeat("0", int(width)-len(text)) + text
	}
	of := func(n uint64, width uint8) string { return binary(new(big.Int).SetUint64(n), width) }
	tick, sequence := binary(o.tick(p.Time), b.Timestamp), of(p.Sequence, b.Sequence)
	text := tick[:b.Timestamp-b.Span] + sequence[:b.Lane] + tick[b.Timestamp-b.Span:] +
		of(p.Datacenter, b.Datacenter) + of(p.Worker, b.Worker) + sequence[b.Lane:] + of(p.Shard, b.Shard)
	id, _ := new(big.Int).SetString(text, 2)
	return id
}

// randomTime returns an instant that the layout holds, mostly inside a tick.
func randomTime(r *rand.Rand, l Layout) time.Time {
	span := l.End().Unix() - l.Epoch().Unix()
	t := time.Unix(l.Epoch().Unix()+r.Int64N(max(span, 1)), r.Int64N(1e9)).UTC()
	switch {
	case t.Before(l.Epoch()):
		return l.Epoch()
	case !t.Before(l.End()):
		return l.End().Add(-1)
	}
	return t
}

func TestComposeAgreesWithOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		l := randomLayout(r, 0)
		b := l.Bits()
		part := func(width uint8) uint64 { return r.Uint64() & (1<<width - 1) }
		p := Parts{randomTime(r, l), part(b.Datacenter), part(b.Worker), part(b.Sequence), part(b.Shard)}
		want := oracle{l}.compose(p)
		if want.Sign() == 0 {
			continue
		}
		id, err := l.Compose(p)
		if err != nil || want.Cmp(big.NewInt(int64(id))) != 0 {
			t.Fatalf("%v: Compose(%v) = %d, %v, want %v", l, p, id, err, want)
		}
		back, err := l.Decompose(id)
		if err != nil {
			t.Fatalf("%v: Decompose(%d): %v", l, id, err)
		}
		late := p.Time.Sub(back.Time)
		if back.Time.After(p.Time) || late >= l.Tick() || (oracle{l}).tick(back.Time).Cmp((oracle{l}).tick(p.Time)) != 0 {
			t.Fatalf("%v: Decompose(Compose(%v)).Time = %v", l, p.Time, back.Time)
		}
		p.Time = back.Time
		if back != p || !l.Time(id).Equal(back.Time) || l.Shard(id) != p.Shard {
			t.Fatalf("%v: Decompose(%d) = %v, want %v", l, id, back, p)
		}
	}
}
