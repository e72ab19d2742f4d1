package snow

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// laned returns layouts with few and many lanes, with short and long spans.
func laned(t *testing.T) map[string]Layout {
	t.Helper()
	return map[string]Layout{
		"Clustered":       Clustered(),
		"ClusteredShards": ClusteredShards(),
		"1 bit":           mustLayout(t, Bits{Timestamp: 41, Worker: 3, Sequence: 2, Lane: 1, Span: 1}),
		"6 bits":          mustLayout(t, Bits{Timestamp: 41, Datacenter: 1, Worker: 3, Sequence: 9, Shard: 2, Lane: 6, Span: 3}),
		"short spans":     mustLayout(t, Bits{Timestamp: 41, Worker: 3, Sequence: 6, Lane: 2, Span: 2}),
	}
}

// laneOf returns the lane of an id, its span, and its number in the lane, which
// grows by one from id to id of a worker.
func laneOf(t *testing.T, l Layout, id ID) (lane, span, row uint64) {
	t.Helper()
	p, err := l.Decompose(id)
	if err != nil {
		t.Fatal(err)
	}
	tick := uint64(p.Time.Sub(l.Epoch()) / l.Tick())
	rest := l.bits.Sequence - l.bits.Lane
	return p.Sequence >> rest, tick >> l.bits.Span, tick<<rest | p.Sequence&(1<<rest-1)
}

// Calls of Next take turns over the lanes, in a burst and from tick to tick.
func TestNextTakesTurns(t *testing.T) {
	for name, l := range laned(t) {
		t.Run(name, func(t *testing.T) {
			g, f := newTest(t, l, Config{})
			r := rand.New(rand.NewPCG(1, 2))
			last, _, _ := laneOf(t, l, mustNext(t, g))
			for range 5000 {
				lane, _, _ := laneOf(t, l, mustNext(t, g))
				if want := (last + 1) % (1 << l.bits.Lane); lane != want {
					t.Fatalf("lane %d after %d", lane, last)
				}
				last = lane
				f.pass(time.Duration(r.Int64N(10) / 8 * r.Int64N(3e6)))
			}
		})
	}
}

// A Fill stays in one lane, with consecutive ids, and the call after it is in the
// next one.
func TestFillStaysInOneLane(t *testing.T) {
	for name, l := range laned(t) {
		t.Run(name, func(t *testing.T) {
			g, f := newTest(t, l, Config{MaxAhead: time.Second})
			r := rand.New(rand.NewPCG(3, 4))
			perTick := 1 << (l.bits.Sequence - l.bits.Lane)
			before, _, _ := laneOf(t, l, mustNext(t, g))
			for range 500 {
				issued := g.Stats().Issued
				ids := make([]ID, 1+r.IntN(3*perTick))
				if err := g.Fill(t.Context(), ids); err != nil {
					t.Fatal(err)
				}
				lane, _, first := laneOf(t, l, ids[0])
				if want := (before + 1) % (1 << l.bits.Lane); lane != want {
					t.Fatalf("Fill is in lane %d after a call in %d", lane, before)
				}
				for i, id := range ids {
					if in, _, row := laneOf(t, l, id); in != lane || row != first+uint64(i) || i > 0 && id <= ids[i-1] {
						t.Fatalf("id %d of %d is %d, row %d of lane %d; the first was row %d of lane %d", i, len(ids), id, row, in, first, lane)
					}
				}
				if got := g.Stats().Issued - issued; got != uint64(len(ids)) {
					t.Fatalf("a Fill of %d counts as %d", len(ids), got)
				}
				next, _, _ := laneOf(t, l, mustNext(t, g))
				if want := (lane + 1) % (1 << l.bits.Lane); next != want {
					t.Fatalf("Next is in lane %d after a Fill in %d", next, lane)
				}
				before = next
				f.pass(time.Duration(r.Int64N(20e6)))
			}
		})
	}
}

// A Fill that is too long for MaxAhead is filled in pieces. They stay in one lane,
// and ascend, although other calls move the turn on between them.
func TestFillInPiecesStaysInOneLane(t *testing.T) {
	for name, l := range laned(t) {
		t.Run(name, func(t *testing.T) {
			g, f := newTest(t, l, Config{})
			r := rand.New(rand.NewPCG(5, 6))
			others := uint64(0)
			f.onSleep = func() { g.grant.take(r.Uint64N(1<<l.bits.Sequence), 0); others++ }
			ids := make([]ID, 100<<(l.bits.Sequence-l.bits.Lane))
			issued := g.Stats().Issued
			if err := g.Fill(t.Context(), ids); err != nil {
				t.Fatal(err)
			}
			lane, _, _ := laneOf(t, l, ids[0])
			for i, id := range ids {
				if in, _, _ := laneOf(t, l, id); in != lane || i > 0 && id <= ids[i-1] {
					t.Fatalf("id %d of %d is %d in lane %d, after %d; the first was in lane %d", i, len(ids), id, in, ids[max(i-1, 0)], lane)
				}
			}
			if got := g.Stats().Issued - issued; got != uint64(len(ids)) || others < 2 {
				t.Errorf("Stats().Issued grew by %d for %d ids, with %d waits", got, len(ids), others)
			}
			if ahead := l.Time(ids[len(ids)-1]).Sub(f.now()); ahead > 10*time.Millisecond {
				t.Errorf("the last id is %v ahead of the clock", ahead)
			}
		})
	}
}

// Ids are unique, ascend in each lane, and ascend from span to span, whatever the
// calls and the clocks do.
func TestLanesAscend(t *testing.T) {
	for name, l := range laned(t) {
		t.Run(name, func(t *testing.T) {
			g, f := newTest(t, l, Config{})
			r := rand.New(rand.NewPCG(7, 8))
			seen := make(map[ID]bool)
			last := make(map[uint64]ID) // of each lane
			var span uint64             // the latest one
			var below, highest ID       // of the spans before it, and of all
			spans := 0
			for len(seen) < 30_000 {
				ids := make([]ID, 1)
				var err error
				if r.IntN(10) == 0 {
					ids = make([]ID, 1+r.IntN(50))
					err = g.Fill(t.Context(), ids)
				} else {
					ids[0], err = g.Next(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, id := range ids {
					lane, in, _ := laneOf(t, l, id)
					if in > span {
						span, below = in, highest
						spans++
					}
					if seen[id] || id <= last[lane] || in < span || id <= below {
						t.Fatalf("id %d of span %d in lane %d, after %d there, %d before span %d", id, in, lane, last[lane], below, span)
					}
					seen[id], last[lane], highest = true, id, max(highest, id)
				}
				switch r.IntN(30) {
				case 0:
					f.pass(time.Duration(r.Int64N(5e6)))
				case 1:
					f.step(time.Duration(r.Int64N(2e9) - 1e9))
				case 2:
					f.pass(l.Tick() << l.bits.Span / 10)
				}
			}
			if spans < 5 {
				t.Errorf("the ids are of %d spans only", spans)
			}
		})
	}
}

// With OneLane the ids of a generator ascend and are of lane 0, whatever the calls, the clocks and the worker's
// other generators do. Those take turns.
func TestOneLane(t *testing.T) {
	for name, l := range laned(t) {
		t.Run(name, func(t *testing.T) {
			others, f := newTest(t, l, Config{})
			g, err := NewGenerator(fakeWorker{others.grant}, Config{OneLane: true})
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(11, 12))
			seen := make(map[ID]bool)
			made := g.Stats().Issued
			var last ID
			for len(seen) < 20_000 {
				from, ids := g, make([]ID, 1)
				if r.IntN(3) == 0 {
					from = others
				}
				if r.IntN(10) == 0 {
					ids = make([]ID, 1+r.IntN(50))
					err = from.Fill(t.Context(), ids)
				} else {
					ids[0], err = from.Next(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, id := range ids {
					if seen[id] {
						t.Fatalf("id %d twice", id)
					}
					seen[id] = true
					if from != g {
						continue
					}
					if lane, _, _ := laneOf(t, l, id); lane != 0 || id <= last {
						t.Fatalf("id %d in lane %d after %d", id, lane, last)
					}
					last = id
				}
				switch r.IntN(30) {
				case 0:
					f.pass(time.Duration(r.Int64N(5e6)))
				case 1:
					f.step(time.Duration(r.Int64N(2e9) - 1e9))
				case 2:
					f.pass(l.Tick() << l.bits.Span / 10)
				}
			}
			if got := g.Stats().Issued - made; got != uint64(len(seen)) {
				t.Errorf("Stats().Issued grew by %d for %d ids", got, len(seen))
			}
		})
	}
}

// Concurrent calls of a generator with OneLane get ids that ascend in each goroutine, and none twice.
func TestOneLaneConcurrently(t *testing.T) {
	w := newWorker(t, Clustered())
	g, err := NewGenerator(w, Config{OneLane: true})
	if err != nil {
		t.Fatal(err)
	}
	const goroutines, each = 8, 2000
	ids := make([][]ID, goroutines)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			for range each {
				id, err := g.Next(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				ids[i] = append(ids[i], id)
			}
		})
	}
	all.Wait()
	seen := make(map[ID]bool)
	for _, list := range ids {
		for i, id := range list {
			if lane, _, _ := laneOf(t, Clustered(), id); seen[id] || lane != 0 || i > 0 && id <= list[i-1] {
				t.Fatalf("id %d in lane %d after %d, seen before: %v", id, lane, list[max(i-1, 0)], seen[id])
			}
			seen[id] = true
		}
	}
}

// OneLane changes nothing for a layout without lanes.
func TestOneLaneWithoutLanes(t *testing.T) {
	g, _ := newTest(t, DefaultLayout(), Config{OneLane: true})
	if g.lane != anyLane {
		t.Fatal("Next does not take its fast path")
	}
	first := mustNext(t, g)
	if next := mustNext(t, g); next != first+1 {
		t.Errorf("%d after %d", next, first)
	}
}

// Stats.Issued is exact also while every Fill leaves positions of other lanes out.
func TestIssuedIsExactInLanes(t *testing.T) {
	g, f := newTest(t, Clustered(), Config{})
	const fills, each = 20_000, 20
	start := g.Stats().Issued
	var made atomic.Uint64
	made.Store(start)
	var group sync.WaitGroup
	group.Go(func() {
		ids := make([]ID, each)
		for range fills {
			f.pass(100 * time.Microsecond)
			if err := g.Fill(t.Context(), ids); err != nil {
				t.Error(err)
			}
			made.Add(each)
		}
	})
	for made.Load() < start+fills*each {
		least := made.Load()
		issued := g.Stats().Issued
		if most := made.Load() + each; issued < least || issued > most {
			t.Errorf("Stats().Issued = %d, want %d to %d", issued, least, most)
			break
		}
	}
	group.Wait()
	if got, want := g.Stats().Issued, start+fills*each; got != want {
		t.Errorf("Stats().Issued = %d, want %d", got, want)
	}
}

// One order of all ids can't be kept with lanes, so Observe does not say that it is.
func TestObserveRefusesLanes(t *testing.T) {
	g, f := newTest(t, Clustered(), Config{})
	for _, at := range []time.Time{f.now(), f.now().Add(-time.Hour), f.now().Add(5 * time.Millisecond)} {
		seen, err := g.Layout().Compose(Parts{Time: at, Worker: 3})
		if err != nil {
			t.Fatal(err)
		}
		before := g.grant.word.Load()
		var field *FieldError
		if err := g.Observe(seen); !errors.As(err, &field) || field.Field != "layout" {
			t.Errorf("Observe = %v, want a FieldError of layout", err)
		}
		if g.grant.word.Load() != before {
			t.Error("a refused Observe moved the word")
		}
	}
}

// The fast path makes the same id as Compose, for every word.
func TestWordsAgreeWithCompose(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 20_000 {
		l := randomLayout(r, 0)
		p := positionsOf(l)
		b := l.bits
		parts := Parts{Time: randomTime(r, l), Sequence: r.Uint64() & p.sequenceMask}
		parts.Datacenter, parts.Worker = r.Uint64()&(1<<b.Datacenter-1), r.Uint64()&(1<<b.Worker-1)
		tick, _, _ := l.ticks(parts.Time)
		number, err := p.numberOf(parts.Datacenter, parts.Worker)
		if err != nil {
			t.Fatal(err)
		}
		rest := b.Sequence - b.Lane
		word := number | tick<<b.Sequence | parts.Sequence&(1<<rest-1)<<b.Lane | parts.Sequence>>rest
		id := p.id(word)
		parts.Shard = l.Shard(id)
		if want, err := l.Compose(parts); id == 0 && want == 0 {
			continue
		} else if err != nil || id != want {
			t.Fatalf("%v: word %x is id %d, want %d, %v", l, word, id, want, err)
		}
		run := make([]ID, 1+r.IntN(40))
		if word&p.positionMask+p.extent(uint64(len(run))) > p.end() {
			continue
		}
		p.write(run, word)
		for i, got := range run {
			if want := p.id(word + uint64(i)<<b.Lane); got != want {
				t.Fatalf("%v: id %d of a run is %d, want %d", l, i, got, want)
			}
		}
	}
}
