package snow

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// An idRange is the ids in [lo, hi).
type idRange struct{ lo, hi ID }

// between collects the ranges, and checks that they ascend, do not touch, are not
// too many, and that none but a single one is empty.
func between(t *testing.T, l Layout, from, to time.Time) (all []idRange) {
	t.Helper()
	for lo, hi := range l.Between(from, to) {
		all = append(all, idRange{lo, hi})
	}
	most := 1<<(l.bits.Lane+1) - 1
	sound := len(all) > 0 && len(all) <= most && all[0].lo >= 0
	for i, r := range all {
		sound = sound && (r.lo < r.hi || r.lo == r.hi && len(all) == 1) && (i == 0 || r.lo > all[i-1].hi)
	}
	if !sound {
		t.Fatalf("%v: Between(%v, %v) = %v, want 1 to %d ranges", l, from, to, all, most)
	}
	return all
}

// betweenTimes returns two instants: in or around the layout, on ticks and
// between them, far from each other or a few ticks.
func betweenTimes(r *rand.Rand, l Layout) (from, to time.Time) {
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
	from = at()
	if r.IntN(3) == 0 {
		return from, from.Add(time.Duration(r.Int64N(10 * l.tick)))
	}
	return from, at()
}

// An id is in one of the ranges exactly if its time is in the interval.
func TestBetweenAgreesWithOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	inside, several := 0, 0
	for range 20000 {
		l := randomLayout(r, 0)
		from, to := betweenTimes(r, l)
		all := between(t, l, from, to)
		if len(all) > 1 {
			several++
		}
		sum := l.bits.sum()
		ids := []ID{ID(r.Uint64() & (1<<sum - 1))}
		for _, rng := range all {
			ids = append(ids, rng.lo-1, rng.lo, rng.lo+1, rng.hi-1, rng.hi, rng.hi+1, rng.lo+ID(r.Int64N(max(1, int64(rng.hi-rng.lo)))))
		}
		for _, at := range []time.Time{from, to} { // around the bounds, in any lane
			for range 3 {
				p := Parts{Time: at.Add(time.Duration(r.Int64N(5)-2) * l.Tick()), Sequence: r.Uint64() & (1<<l.bits.Sequence - 1)}
				if id, err := l.Compose(p); err == nil {
					ids = append(ids, id)
				}
			}
		}
		for _, id := range ids {
			if l.check(id) != nil || id == math.MaxInt64 { // the last id of all has no place in a half-open range
				continue
			}
			made := oracle{l}.nanos(l.Time(id))
			want := made.Cmp(oracle{l}.nanos(from)) >= 0 && made.Cmp(oracle{l}.nanos(to)) < 0
			got := slices.ContainsFunc(all, func(rng idRange) bool { return rng.lo <= id && id < rng.hi })
			if got != want {
				t.Fatalf("%v: Between(%v, %v) = %v, id %d of %v is in it: %v, want %v", l, from, to, all, id, l.Time(id), got, want)
			}
			if want {
				inside++
			}
		}
	}
	if inside < 1000 || several < 1000 {
		t.Errorf("only %d ids were inside, and %d times had several ranges: the test does not look at enough", inside, several)
	}
}

// Adjacent time ranges share no id and miss none: the parts of an interval have
// the ids of the interval.
func TestBetweenPartitions(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	layouts := []Layout{DefaultLayout(), Clustered(), ClusteredShards()}
	for range 300 {
		layouts = append(layouts, randomLayout(r, 0))
	}
	for _, l := range layouts {
		at := randomTime(r, l)
		start, longest := at, l.tick<<min(r.IntN(1+int(l.bits.Span)+2), 20)
		var parts []idRange
		for range 40 {
			next := at.Add(time.Duration(r.Int64N(longest)))
			for _, part := range between(t, l, at, next) {
				if part.lo < part.hi {
					parts = append(parts, part)
				}
			}
			at = next
		}
		slices.SortFunc(parts, func(a, b idRange) int { return cmp.Compare(a.lo, b.lo) })
		var whole []idRange
		for _, part := range parts {
			if n := len(whole); n > 0 && whole[n-1].hi == part.lo {
				whole[n-1].hi = part.hi
			} else {
				whole = append(whole, part)
			}
		}
		if want := between(t, l, start, at); len(parts) > 0 && !slices.Equal(whole, want) {
			t.Fatalf("%v: the parts of [%v, %v) make %v, want %v", l, start, at, whole, want)
		}
	}
}

// What reads ranges may stop at any of them.
func TestBetweenStops(t *testing.T) {
	l := Clustered()
	from := noon.Add(time.Minute)
	all := between(t, l, from, from.Add(time.Hour))
	if len(all) != 127 {
		t.Fatalf("an hour has %d ranges, want 127", len(all))
	}
	for n := range all {
		var got []idRange
		for lo, hi := range l.Between(from, from.Add(time.Hour)) {
			if got = append(got, idRange{lo, hi}); len(got) > n {
				break
			}
		}
		if !slices.Equal(got, all[:n+1]) {
			t.Errorf("the first %d ranges are %v, want %v", n+1, got, all[:n+1])
		}
	}
}

// A time range of whole spans is one range of ids.
func TestBetweenWholeSpans(t *testing.T) {
	l := Clustered()
	span := l.Tick() << 20
	for n := range 5 {
		from := l.Epoch().Add(1000 * span)
		if all := between(t, l, from, from.Add(time.Duration(n)*span)); len(all) != 1 || all[0].hi-all[0].lo != ID(n)<<42 {
			t.Errorf("%d spans: %v", n, all)
		}
	}
}
