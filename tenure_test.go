package snow

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
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

// tick returns the tick that it is now.
func tick(g *Grant) uint64 { return g.position(g.clock.now()) >> g.sequenceBits }

func TestGrantWithoutWindow(t *testing.T) {
	grant, g := newLeased(t, Default(), Config{})
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

func TestOpenRefuses(t *testing.T) {
	grant, g := newLeased(t, Twitter(), Config{})
	now := tick(grant)
	var field *FieldError
	for name, w := range map[string]Window{
		"datacenter": {Datacenter: 32, Floor: now, Ceiling: now + 10},
		"worker":     {Worker: 32, Floor: now, Ceiling: now + 10},
		"Ceiling":    {Floor: now, Ceiling: 1<<41 + 1},
	} {
		if err := grant.Open(w); !errors.As(err, &field) || field.Field != name {
			t.Errorf("Open(%+v) = %v, want a FieldError of %s", w, err, name)
		}
	}
	if err := grant.Open(Window{Floor: now, Ceiling: now}); !errors.Is(err, errTooLate) {
		t.Errorf("an empty window: %v", err)
	}
	if _, err := g.Next(t.Context()); !errors.Is(err, ErrLeaseExpired) {
		t.Errorf("Next after refused windows: %v", err)
	}
	if err := grant.Open(Window{Worker: 3, Floor: now, Ceiling: now + 60_000}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	// One that ends before what was used, and one after Retire.
	if err := grant.Open(Window{Worker: 4, Floor: now - 100, Ceiling: now}); !errors.Is(err, errTooLate) {
		t.Errorf("a window in the past: %v", err)
	}
	if id, err := g.Next(t.Context()); err != nil || id>>12&31 != 3 {
		t.Errorf("after a refused window: id %v, %v, want one of worker 3", id, err)
	}
	grant.Retire()
	if err := grant.Open(Window{Worker: 4, Floor: now, Ceiling: now + 60_000}); !errors.Is(err, ErrLeaseExpired) {
		t.Errorf("Open after Retire: %v", err)
	}
	if _, err := NewGrant(Layout{}, time.Now()); err == nil {
		t.Error("NewGrant takes the zero Layout")
	}
	if _, err := NewGrant(Default(), time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)); !errors.Is(err, ErrClockBeforeEpoch) {
		t.Errorf("NewGrant before the epoch: %v", err)
	}
}

func TestOpenKeepsIDsAscending(t *testing.T) {
	l := Twitter()
	grant, g := newLeased(t, l, Config{})
	now := tick(grant)
	var last ID
	for i, w := range []Window{
		{Datacenter: 1, Worker: 31, Floor: now - 5, Ceiling: now + 100_000},
		{Datacenter: 1, Worker: 0, Floor: now - 5, Ceiling: now + 100_000},
		{Datacenter: 0, Worker: 7, Floor: now + 300, Ceiling: now + 100_000}, // not to be used before its floor
		{Datacenter: 0, Worker: 7, Floor: now + 400, Ceiling: now + 200_000}, // the same number again
	} {
		if err := grant.Open(w); err != nil {
			t.Fatal(err)
		}
		for range 20_000 {
			id, err := g.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p, err := l.Decompose(id)
			tick := uint64(p.Time.Sub(l.Epoch()) / l.Tick())
			if err != nil || id <= last || p.Worker != w.Worker || p.Datacenter != w.Datacenter || tick < w.Floor || tick >= w.Ceiling {
				t.Fatalf("window %d %+v: id %d after %d: %+v", i, w, id, last, p)
			}
			last = id
		}
	}
	if got := g.Stats().Issued; got != 80_000 {
		t.Errorf("Stats().Issued = %d, want 80000", got)
	}
}

// Many goroutines make ids while the worker number changes under them. Every
// id must be of a window that was open, and windows of a number never overlap.
func TestOpenUnderLoad(t *testing.T) {
	for name, l := range map[string]Layout{"12 bits": Default(), "20 bits": mustLayout(t, Bits{41, 0, 2, 20, 0})} {
		t.Run(name, func(t *testing.T) {
			grant, g := newLeased(t, l, Config{MaxAhead: 20 * time.Millisecond})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ids := make([][]ID, 8)
			var made atomic.Int64
			var all sync.WaitGroup
			open := make(chan struct{})
			for i := range ids {
				all.Go(func() {
					<-open
					batch := make([]ID, 100)
					for ctx.Err() == nil && len(ids[i]) < 50_000 {
						n := 1
						var err error
						if batch[0], err = g.Next(ctx); err == nil && i%2 == 0 {
							n = 100
							err = g.Fill(ctx, batch)
						}
						switch {
						case err == nil:
							ids[i] = append(ids[i], batch[:n]...)
							made.Add(int64(n))
						case !errors.Is(err, ErrLeaseExpired) && ctx.Err() == nil:
							t.Error(err)
							return
						}
					}
				})
			}
			r := rand.New(rand.NewPCG(5, 6))
			windows := map[uint64][]Window{}
			for n := range 300 {
				w := Window{Worker: r.Uint64N(4), Floor: tick(grant)}
				for _, former := range windows[w.Worker] {
					w.Floor = max(w.Floor, former.Ceiling)
				}
				w.Ceiling = w.Floor + 1 + r.Uint64N(30)
				switch err := grant.Open(w); {
				case errors.Is(err, errTooLate):
					continue
				case err != nil:
					t.Fatal(err)
				}
				windows[w.Worker] = append(windows[w.Worker], w)
				if n == 0 {
					close(open)
				}
				for held := &windows[w.Worker][len(windows[w.Worker])-1]; r.IntN(3) > 0; {
					held.Ceiling += r.Uint64N(10)
					grant.Raise(held.Ceiling)
				}
				time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond) // the load itself; nothing waits for it
			}
			// Windows may pass before anybody gets to run, so there is a last one for as long as it takes.
			last := Window{Floor: tick(grant), Ceiling: tick(grant) + 1<<30}
			for _, former := range windows[last.Worker] {
				last.Floor = max(last.Floor, former.Ceiling)
			}
			if err := grant.Open(last); err != nil {
				t.Fatal(err)
			}
			windows[last.Worker] = append(windows[last.Worker], last)
			for made.Load() < 10_000 {
				time.Sleep(time.Millisecond) // no event tells
			}
			stop()
			all.Wait()
			next := grant.Retire()
			var merged []ID
			for i := range ids {
				if !slices.IsSorted(ids[i]) {
					t.Errorf("goroutine %d: ids do not ascend", i)
				}
				merged = append(merged, ids[i]...)
			}
			slices.Sort(merged)
			if len(merged) < 10_000 || len(slices.Compact(slices.Clone(merged))) != len(merged) {
				t.Fatalf("%d ids with duplicates, or hardly any", len(merged))
			}
			for _, id := range merged {
				p, err := l.Decompose(id)
				tick := uint64(p.Time.Sub(l.Epoch()) / l.Tick())
				inside := func(w Window) bool { return w.Floor <= tick && tick < w.Ceiling }
				if err != nil || tick >= next || !slices.ContainsFunc(windows[p.Worker], inside) {
					t.Fatalf("id %d (%+v, tick %d) is of no window that was open, or not before %d", id, p, tick, next)
				}
			}
		})
	}
}

func mustLayout(t *testing.T, bits Bits) Layout {
	t.Helper()
	l, err := NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, bits)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRaise(t *testing.T) {
	grant, g := newLeased(t, Default(), Config{MaxAhead: time.Minute})
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
	if last := Default().Time(ids[3999]); last.After(Default().Epoch().Add(time.Duration(now+1002) * time.Millisecond)) {
		t.Errorf("stamped %v", last)
	}
	grant.Raise(1 << 62)
	if limit := grant.tenure.Load().limit.Load(); limit != grant.end() {
		t.Errorf("a ceiling past the end of the layout leaves the limit %d", limit)
	}
}

func TestRetire(t *testing.T) {
	grant, g := newLeased(t, Default(), Config{})
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
	grant, g := newLeased(t, Default(), Config{})
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

// Past the end of the layout positions run into the number. Such a word is of
// no worker.
func TestWordPastTheEnd(t *testing.T) {
	grant, g := newLeased(t, mustLayout(t, Bits{41, 0, 10, 12, 0}), Config{})
	end := uint64(1) << 41
	if err := grant.Open(Window{Worker: 1023, Floor: end - 2, Ceiling: end}); err != nil {
		t.Fatal(err)
	}
	grant.word.Store(1023<<53 | 1<<53 - 3)
	g.openUntil.Store(1 << 62)
	for range 10 {
		if id, err := g.Next(t.Context()); !errors.Is(err, ErrTimeExhausted) || id != 0 {
			t.Fatalf("Next = %d, %v, want ErrTimeExhausted", id, err)
		}
	}
	if err := grant.Open(Window{Worker: 1, Floor: 5, Ceiling: end}); !errors.Is(err, ErrTimeExhausted) {
		t.Errorf("Open = %v, want ErrTimeExhausted", err)
	}
	if next := grant.Retire(); next != end {
		t.Errorf("Retire = %d, want %d", next, end)
	}
}

// A word that was taken two windows ago can't be told from one past its
// ceiling. It is dropped, and another one taken.
func TestWordOfFormerWindow(t *testing.T) {
	grant, g := newLeased(t, Default(), Config{})
	now := tick(grant)
	window := func(worker uint64) {
		t.Helper()
		if err := grant.Open(Window{Worker: worker, Floor: now, Ceiling: now + 100_000}); err != nil {
			t.Fatal(err)
		}
	}
	window(1)
	word := grant.word.Add(1)
	window(2)
	if id, err := g.nextAt(t.Context(), word); err != nil || id>>12&1023 != 1 {
		t.Errorf("one window later: id %d, %v, want one of worker 1", id, err)
	}
	window(3)
	if id, err := g.nextAt(t.Context(), word); err != nil || id>>12&1023 != 3 {
		t.Errorf("two windows later: id %d, %v, want one of worker 3", id, err)
	}
}

func TestAdvance(t *testing.T) {
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	grant, err := NewGrant(Default(), start)
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

// Running time goes back, and ids wait for it: what MaxAhead allows is made at once, and what is past the window not at all.
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
		if reached := grant.Retreat(before); !reached.Equal(before.Add(10*time.Second)) || !grant.Now().Equal(before) {
			t.Errorf("ids reached %v and running time is %v, want 10 s after %v and that", reached, grant.Now(), before)
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

// ErrLeaseExpired wraps what explains it.
func TestExplain(t *testing.T) {
	grant, g := newLeased(t, Default(), Config{})
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
