package rekey

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

var testEpoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func testLayout(t *testing.T, tick time.Duration, b snow.Bits) snow.Layout {
	t.Helper()
	l, err := snow.NewLayout(testEpoch, tick, b)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// New ids sort as the old ones did, are of their range alone, are not before
// their rows' dates, and go on after an interruption as if there had been none.
func TestNewIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := snow.Bits{Timestamp: 41, Datacenter: uint8(r.IntN(3)), Worker: uint8(1 + r.IntN(6)), Sequence: uint8(1 + r.IntN(8)), Shard: uint8(r.IntN(4))}
		if lanes := min(6, int(b.Sequence)-1); lanes > 0 && r.IntN(2) == 0 {
			b.Lane, b.Span = uint8(1+r.IntN(lanes)), uint8(1+r.IntN(8))
		}
		l := testLayout(t, []time.Duration{time.Millisecond, time.Second}[r.IntN(2)], b)
		whole := ledger.IDRange{Layout: l, Datacenter: r.Uint64N(1 << b.Datacenter), Worker: r.Uint64N(1 << b.Worker)}
		n := 1 + r.IntN(1<<b.Sequence)
		part := r.IntN(n)
		own, ok := whole.Part(part, n)
		if !ok {
			t.Fatalf("no part %d of %d of %v", part, n, l)
		}
		now := int64(1e6)
		f := NewFormula(own, testEpoch.Add(time.Duration(now)*l.Tick()).UnixMicro())
		m := NewIDs{Formula: f, Place: f.Start()}
		var last snow.ID
		for old := int64(1); old < 200; old++ {
			created := testEpoch.Add(time.Duration(r.Int64N(100)) * l.Tick())
			switch r.IntN(10) {
			case 0:
				created = testEpoch.Add(-time.Hour)
			case 1:
				created = testEpoch.Add(time.Duration(now+100) * l.Tick())
			}
			dated := r.IntN(5) > 0
			if r.IntN(3) == 0 { // another process goes on
				m = NewIDs{Formula: f, Place: placeOf(own, int64(max(last, 0))), Late: m.Late}
				if last == 0 {
					m.Place = f.Start()
				}
			}
			id, err := m.Make(old, created, dated)
			if err != nil {
				t.Fatal(err)
			}
			if id <= last {
				t.Fatalf("id %d comes after %d", id, last)
			}
			last = id
			p, err := l.Decompose(id)
			if err != nil {
				t.Fatal(err)
			}
			if want := snow.HashShardInt(old) % (1 << b.Shard); p.Shard != want {
				t.Errorf("id %d of row %d has shard %d, want %d", id, old, p.Shard, want)
			}
			if !own.Has(old, int64(id)) {
				t.Fatalf("id %d is not one of %+v", id, own)
			}
			if p.Worker != own.Worker || p.Datacenter != own.Datacenter || p.Sequence < own.First || p.Sequence >= own.End {
				t.Fatalf("id %d has parts %+v, outside of %+v", id, p, own)
			}
			if dated && created.Before(testEpoch.Add(time.Duration(now)*l.Tick())) && p.Time.Before(created) {
				t.Fatalf("id %d is of %v, before %v", id, p.Time, created)
			}
		}
	}
}

func TestPartsOfARange(t *testing.T) {
	whole := ledger.IDRange{Layout: testLayout(t, time.Millisecond, snow.Bits{Timestamp: 41, Worker: 4, Sequence: 3})}
	for n := 1; n <= 8; n++ {
		end := uint64(0)
		for i := range n {
			l, ok := whole.Part(i, n)
			if !ok || l.First != end || l.End <= l.First || l.End > 8 {
				t.Errorf("part %d of %d: %d to %d", i, n, l.First, l.End)
			}
			end = l.End
		}
	}
	if _, ok := whole.Part(0, 9); ok {
		t.Error("8 sequence numbers have 9 parts")
	}

	lanes := ledger.IDRange{Layout: testLayout(t, time.Millisecond, snow.Bits{Timestamp: 41, Worker: 4, Sequence: 5, Lane: 2, Span: 20})}
	for n, want := range map[int]int64{1: 8, 2: 8, 4: 8, 5: 4, 9: 2, 32: 1} {
		for i := range n {
			l, ok := lanes.Part(i, n)
			if !ok || l.Width() != want || l.First != uint64(i)*uint64(want) || l.First/8 != (l.End-1)/8 {
				t.Errorf("part %d of %d with lanes: %d to %d", i, n, l.First, l.End)
			}
		}
	}
}

func TestNewIDsEnd(t *testing.T) {
	l := testLayout(t, time.Hour, snow.Bits{Timestamp: 15, Worker: 1, Sequence: 1})
	whole, _ := ledger.IDRange{Layout: l}.Part(0, 1)
	f := NewFormula(whole, testEpoch.Add(1<<15*time.Hour).UnixMicro())
	m := NewIDs{Formula: f, Place: (1<<15-1)*2 + 1}
	if _, err := m.Make(1, time.Time{}, false); !errors.Is(err, snow.ErrTimeExhausted) {
		t.Errorf("past the last tick: got %v, want %v", err, snow.ErrTimeExhausted)
	}
	f = NewFormula(whole, testEpoch.Add(10*time.Hour).UnixMicro())
	m = NewIDs{Formula: f, Place: f.Start()}
	if id, err := m.Make(1, testEpoch, true); err != nil || id == 0 {
		t.Errorf("the first id of worker 0: got %d, %v", id, err)
	}
}

// How far ids are ahead of their rows is measured.
func TestLate(t *testing.T) {
	l := testLayout(t, time.Millisecond, snow.Bits{Timestamp: 41, Worker: 1, Sequence: 1})
	whole, _ := ledger.IDRange{Layout: l}.Part(0, 1)
	f := NewFormula(whole, testEpoch.Add(1e6*time.Millisecond).UnixMicro())
	m := NewIDs{Formula: f, Place: f.Start()}
	for old := range int64(11) {
		if _, err := m.Make(old, testEpoch, true); err != nil {
			t.Fatal(err)
		}
	}
	if m.Late != 5*time.Millisecond {
		t.Errorf("11 rows of one instant, 2 ids a millisecond: %v late, want 5ms", m.Late)
	}
}

// Numbers are the next ones, or the old id and an offset, whatever the dates of rows are. They go on after an
// interruption, and end with the last one that is free.
func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		ids  ledger.IDRange
		olds []int64
		want []int64 // 0 for an error
	}{
		{ledger.IDRange{IDs: plan.IDsDense, First: 1, End: 4}, []int64{-7, 5, 6, 9}, []int64{1, 2, 3, 0}},
		{ledger.IDRange{IDs: plan.IDsDense, First: 70, End: 70}, []int64{1}, []int64{0}},
		{ledger.IDRange{IDs: plan.IDsDense, First: math.MaxInt64, End: 1 << 63}, []int64{1, 2}, []int64{math.MaxInt64, 0}},
		{ledger.IDRange{IDs: plan.IDsOffset, Offset: 1000, First: 1005, End: 1010}, []int64{4, 5, 7, 9, 10}, []int64{0, 1005, 1007, 1009, 0}},
		{ledger.IDRange{IDs: plan.IDsOffset, First: 1, End: 3}, []int64{0, 1, 2, math.MaxInt64}, []int64{0, 1, 2, 0}},
		{ledger.IDRange{IDs: plan.IDsOffset, Offset: 8, First: 1, End: 1 << 63}, []int64{-7, math.MaxInt64 - 8, math.MaxInt64}, []int64{1, math.MaxInt64, 0}},
	} {
		f := NewFormula(test.ids, testEpoch.UnixMicro())
		ids := NewIDs{Formula: f, Place: f.Start()}
		for i, old := range test.olds {
			before := ids.Place
			id, err := ids.Make(old, testEpoch, true)
			if want := test.want[i]; int64(id) != want || (err != nil) != (want == 0) {
				t.Errorf("%+v: row %d has got %d, %v; want %d", test.ids, old, id, err, want)
			}
			if err != nil {
				if fit := new(report.FitError); !errors.As(err, &fit) || test.ids.Has(old, parse(fit.ID)) {
					t.Errorf("%+v: row %d: got %v, want a number that is not free", test.ids, old, err)
				}
				ids.Place = before
				continue
			}
			if !test.ids.Has(old, int64(id)) || test.ids.Has(old, int64(id)-1) && test.ids.IDs == plan.IDsOffset || placeOf(test.ids, int64(id)) != ids.Place {
				t.Errorf("%+v: %d is not the only id of row %d", test.ids, id, old)
			}
			ids = NewIDs{Formula: f, Place: placeOf(test.ids, int64(id))} // another process goes on
		}
		if ids.Late != 0 {
			t.Errorf("%+v: %v late", test.ids, ids.Late)
		}
	}
}

func parse(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// placeOf returns the place of an id of a range.
func placeOf(r ledger.IDRange, id int64) int64 {
	if r.IDs.AreNumbers() {
		return id
	}
	b := r.Layout.Bits()
	start := id >> b.Shard & (1<<(b.Sequence-b.Lane) - 1)
	whole := id / int64(r.Stride())
	tick := whole>>b.Span>>b.Lane<<b.Span | whole&(1<<b.Span-1)
	return tick*r.Width() + start - int64(r.First&(1<<(b.Sequence-b.Lane)-1))
}
