package snow

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A fakeTime is a machine whose clocks a test turns by hand. Sleeping passes
// the time at once.
type fakeTime struct {
	running atomic.Int64 // monotonic
	ahead   atomic.Int64 // wall minus monotonic
	slept   atomic.Int64
	onSleep func() // called before a sleep
}

func newFakeTime(wall time.Time) *fakeTime {
	f := new(fakeTime)
	f.ahead.Store(wall.UnixNano())
	return f
}

func (f *fakeTime) mono() time.Duration { return time.Duration(f.running.Load()) }

func (f *fakeTime) wall() (int64, time.Duration) {
	running := f.running.Load()
	return f.ahead.Load() + running, time.Duration(running)
}

func (f *fakeTime) sleep(ctx context.Context, d time.Duration) error {
	if f.onSleep != nil {
		f.onSleep()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f.slept.Add(int64(d))
	f.pass(d)
	return nil
}

func (f *fakeTime) pass(d time.Duration) { f.running.Add(int64(d)) }
func (f *fakeTime) step(d time.Duration) { f.ahead.Add(int64(d)) } // of the wall clock
func (f *fakeTime) now() time.Time       { wall, _ := f.wall(); return time.Unix(0, wall).UTC() }

type fakeWorker struct{ grant *Grant }

func (w fakeWorker) Grant() *Grant { return w.grant }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newTest returns a generator on a fake machine, past its first wait.
func newTest(t *testing.T, l Layout, cfg Config) (*Generator, *fakeTime) {
	t.Helper()
	f := newFakeTime(noon)
	g := newOn(t, l, 1, cfg, f)
	mustNext(t, g)
	f.pass(time.Second)
	f.slept.Store(0)
	return g, f
}

func newOn(t *testing.T, l Layout, worker uint64, cfg Config, f *fakeTime) *Generator {
	t.Helper()
	grant, err := newGrant(l, 0, worker, f)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(fakeWorker{grant}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func mustNext(t *testing.T, g *Generator) ID {
	t.Helper()
	id, err := g.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestNextStampsTheClock(t *testing.T) {
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
				t.Fatalf("%s: an id of %v is stamped %v", name, f.now(), p.Time)
			}
			f.pass(g.Layout().Tick() + 17*time.Microsecond)
		}
	}
}

func TestConcurrentIDsAreUniqueAndAscend(t *testing.T) {
	w, err := Fixed(Default(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
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
	g, f := newTest(t, Default(), Config{MaxAhead: 3 * time.Millisecond})
	ids := make([]ID, 0, 20*4096)
	for f.slept.Load() == 0 {
		ids = append(ids, mustNext(t, g))
	}
	// The tick that it was, less what the spread start skipped, and three
	// more; the last id is the one that waited.
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

// Under sustained load nothing is lost: every position of every tick is used.
func TestSaturationUsesEveryPosition(t *testing.T) {
	g, f := newTest(t, Default(), Config{})
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
		{Default(), 0, 11 * time.Millisecond},
		{Default(), time.Nanosecond, 2 * time.Millisecond},
		{Default(), time.Millisecond, 2 * time.Millisecond},
		{Default(), 1500 * time.Microsecond, 3 * time.Millisecond},
		{Default(), time.Second, 1001 * time.Millisecond},
		{GameServers(), 0, 200 * time.Millisecond}, // a tick is longer than the default
	} {
		f := newFakeTime(noon)
		g := newOn(t, tt.l, 1, Config{MaxAhead: tt.maxAhead}, f)
		first := tt.l.Time(mustNext(t, g))
		if want := noon.Add(tt.wait); !first.Equal(want) || !f.now().Equal(want) {
			t.Errorf("%v, MaxAhead %v: the first id is stamped %v at %v, want %v", tt.l, tt.maxAhead, first, f.now(), want)
		}
	}
}

// The bound is the worker's: were it each generator's, one that borrows further
// would stamp what a restart with the other one stamps again.
func TestGeneratorsOfAWorkerShareMaxAhead(t *testing.T) {
	w, err := Fixed(Default(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
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

// Callers that give up waiting do not use up the future of those who don't.
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
	if waited, most := f.now().Sub(before), 400*time.Millisecond; waited > most { // twice the 200 ms that may be borrowed
		t.Errorf("after 3000 cancelled calls Next waited %v, want at most %v", waited, most)
	}
}

// The widest sequence, with as much borrowing as can be asked for.
func TestWidestSequence(t *testing.T) {
	l := Default()
	l.bits = Bits{3, 0, 0, 60, 0}
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
	for _, l := range []Layout{Default(), JavaScript(), GameServers()} {
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

func TestWallClockSteps(t *testing.T) {
	g, f := newTest(t, Default(), Config{})
	last := mustNext(t, g)
	check := func(name string, want time.Time, steps uint64) {
		t.Helper()
		f.pass(time.Second) // the wall clock is looked at once a second
		mustNext(t, g)
		f.pass(time.Millisecond)
		id := mustNext(t, g)
		if id <= last {
			t.Errorf("%s: id %d after %d", name, id, last)
		}
		last = id
		want = want.Add(time.Second + time.Millisecond)
		if got := g.Layout().Time(id); !got.Equal(want) {
			t.Errorf("%s: stamped %v, want %v", name, got, want)
		}
		if s := g.Stats(); s.ClockSteps != steps {
			t.Errorf("%s: ClockSteps = %d, want %d", name, s.ClockSteps, steps)
		}
	}
	check("no step", f.now(), 0)
	running := f.now()
	f.step(-time.Hour)
	check("an hour back is not followed", running, 1)
	running = running.Add(time.Second + time.Millisecond)
	check("nor later", running, 1)
	running = running.Add(time.Second + time.Millisecond)
	f.step(time.Hour)
	check("the correction changes nothing", running, 2)
	f.step(time.Hour) // also what a suspended machine looks like
	check("an hour forward is taken over", f.now(), 3)
	f.step(-time.Hour)
	check("and another hour back", f.now().Add(time.Hour), 4)
	if lag := g.Stats().ClockLag; lag != time.Hour {
		t.Errorf("ClockLag = %v, want an hour", lag)
	}
	f.step(time.Hour)
	check("is taken back", f.now(), 5)
	f.step(-500 * time.Microsecond)
	check("slewing is no step", f.now().Add(500*time.Microsecond), 5)
	if f.slept.Load() != 0 {
		t.Errorf("a step made Next wait for %v", time.Duration(f.slept.Load()))
	}
}

// The first id after a second without one is stamped with the corrected clock,
// as after a suspend, also in the middle of a long tick.
func TestForwardStepIsSeenBeforeStamping(t *testing.T) {
	hours := Default()
	hours.bits, hours.tick = Bits{31, 0, 10, 22, 0}, int64(time.Hour)
	for _, l := range []Layout{Default(), hours} {
		g, f := newTest(t, l, Config{})
		mustNext(t, g)
		f.step(8 * time.Hour)
		f.pass(1001 * time.Millisecond)
		if late := f.now().Sub(l.Time(mustNext(t, g))); late < 0 || late >= l.Tick() {
			t.Errorf("%v: stamped %v after the wall clock", l, late)
		}
	}
}

// A step is told from slewing also after a day without ids.
func TestStepAfterIdleTime(t *testing.T) {
	g, f := newTest(t, Default(), Config{})
	f.pass(24 * time.Hour)
	f.step(-10 * time.Second)
	mustNext(t, g)
	if s := g.Stats(); s.ClockSteps != 1 || s.ClockLag != 10*time.Second {
		t.Errorf("Stats() = %+v, want one step, 10s back", s)
	}
}

// A generator that is always busy but never has to wait looks at the wall clock
// all the same.
func TestWallClockIsSeenUnderLoad(t *testing.T) {
	g, f := newTest(t, Default(), Config{})
	f.step(time.Hour)
	for range 1100 {
		f.pass(time.Millisecond)
		for range 4096 {
			mustNext(t, g)
		}
	}
	if s := g.Stats(); s.ClockSteps != 1 || s.MostBorrowed == 0 {
		t.Errorf("Stats() = %+v, want one step seen, and borrowing", s)
	}
	if late := f.now().Sub(g.Layout().Time(mustNext(t, g))); late.Abs() > 10*time.Millisecond {
		t.Errorf("stamped %v after the wall clock", late)
	}
}

func TestCeiling(t *testing.T) {
	g, f := newTest(t, Default(), Config{})
	grant := g.grant
	ceiling := grant.position(grant.clock.now()) + 2*4096
	grant.tenure.Load().limit.Store(ceiling)
	if err := g.Fill(t.Context(), make([]ID, 2*4096+1)); !errors.Is(err, ErrLeaseExpired) || grant.last() >= ceiling-2*4096 {
		t.Errorf("a Fill beyond the ceiling returns %v and leaves position %d of %d", err, grant.last(), ceiling)
	}
	var last ID
	for {
		id, err := g.Next(t.Context())
		if err != nil {
			if !errors.Is(err, ErrLeaseExpired) || id != 0 {
				t.Fatalf("at the ceiling Next() = %d, %v, want ErrLeaseExpired", id, err)
			}
			break
		}
		last = id
	}
	if want := grant.id(grant.tenure.Load().number | (ceiling - 1)); last != want {
		t.Errorf("the last id below the ceiling is %d, want %d", last, want)
	}
	ids := make([]ID, 3)
	for range 3 {
		if err := g.Fill(t.Context(), ids); !errors.Is(err, ErrLeaseExpired) {
			t.Errorf("past the ceiling Fill returns %v", err)
		}
		if _, err := g.Next(t.Context()); !errors.Is(err, ErrLeaseExpired) {
			t.Errorf("past the ceiling Next returns %v", err)
		}
		f.pass(time.Second)
	}
	if got := grant.last(); got > ceiling { // one call finds out by trying
		t.Errorf("refused calls moved the word %d past the ceiling", got-ceiling)
	}
	grant.tenure.Load().limit.Store(ceiling + 10_000*4096)
	if id := mustNext(t, g); id <= last {
		t.Errorf("after the ceiling was raised: id %d after %d", id, last)
	}
}

// However many goroutines race for the ceiling, none gets past it.
func TestCeilingUnderContention(t *testing.T) {
	w, err := Fixed(Default(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(w, Config{MaxAhead: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	mustNext(t, g)
	grant := w.Grant()
	ceiling := grant.last() + 100_000
	grant.tenure.Load().limit.Store(ceiling)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for {
				id, err := g.Next(t.Context())
				if err != nil {
					if !errors.Is(err, ErrLeaseExpired) {
						t.Error(err)
					}
					return
				}
				if id >= grant.id(grant.tenure.Load().number|ceiling) {
					t.Errorf("id %d at or past the ceiling %d", id, grant.id(grant.tenure.Load().number|ceiling))
				}
			}
		})
	}
	wg.Wait()
}

func TestTimeExhausted(t *testing.T) {
	w, err := Fixed(UIDGenerator(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(w, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := g.Next(t.Context()); !errors.Is(err, ErrTimeExhausted) || id != 0 {
		t.Errorf("Next() = %d, %v, want ErrTimeExhausted", id, err)
	}
	if left := g.Stats().Left; left != 0 {
		t.Errorf("Stats().Left = %v, want 0", left)
	}

	// Running into the end: all ids up to it, then errors, never a wrapped id.
	for _, bits := range []Bits{{41, 0, 10, 12, 0}, {41, 0, 9, 12, 0}, {36, 0, 22, 5, 0}} {
		l := Default()
		l.bits = bits
		f := newFakeTime(l.End().Add(-50 * time.Millisecond))
		g := newOn(t, l, uint64(l.Workers()-1), Config{}, f)
		var last ID
		for {
			id, err := g.Next(t.Context())
			if err != nil {
				if !errors.Is(err, ErrTimeExhausted) {
					t.Fatal(err)
				}
				break
			}
			if id <= last {
				t.Fatalf("%v: id %d after %d", l, id, last)
			}
			last = id
		}
		if last == math.MaxInt64 {
			t.Errorf("%v: made the one id that no half-open range holds", l)
		}
		if got, want := l.Time(last), l.End().Add(-time.Millisecond); !got.Equal(want) {
			t.Errorf("%v: the last id is stamped %v, want %v", l, got, want)
		}
		f.pass(time.Hour)
		if id, err := g.Next(t.Context()); !errors.Is(err, ErrTimeExhausted) {
			t.Errorf("%v: an hour after the end Next() = %d, %v", l, id, err)
		}
	}

	// So far past the end that a position of that tick has more than 64 bits.
	l := Default()
	l.bits = Bits{21, 0, 0, 42, 0}
	for _, late := range []time.Duration{0, 1 << 21} {
		g := newOn(t, l, 0, Config{}, newFakeTime(noon.Add(late*time.Millisecond)))
		if id, err := g.Next(t.Context()); !errors.Is(err, ErrTimeExhausted) {
			t.Errorf("%v: long after the end Next() = %d, %v", l, id, err)
		}
	}
}

func TestLayoutThatEndsSoonWorks(t *testing.T) {
	// 2^35 ticks of a millisecond are 397 days: this one ends in a week.
	l, err := NewLayout(time.Now().Add(-(1<<35)*time.Millisecond+7*24*time.Hour), time.Millisecond, Bits{35, 0, 10, 12, 0})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Fixed(l, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(w, Config{})
	if err != nil {
		t.Fatal(err)
	}
	mustNext(t, g)
	if left := g.Stats().Left.Round(time.Hour); left != 7*24*time.Hour {
		t.Errorf("Stats().Left = %v, want a week", left)
	}
}

func TestFill(t *testing.T) {
	for _, n := range []int{0, 1, 2, 4095, 4096, 4097, 40_000, 300_000} {
		g, f := newTest(t, Default(), Config{})
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
	g, f := newTest(t, Default(), Config{})
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
	g, f := newTest(t, Default(), Config{})
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

// With the machine's clocks, in the virtual time of a synctest bubble.
func TestWaitsOnTheRealClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := Fixed(Default(), 0, 1); !errors.Is(err, ErrClockBeforeEpoch) { // the bubble starts in 2000
			t.Errorf("Fixed before the epoch: %v, want ErrClockBeforeEpoch", err)
		}
		l := preset(946684800000-1000, time.Millisecond, Bits{41, 0, 10, 12, 0})
		w, err := Fixed(l, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGenerator(w, Config{})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		mustNext(t, g)
		if waited := time.Since(start); waited != 11*time.Millisecond {
			t.Errorf("the first id took %v, want 11ms", waited)
		}
		ids := make([]ID, 100_000)
		for _, ctx := range []context.Context{t.Context(), context.Background()} {
			if err := g.Fill(ctx, ids); err != nil {
				t.Fatal(err)
			}
			if ahead := time.Until(l.Time(ids[len(ids)-1])); ahead > 10*time.Millisecond {
				t.Errorf("the last id is %v ahead of the clock", ahead)
			}
		}

		// A deadline that is bound to pass fails at once and uses up nothing.
		for full := time.Now(); time.Now().Equal(full); {
			mustNext(t, g)
		}
		for range 4095 { // the rest of the tick that has just become free
			mustNext(t, g)
		}
		before, begin := w.Grant().last(), time.Now()
		ctx, cancel := context.WithDeadline(t.Context(), begin.Add(time.Millisecond))
		defer cancel()
		if err := g.Fill(ctx, ids); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 0 || w.Grant().last() != before {
			t.Errorf("Fill = %v after %v, word moved by %d", err, time.Since(begin), w.Grant().last()-before)
		}

		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Microsecond)
			if id, err := g.Next(ctx); !errors.Is(err, context.DeadlineExceeded) || id != 0 {
				t.Fatalf("Next = %d, %v, want context.DeadlineExceeded", id, err)
			}
			cancel()
		}
		if moved := w.Grant().last() - before; moved > 1 { // one finds out by trying
			t.Errorf("calls that were bound to fail used up %d positions", moved)
		}

		// A wait ends with ctx.
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(300*time.Microsecond, cancel)
		begin = time.Now()
		if err := g.Fill(ctx, ids); !errors.Is(err, context.Canceled) || time.Since(begin) != 300*time.Microsecond {
			t.Errorf("Fill = %v after %v, want context.Canceled after 300µs", err, time.Since(begin))
		}
		mustNext(t, g)
	})
}

func TestObserve(t *testing.T) {
	l := Default()
	g, f := newTest(t, l, Config{})
	for _, tt := range []struct {
		name   string
		worker uint64
		ahead  time.Duration
	}{
		{"a smaller worker in this tick", 0, 0},
		{"a greater worker in this tick", 1023, 0},
		{"this worker", 1, 0},
		{"a smaller worker ahead", 0, 5 * time.Millisecond},
		{"a greater worker ahead", 1023, 8 * time.Millisecond},
		{"the past", 1023, -time.Hour},
	} {
		for _, sequence := range []uint64{0, 17, 4095} {
			seen, err := l.Compose(Parts{Time: f.now().Add(tt.ahead), Worker: tt.worker, Sequence: sequence})
			if err != nil {
				t.Fatal(err)
			}
			last := mustNext(t, g)
			issued := g.Stats().Issued
			if err := g.Observe(seen); err != nil {
				t.Errorf("%s: Observe = %v", tt.name, err)
			}
			if got := g.Stats().Issued; got != issued {
				t.Errorf("%s: Observe counts as %d ids", tt.name, got-issued)
			}
			if id := mustNext(t, g); id <= seen || id <= last {
				t.Errorf("%s: id %d after %d was seen and %d made", tt.name, id, seen, last)
			}
			f.pass(50 * time.Millisecond)
		}
	}
	for _, old := range []ID{1, 4095, 1 << 22} { // also what AUTO_INCREMENT made before
		if err := g.Observe(old); err != nil {
			t.Errorf("Observe(%d) = %v", old, err)
		}
	}
	farthest := l.End().Add(-1)
	end, _ := l.Compose(Parts{Time: farthest, Worker: 1023, Sequence: 4095})
	if err := g.Observe(end); !errors.Is(err, ErrTooFarAhead) {
		t.Errorf("Observe(%v) = %v, want ErrTooFarAhead", farthest, err)
	}
	far, _ := l.Compose(Parts{Time: f.now().Add(11 * time.Millisecond), Worker: 3})
	before := g.grant.last()
	if err := g.Observe(far); !errors.Is(err, ErrTooFarAhead) {
		t.Errorf("Observe(11ms ahead) = %v, want ErrTooFarAhead", err)
	}
	for _, bad := range []ID{0, -1} {
		if err := g.Observe(bad); err == nil {
			t.Errorf("Observe(%d) returned no error", bad)
		}
	}
	if g.grant.last() != before {
		t.Error("a refused Observe moved the word")
	}
}

// Before the first id Observe must not open the door to ticks that an earlier
// process may have stamped.
func TestObserveBeforeTheFirstID(t *testing.T) {
	f := newFakeTime(noon)
	g := newOn(t, Default(), 1, Config{}, f)
	for _, ahead := range []time.Duration{0, 10 * time.Millisecond} {
		seen, _ := g.Layout().Compose(Parts{Time: noon.Add(ahead), Worker: 1, Sequence: 9})
		if err := g.Observe(seen); err != nil {
			t.Fatal(err)
		}
	}
	if got, first := g.Layout().Time(mustNext(t, g)), noon.Add(11*time.Millisecond); got.Before(first) {
		t.Errorf("the first id is stamped %v, want %v or later", got, first)
	}
}

func TestNewGeneratorRefuses(t *testing.T) {
	w, err := Fixed(Default(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
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
		datacenter, worker uint64
		want               string
	}{
		{32, 0, "datacenter 32: want at most 31"},
		{0, 32, "worker 32: want at most 31"},
	} {
		if w, err := Fixed(Twitter(), tt.datacenter, tt.worker); err == nil || !strings.Contains(err.Error(), tt.want) || w != nil {
			t.Errorf("Fixed(%d, %d) = %v, %v, want %q", tt.datacenter, tt.worker, w, err, tt.want)
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
	w, err := Fixed(Default(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(w, Config{})
	if err != nil {
		t.Fatal(err)
	}
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

func TestClockDivision(t *testing.T) {
	for _, tick := range []int64{1000, 1001, 1023, 1024, 1025, 999_983, 1e6, 1e7, 1e9, 1<<40 + 1, 1<<62 - 57} {
		l := Default()
		l.tick = tick
		var c clock
		c.start(l, newFakeTime(noon))
		for _, n := range []int64{0, 1, tick - 1, tick, tick + 1, 3*tick - 1, 1<<62 + 12345, 1<<63 - 1} {
			if n < 0 {
				continue
			}
			if got, want := c.ticks(n), uint64(n/tick); got != want {
				t.Errorf("%d / %d = %d, want %d", n, tick, got, want)
			}
		}
		for i := range int64(100_000) {
			n := i * 92233720368547 // up to 2^63
			if got, want := c.ticks(n), uint64(n/tick); got != want {
				t.Fatalf("%d / %d = %d, want %d", n, tick, got, want)
			}
		}
	}
}
