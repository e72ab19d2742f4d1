package snow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestNextFollowsTheClock(t *testing.T) {
	for name, preset := range presets {
		if name == "UIDGenerator" {
			continue
		}
		g, f := newTest(t, preset(), Config{})
		for range 100 {
			id := mustNext(t, g)
			p, err := g.Layout().Decompose(id)
			if err != nil || p.Worker != 1 || p.Datacenter != 0 {
				t.Fatalf("%s: Next() = %d: %v, %v", name, id, p, err)
			}
			if late := f.now().Sub(p.Time); late < 0 || late >= g.Layout().Tick() {
				t.Fatalf("%s: an id of %v has the time %v", name, f.now(), p.Time)
			}
			f.pass(g.Layout().Tick() + 17*time.Microsecond)
		}
	}
}

func TestConcurrentIDsAreUniqueAndAscend(t *testing.T) {
	w := newWorker(t, DefaultLayout())
	const goroutines, each = 16, 20_000
	var wg sync.WaitGroup
	ids := make([][]ID, goroutines)
	for i := range ids {
		// Two generators on one worker share its numbers.
		g, err := NewGenerator(w, Config{})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			own := make([]ID, 0, each)
			batch := make([]ID, 7)
			for len(own) < each {
				if id, err := g.Next(t.Context()); err == nil {
					own = append(own, id)
				} else {
					t.Error(err)
					return
				}
				if err := g.Fill(t.Context(), batch); err != nil {
					t.Error(err)
					return
				}
				own = append(own, batch...)
			}
			if !slices.IsSorted(own) {
				t.Error("the ids of one goroutine do not ascend")
			}
			ids[i] = own
		})
	}
	wg.Wait()
	all := slices.Concat(ids...)
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != len(all) || all[0] <= 0 {
		t.Errorf("%d of %d ids are duplicates, the first is %d", len(all)-n, len(all), all[0])
	}
	g, _ := NewGenerator(w, Config{})
	if got := g.Stats().Issued; got != uint64(len(all)) {
		t.Errorf("Stats().Issued = %d, want %d", got, len(all))
	}
}

func TestBurstBorrowsUpToMaxAhead(t *testing.T) {
	g, f := newTest(t, DefaultLayout(), Config{MaxAhead: 3 * time.Millisecond})
	ids := make([]ID, 0, 20*4096)
	for f.slept.Load() == 0 {
		ids = append(ids, mustNext(t, g))
	}
	// The ids of the present tick, without the ids that the spread start skipped,
	// and of three more ticks. The last id is the one that waited.
	if n := len(ids) - 1; n <= 3*4096 || n > 4*4096 {
		t.Errorf("%d ids before the first wait, want more than %d and at most %d", n, 3*4096, 4*4096)
	}
	if d := g.Layout().Time(ids[len(ids)-1]).Sub(f.now()); d > 3*time.Millisecond {
		t.Errorf("an id is %v ahead of the clock", d)
	}
	for range 5 * 4096 {
		ids = append(ids, mustNext(t, g))
	}
	for i := 1; i < len(ids); i++ {
		if ids[i] <= ids[i-1] {
			t.Fatalf("id %d after %d", ids[i], ids[i-1])
		}
	}
	s := g.Stats()
	if s.MostBorrowed != 4*time.Millisecond || s.Borrowed > 3*time.Millisecond || s.Waits == 0 || s.Waited != time.Duration(f.slept.Load())+4*time.Millisecond {
		t.Errorf("Stats() = %+v, after sleeping 4ms before the first id and %v now", s, time.Duration(f.slept.Load()))
	}
}

// The bursts that presets promise for a MaxAhead.
func TestBurstsOfGameServers(t *testing.T) {
	for _, tt := range []struct {
		l        Layout
		maxAhead time.Duration
		want     int
	}{
		{GameServers(), time.Second, 2_560},
		{GameServers(), 10 * time.Second, 25_600},
		{BusyGameServers(), time.Second, 40_960},
	} {
		g, f := newTest(t, tt.l, Config{MaxAhead: tt.maxAhead})
		n := 0
		for ; f.slept.Load() == 0; n++ {
			mustNext(t, g)
		}
		if perTick := int(tt.l.PerSecond() / 10); n-1 < tt.want || n-1 > tt.want+perTick {
			t.Errorf("%v, MaxAhead %v: %d ids at once, want %d and less than a tick more", tt.l, tt.maxAhead, n-1, tt.want)
		}
	}
}

// Under sustained load nothing is lost: every position of every tick is used.
func TestSaturationUsesEveryPosition(t *testing.T) {
	g, f := newTest(t, DefaultLayout(), Config{})
	for f.slept.Load() == 0 {
		mustNext(t, g)
	}
	start := mustNext(t, g)
	for i := range ID(10 * 4096) {
		id, l := mustNext(t, g), g.Layout()
		p, _ := l.Decompose(start)
		want, err := l.Compose(Parts{Time: p.Time.Add(time.Duration((p.Sequence+uint64(i)+1)/4096) * time.Millisecond), Worker: 1, Sequence: (p.Sequence + uint64(i) + 1) % 4096})
		if id != want || err != nil {
			t.Fatalf("id %d after the start is %d, want %d, %v", i, id, want, err)
		}
	}
}

func TestFixedWaitsOutMaxAhead(t *testing.T) {
	for _, tt := range []struct {
		l              Layout
		maxAhead, wait time.Duration // and a tick, which may have begun before
	}{
		{DefaultLayout(), 0, 11 * time.Millisecond},
		{DefaultLayout(), time.Nanosecond, 2 * time.Millisecond},
		{DefaultLayout(), time.Millisecond, 2 * time.Millisecond},
		{DefaultLayout(), 1500 * time.Microsecond, 3 * time.Millisecond},
		{DefaultLayout(), time.Second, 1001 * time.Millisecond},
		{GameServers(), 0, 200 * time.Millisecond}, // a tick is longer than the default
	} {
		f := newFakeTime(noon)
		g := newOn(t, tt.l, 1, Config{MaxAhead: tt.maxAhead}, f)
		first := tt.l.Time(mustNext(t, g))
		if want := noon.Add(tt.wait); !first.Equal(want) || !f.now().Equal(want) {
			t.Errorf("%v, MaxAhead %v: the first id has the time %v at %v, want %v", tt.l, tt.maxAhead, first, f.now(), want)
		}
	}
}

// MaxAhead belongs to the worker. If each generator had its own, one could borrow
// ticks that another one, after a restart, uses again.
func TestGeneratorsOfAWorkerShareMaxAhead(t *testing.T) {
	w := newWorker(t, DefaultLayout())
	for _, tt := range []struct {
		maxAhead time.Duration
		ok       bool
	}{{0, true}, {10 * time.Millisecond, true}, {9500 * time.Microsecond, true}, {time.Second, false}, {time.Millisecond, false}} {
		g, err := NewGenerator(w, Config{MaxAhead: tt.maxAhead})
		var field *FieldError
		if tt.ok != (err == nil) || !tt.ok && (g != nil || !errors.As(err, &field) || field.Field != "MaxAhead") {
			t.Errorf("MaxAhead %v on a worker with 10ms: %v, %v", tt.maxAhead, g, err)
		}
	}
}

// Callers that give up waiting do not use up the ticks of callers that go on waiting.
func TestCancelledWaitsDoNotUseUpTheFuture(t *testing.T) {
	g, f := newTest(t, GameServers(), Config{})
	ids := make([]ID, 256)
	for range 3000 {
		ctx, cancel := context.WithCancel(t.Context())
		f.onSleep = cancel
		if err := g.Fill(ctx, ids); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	f.onSleep = nil
	before := f.now()
	mustNext(t, g)
	// twice the 200 ms that may be borrowed
	if waited, most := f.now().Sub(before), 400*time.Millisecond; waited > most {
		t.Errorf("after 3000 cancelled calls Next waited %v, want at most %v", waited, most)
	}
}

// The widest sequence, with as much borrowing as can be asked for.
func TestWidestSequence(t *testing.T) {
	l := DefaultLayout()
	l.bits = Bits{Timestamp: 3, Sequence: 60}
	l.tick = int64(time.Second)
	g := newOn(t, l, 0, Config{MaxAhead: time.Minute}, newFakeTime(l.Epoch().Add(time.Second)))
	if id := mustNext(t, g); !l.Time(id).Before(l.End()) {
		t.Errorf("id %d of %v", id, l.Time(id))
	}
	g.grant.clock.source.(*fakeTime).pass(time.Hour)
	for range 2 {
		if id, err := g.Next(t.Context()); !errors.Is(err, ErrTimeExhausted) {
			t.Errorf("after the end Next() = %d, %v", id, err)
		}
	}
}

// A process that is killed while it borrows, and started again at once, again
// and again, repeats nothing as long as the wall clock does not step back.
func TestRestartsRepeatNothing(t *testing.T) {
	for _, l := range []Layout{DefaultLayout(), JavaScript(), GameServers(), Clustered()} {
		seen := make(map[ID]bool)
		f := newFakeTime(noon)
		for life := range 50 {
			g := newOn(t, l, 1, Config{}, f)
			for range 1 + life*97%3000 {
				id := mustNext(t, g)
				if seen[id] {
					t.Fatalf("%v: life %d repeats %d", l, life, id)
				}
				seen[id] = true
			}
		}
	}
}

func TestFill(t *testing.T) {
	for _, n := range []int{0, 1, 2, 4095, 4096, 4097, 40_000, 300_000} {
		g, f := newTest(t, DefaultLayout(), Config{})
		before := mustNext(t, g)
		ids := make([]ID, n)
		if err := g.Fill(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if id <= before {
				t.Fatalf("Fill of %d: id %d is %d after %d", n, i, id, before)
			}
			before = id
		}
		if ahead := g.Layout().Time(before).Sub(f.now()); ahead > 10*time.Millisecond {
			t.Errorf("Fill of %d: the last id is %v ahead of the clock", n, ahead)
		}
		s := g.Stats()
		if s.Issued != uint64(n)+2 {
			t.Errorf("Fill of %d: Stats().Issued = %d, want %d", n, s.Issued, n+2)
		}
		if most := uint64(n)/4096 + 1; s.Waits > most { // the first id waited too
			t.Errorf("Fill of %d waited %d times, want at most %d", n, s.Waits-1, most-1)
		}
	}
}

func TestFillIsAllOrNone(t *testing.T) {
	g, f := newTest(t, DefaultLayout(), Config{})
	ctx, cancel := context.WithCancel(t.Context())
	pieces := 0
	f.onSleep = func() {
		if pieces++; pieces == 3 {
			cancel()
		}
	}
	ids := make([]ID, 100_000)
	ids[99_999] = 7
	err := g.Fill(ctx, ids)
	if !errors.Is(err, context.Canceled) || pieces != 3 {
		t.Fatalf("Fill = %v after %d waits, want context.Canceled in the third", err, pieces)
	}
	if i := slices.IndexFunc(ids, func(id ID) bool { return id != 0 }); i >= 0 {
		t.Errorf("after the error ids[%d] = %d", i, ids[i])
	}
}

func TestContext(t *testing.T) {
	g, f := newTest(t, DefaultLayout(), Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := g.grant.last()
	if id, err := g.Next(ctx); !errors.Is(err, context.Canceled) || id != 0 || !strings.HasPrefix(err.Error(), "snow: next: ") {
		t.Errorf("Next with a cancelled context = %d, %v", id, err)
	}
	ids := []ID{1, 2}
	if err := g.Fill(ctx, ids); !errors.Is(err, context.Canceled) || ids[0] != 0 {
		t.Errorf("Fill with a cancelled context = %v, %v", ids, err)
	}
	if got := g.grant.last(); got != before {
		t.Error("a call with a cancelled context used up positions")
	}

	// Cancelled while it waits.
	ctx, cancel = context.WithCancel(t.Context())
	f.onSleep = cancel
	for {
		if id, err := g.Next(ctx); err != nil {
			if !errors.Is(err, context.Canceled) || id != 0 {
				t.Errorf("Next = %d, %v, want context.Canceled", id, err)
			}
			break
		}
	}
}

func TestNewGeneratorRefuses(t *testing.T) {
	w := newWorker(t, DefaultLayout())
	for _, d := range []time.Duration{-1, 24 * time.Hour, time.Minute + 1} {
		var field *FieldError
		if g, err := NewGenerator(w, Config{MaxAhead: d}); !errors.As(err, &field) || field.Value != d.String() || g != nil {
			t.Errorf("MaxAhead %v: %v, %v, want a FieldError", d, g, err)
		}
	}
	for _, w := range []Worker{nil, fakeWorker{}} {
		if g, err := NewGenerator(w, Config{}); err == nil || g != nil {
			t.Errorf("NewGenerator(%v) = %v, %v", w, g, err)
		}
	}
	for _, tt := range []struct {
		parts Parts
		want  string
	}{
		{Parts{Datacenter: 32}, "datacenter 32: want at most 31"},
		{Parts{Worker: 32}, "worker 32: want at most 31"},
		{Parts{Time: noon, Worker: 1}, "time 20"},
		{Parts{Worker: 1, Sequence: 2}, "sequence 2: want 0: ids have it"},
		{Parts{Worker: 1, Shard: 3}, "shard 3: want 0: ids have it"},
	} {
		if w, err := FixedParts(Twitter(), tt.parts); err == nil || !strings.Contains(err.Error(), tt.want) || w != nil {
			t.Errorf("FixedParts(%+v) = %v, %v, want %q", tt.parts, w, err, tt.want)
		}
	}
}

func TestGeneratorNotMadeByNewGenerator(t *testing.T) {
	for _, g := range []*Generator{nil, {}} {
		if _, err := g.Next(t.Context()); err == nil {
			t.Error("Next returned no error")
		}
		if err := g.Fill(t.Context(), make([]ID, 1)); err == nil {
			t.Error("Fill returned no error")
		}
		if err := g.Observe(1); err == nil {
			t.Error("Observe returned no error")
		}
		if g.Layout() != (Layout{}) || g.Stats() != (Stats{}) {
			t.Error("Layout or Stats is not zero")
		}
	}
}

func TestGeneratorAllocatesNothing(t *testing.T) {
	g := newReal(t, DefaultLayout())
	mustNext(t, g)
	ids := make([]ID, 1000)
	for name, f := range map[string]func(){
		"Next":  func() { _, _ = g.Next(t.Context()) },
		"Fill":  func() { _ = g.Fill(t.Context(), ids) }, // waits on average
		"Stats": func() { _ = g.Stats() },
	} {
		if got := testing.AllocsPerRun(1000, f); got != 0 {
			t.Errorf("%s allocates %v times", name, got)
		}
	}
}
