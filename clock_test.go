package snow

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWallClockSteps(t *testing.T) {
	g, f := newTest(t, DefaultLayout(), Config{})
	last := mustNext(t, g)
	check := func(name string, want time.Time, steps uint64) {
		t.Helper()
		f.pass(time.Second) // the wall clock is read once a second
		mustNext(t, g)
		f.pass(time.Millisecond)
		id := mustNext(t, g)
		if id <= last {
			t.Errorf("%s: id %d after %d", name, id, last)
		}
		last = id
		want = want.Add(time.Second + time.Millisecond)
		if got := g.Layout().Time(id); !got.Equal(want) {
			t.Errorf("%s: the id has the time %v, want %v", name, got, want)
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

// The first id after a second without one has the time of the corrected clock,
// as after a suspend, also in the middle of a long tick.
func TestForwardStepIsSeenBeforeTheNextID(t *testing.T) {
	hours := DefaultLayout()
	hours.bits, hours.tick = Bits{Timestamp: 31, Worker: 10, Sequence: 22}, int64(time.Hour)
	for _, l := range []Layout{DefaultLayout(), hours} {
		g, f := newTest(t, l, Config{})
		mustNext(t, g)
		f.step(8 * time.Hour)
		f.pass(1001 * time.Millisecond)
		if late := f.now().Sub(l.Time(mustNext(t, g))); late < 0 || late >= l.Tick() {
			t.Errorf("%v: the id is %v behind the wall clock", l, late)
		}
	}
}

// A step is distinguished from slewing also after a day without ids.
func TestStepAfterIdleTime(t *testing.T) {
	g, f := newTest(t, DefaultLayout(), Config{})
	f.pass(24 * time.Hour)
	f.step(-10 * time.Second)
	mustNext(t, g)
	if s := g.Stats(); s.ClockSteps != 1 || s.ClockLag != 10*time.Second {
		t.Errorf("Stats() = %+v, want one step, 10s back", s)
	}
}

// A generator that is always busy but never has to wait also reads the wall clock.
func TestWallClockIsSeenUnderLoad(t *testing.T) {
	g, f := newTest(t, DefaultLayout(), Config{})
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
		t.Errorf("the id is %v behind the wall clock", late)
	}
}

// With the machine's clocks, in the virtual time of a synctest bubble.
func TestWaitsOnTheRealClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var field *FieldError
		// when the bubble starts
		if _, err := Fixed(DefaultLayout(), 1); !errors.As(err, &field) || field.Field != "clock" || field.Value != "2000-01-01T00:00:00Z" {
			t.Errorf("Fixed before the epoch: %v, want a FieldError of clock", err)
		}
		l := preset(946684800000-1000, time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 12})
		w := newWorker(t, l)
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

		// A deadline that would pass during the wait fails at once and uses up nothing.
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

func TestClockDivision(t *testing.T) {
	for _, tick := range []int64{1000, 1001, 1023, 1024, 1025, 999_983, 1e6, 1e7, 1e9, 1<<40 + 1, 1<<62 - 57} {
		l := DefaultLayout()
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
