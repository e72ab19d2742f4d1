package snow

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

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
	if _, err := NewGrant(DefaultLayout(), time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)); !errors.As(err, &field) || field.Field != "now" {
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
	for name, l := range map[string]Layout{"12 bits": DefaultLayout(), "20 bits": mustLayout(t, Bits{Timestamp: 41, Worker: 2, Sequence: 20}), "lanes": Clustered()} {
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
				lanes := make(map[uint64]ID)
				for _, id := range ids[i] {
					lane, _, _ := laneOf(t, l, id)
					if id <= lanes[lane] {
						t.Fatalf("goroutine %d: id %d after %d in lane %d", i, id, lanes[lane], lane)
					}
					lanes[lane] = id
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

// Past the end of the layout, positions run into the number. Such a word belongs to
// no worker.
func TestWordPastTheEnd(t *testing.T) {
	grant, g := newLeased(t, mustLayout(t, Bits{Timestamp: 41, Worker: 10, Sequence: 12}), Config{})
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

// A word that was reserved two windows ago can't be distinguished from one past its
// ceiling. It is dropped, and another one taken.
func TestWordOfFormerWindow(t *testing.T) {
	grant, g := newLeased(t, DefaultLayout(), Config{})
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
