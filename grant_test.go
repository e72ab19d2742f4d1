package snow

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

type leased struct{ grant *Grant }

func (l leased) Grant() *Grant { return l.grant }

func newLeased(t *testing.T, l Layout, cfg Config) (*Grant, *Generator) {
	t.Helper()
	grant, err := NewGrant(l, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(leased{grant}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return grant, g
}

// tick returns the present tick.
func tick(g *Grant) uint64 { return g.position(g.clock.now()) >> g.sequenceBits }

func TestGrantWithoutWindow(t *testing.T) {
	grant, g := newLeased(t, DefaultLayout(), Config{})
	if id, err := g.Next(t.Context()); !errors.Is(err, ErrLeaseExpired) || id != 0 {
		t.Errorf("Next = %v, %v, want ErrLeaseExpired", id, err)
	}
	if err := g.Observe(1 << 40); !errors.Is(err, ErrLeaseExpired) {
		t.Errorf("Observe = %v, want ErrLeaseExpired", err)
	}
	grant.Raise(1 << 40)
	if next := grant.Retire(); next != 0 {
		t.Errorf("Retire = %d, want 0", next)
	}
	if got := g.Stats().Issued; got != 0 {
		t.Errorf("issued %d", got)
	}
}

func TestRaise(t *testing.T) {
	grant, g := newLeased(t, DefaultLayout(), Config{MaxAhead: time.Minute})
	now := tick(grant)
	if err := grant.Open(Window{Floor: now + 1000, Ceiling: now + 1001}); err != nil {
		t.Fatal(err)
	}
	ids := make([]ID, 4000)
	if err := g.Fill(t.Context(), ids[:1000]); err != nil {
		t.Fatal(err)
	}
	grant.Raise(now) // lower: nothing changes
	if err := g.Fill(t.Context(), ids); !errors.Is(err, ErrLeaseExpired) {
		t.Errorf("past the ceiling: %v", err)
	}
	grant.Raise(now + 1003)
	if err := g.Fill(t.Context(), ids); err != nil {
		t.Errorf("after Raise: %v", err)
	}
	if last := DefaultLayout().Time(ids[3999]); last.After(DefaultLayout().Epoch().Add(time.Duration(now+1002) * time.Millisecond)) {
		t.Errorf("the last id has the time %v", last)
	}
	grant.Raise(1 << 62)
	if limit := grant.term.Load().limit.Load(); limit != grant.end() {
		t.Errorf("a ceiling past the end of the layout leaves the limit %d", limit)
	}
}

func TestRetire(t *testing.T) {
	grant, g := newLeased(t, DefaultLayout(), Config{})
	now := tick(grant)
	if err := grant.Open(Window{Worker: 1023, Floor: now, Ceiling: now + 100_000}); err != nil {
		t.Fatal(err)
	}
	ids := make([]ID, 10_000)
	if err := g.Fill(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	next := grant.Retire()
	if last := uint64(ids[9999]) >> 22; next != last+1 {
		t.Errorf("Retire = %d, want %d: the tick after the last id", next, last+1)
	}
	for range 3 {
		if id, err := g.Next(t.Context()); !errors.Is(err, ErrLeaseExpired) || id != 0 {
			t.Errorf("Next = %d, %v, want ErrLeaseExpired", id, err)
		}
	}
	if again := grant.Retire(); again < next {
		t.Errorf("the second Retire = %d, the first %d", again, next)
	}
	if got := g.Stats().Issued; got != 10_000 {
		t.Errorf("Stats().Issued = %d, want 10000", got)
	}
	// A call that took the common path just before Retire.
	g.openUntil.Store(1 << 62)
	if id, err := g.Next(t.Context()); !errors.Is(err, ErrLeaseExpired) || id != 0 {
		t.Errorf("Next = %d, %v, want ErrLeaseExpired", id, err)
	}
}

// A suspended grant makes no ids until it is opened again, and then goes on
// where it was.
func TestSuspend(t *testing.T) {
	grant, g := newLeased(t, DefaultLayout(), Config{})
	now := tick(grant)
	if err := grant.Open(Window{Worker: 5, Floor: now, Ceiling: now + 100_000}); err != nil {
		t.Fatal(err)
	}
	ids := make([]ID, 5000)
	if err := g.Fill(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	grant.Suspend()
	g.openUntil.Store(1 << 62) // as a call that took the common path just before
	for range 3 {
		if id, err := g.Next(t.Context()); !errors.Is(err, ErrLeaseExpired) || id != 0 {
			t.Errorf("Next = %d, %v, want ErrLeaseExpired", id, err)
		}
		if err := g.Fill(t.Context(), make([]ID, 3)); !errors.Is(err, ErrLeaseExpired) {
			t.Errorf("Fill = %v, want ErrLeaseExpired", err)
		}
	}
	grant.Raise(now + 200_000)
	if _, err := g.Next(t.Context()); !errors.Is(err, ErrLeaseExpired) {
		t.Errorf("Next after Raise = %v, want ErrLeaseExpired", err)
	}
	if err := grant.Open(Window{Worker: 6, Floor: now, Ceiling: now + 100_000}); err != nil {
		t.Fatal(err)
	}
	if id, err := g.Next(t.Context()); err != nil || id <= ids[4999] || id>>12&1023 != 6 {
		t.Errorf("Next after Open = %d, %v, want one of worker 6 above %d", id, err, ids[4999])
	}
	if got := g.Stats().Issued; got != 5001 {
		t.Errorf("Stats().Issued = %d, want 5001", got)
	}
	grant.Suspend()
	if next := grant.Retire(); next <= uint64(ids[4999])>>22 {
		t.Errorf("Retire after Suspend = %d, want more than %d", next, ids[4999]>>22)
	}
}

func TestAdvance(t *testing.T) {
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	grant, err := NewGrant(DefaultLayout(), start)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(leased{grant}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if now := grant.Now(); now.Before(start) || now.After(start.Add(time.Minute)) {
		t.Fatalf("Now = %v, want about %v", now, start)
	}
	grant.Advance(start.Add(time.Hour))
	if now := grant.Now(); now.Before(start.Add(time.Hour)) || now.After(start.Add(61*time.Minute)) {
		t.Errorf("Now = %v after an hour", now)
	}
	grant.Advance(start)
	if now := grant.Now(); now.Before(start.Add(time.Hour)) {
		t.Errorf("Now = %v: it went back", now)
	}
	if lag := g.Stats().ClockLag; lag < time.Hour || lag > time.Hour+time.Minute {
		t.Errorf("ClockLag = %v, want an hour", lag)
	}
	grant.Advance(start.AddDate(900, 0, 0))
	if now := grant.Now(); now.Before(start) {
		t.Errorf("Now = %v: it overflowed", now)
	}
}

// Running time goes back, and ids wait for it: ids within MaxAhead are made at once, and ids past the window are
// not made.
func TestRetreat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		early, err := NewLayout(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 4})
		if err != nil {
			t.Fatal(err)
		}
		grant, g := newLeased(t, early, Config{MaxAhead: 10 * time.Millisecond})
		now := tick(grant)
		if err := grant.Open(Window{Worker: 3, Floor: now, Ceiling: now + 20_000}); err != nil {
			t.Fatal(err)
		}
		before := grant.Now()
		grant.Advance(before.Add(10 * time.Second))
		last, err := g.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		reached, next := grant.Retreat(before)
		if want := before.Add(10 * time.Second); !reached.Equal(want) || !next.Equal(want.Add(-10*time.Millisecond)) || !grant.Now().Equal(before) {
			t.Errorf("ids reached %v, go on at %v, and running time is %v, want 10 s after %v, 10 ms less, and that", reached, next, grant.Now(), before)
		}
		begin := time.Now()
		for range 300 { // more than what MaxAhead holds
			id, err := g.Next(t.Context())
			if err != nil || id <= last {
				t.Fatalf("id %d after %d, %v", id, last, err)
			}
			last = id
		}
		if waited := time.Since(begin); waited < 9900*time.Millisecond || waited > 10*time.Second+100*time.Millisecond {
			t.Errorf("ids waited for %v, want about 10 s", waited)
		}
		grant.Retreat(grant.Now().Add(time.Hour))
		if got := grant.Now(); got.After(before.Add(11 * time.Second)) {
			t.Errorf("Retreat moved running time forward, to %v", got)
		}
		// Beyond the window no wait helps.
		grant.Advance(before.Add(19_999 * time.Millisecond))
		for err == nil {
			_, err = g.Next(t.Context())
		}
		grant.Retreat(before)
		begin = time.Now()
		if _, err := g.Next(t.Context()); !errors.Is(err, ErrLeaseExpired) || time.Since(begin) > 0 {
			t.Errorf("Next = %v after %v, want ErrLeaseExpired at once", err, time.Since(begin))
		}
	})
}

// ErrLeaseExpired wraps its explanation.
func TestExplain(t *testing.T) {
	grant, g := newLeased(t, DefaultLayout(), Config{})
	first, second := errors.New("no window yet"), errors.New("closed")
	for i, why := range []error{first, nil, second} {
		grant.Explain(why)
		if i == 2 {
			grant.Retire()
		}
		for what, err := range map[string]error{
			"Next": func() error { _, err := g.Next(t.Context()); return err }(), "Fill": g.Fill(t.Context(), make([]ID, 2)), "Observe": g.Observe(1 << 40),
		} {
			if !errors.Is(err, ErrLeaseExpired) || why != nil && !errors.Is(err, why) {
				t.Errorf("%s: got %v, want ErrLeaseExpired and %v", what, err, why)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { _ = grant.expired() }); n != 0 {
		t.Errorf("%v allocations to say why", n)
	}
}
