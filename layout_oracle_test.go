package snow

import (
	"math"
	"math/big"
	"math/rand/v2"
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

func (o oracle) compose(p Parts) *big.Int {
	id := o.tick(p.Time)
	b := o.Bits()
	for _, f := range []struct {
		value uint64
		width uint8
	}{{p.Datacenter, b.Datacenter}, {p.Worker, b.Worker}, {p.Sequence, b.Sequence}, {p.Shard, b.Shard}} {
		id.Mul(id, new(big.Int).Exp(big.NewInt(2), big.NewInt(int64(f.width)), nil))
		id.Add(id, new(big.Int).SetUint64(f.value))
	}
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

// An id is in the range exactly if its time is in the interval.
func TestBetweenAgreesWithOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	inside := 0
	for range 20000 {
		l := randomLayout(r, 0)
		at := func() time.Time {
			t := randomTime(r, l)
			switch r.IntN(8) {
			case 0: // exactly on a tick
				id, _ := l.Compose(Parts{Time: t, Sequence: 1})
				return l.Time(id)
			case 1: // outside of the layout
				return l.Epoch().Add(-time.Duration(r.Int64N(1e18)))
			case 2:
				return l.End().Add(time.Duration(r.Int64N(1e18)))
			}
			return t
		}
		from, to := at(), at()
		lo, hi := l.Between(from, to)
		if lo < 0 || hi < lo {
			t.Fatalf("%v: Between(%v, %v) = %d, %d", l, from, to, lo, hi)
		}
		sum := l.bits.sum()
		for _, id := range []ID{lo - 1, lo, lo + 1, hi - 1, hi, hi + 1, ID(r.Uint64() & (1<<sum - 1))} {
			if l.check(id) != nil || id == math.MaxInt64 { // the last id of all has no place in a half-open range
				continue
			}
			made := oracle{l}.nanos(l.Time(id))
			want := made.Cmp(oracle{l}.nanos(from)) >= 0 && made.Cmp(oracle{l}.nanos(to)) < 0
			if got := lo <= id && id < hi; got != want {
				t.Fatalf("%v: Between(%v, %v) = [%d, %d), id %d of %v is in it: %v, want %v", l, from, to, lo, hi, id, l.Time(id), got, want)
			}
			if want {
				inside++
			}
		}
	}
	if inside < 1000 {
		t.Errorf("only %d ids were inside a range: the test does not look at enough", inside)
	}
}
