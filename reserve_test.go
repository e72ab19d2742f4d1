package snow

import (
	"errors"
	"math"
	"sync"
	"testing"
	"time"
)

func TestCeiling(t *testing.T) {
	g, f := newTest(t, DefaultLayout(), Config{})
	grant := g.grant
	ceiling := grant.position(grant.clock.now()) + 2*4096
	grant.term.Load().limit.Store(ceiling)
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
	if want := grant.id(grant.term.Load().number | (ceiling - 1)); last != want {
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
	grant.term.Load().limit.Store(ceiling + 10_000*4096)
	if id := mustNext(t, g); id <= last {
		t.Errorf("after the ceiling was raised: id %d after %d", id, last)
	}
}

// No goroutine gets past the ceiling, however many of them race for it.
func TestCeilingUnderContention(t *testing.T) {
	w := newWorker(t, DefaultLayout())
	g, err := NewGenerator(w, Config{MaxAhead: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	mustNext(t, g)
	grant := w.Grant()
	ceiling := grant.last() + 100_000
	grant.term.Load().limit.Store(ceiling)
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
				if id >= grant.id(grant.term.Load().number|ceiling) {
					t.Errorf("id %d at or past the ceiling %d", id, grant.id(grant.term.Load().number|ceiling))
				}
			}
		})
	}
	wg.Wait()
}

func TestTimeExhausted(t *testing.T) {
	g := newReal(t, UIDGenerator())
	if id, err := g.Next(t.Context()); !errors.Is(err, ErrTimeExhausted) || id != 0 {
		t.Errorf("Next() = %d, %v, want ErrTimeExhausted", id, err)
	}
	if left := g.Stats().Left; left != 0 {
		t.Errorf("Stats().Left = %v, want 0", left)
	}

	// Running into the end: all ids up to it, then errors, never a wrapped id.
	for _, bits := range []Bits{
		{Timestamp: 41, Worker: 10, Sequence: 12},
		{Timestamp: 41, Worker: 9, Sequence: 12},
		{Timestamp: 36, Worker: 22, Sequence: 5},
		{Timestamp: 41, Worker: 10, Sequence: 12, Lane: 4, Span: 20},
	} {
		l := DefaultLayout()
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
			if bits.Lane == 0 && id <= last || l.Time(id).Before(l.Time(last)) {
				t.Fatalf("%v: id %d after %d", l, id, last)
			}
			last = id
			if id == math.MaxInt64 {
				t.Errorf("%v: made the one id that no half-open range holds", l)
			}
		}
		if got, want := l.Time(last), l.End().Add(-time.Millisecond); !got.Equal(want) {
			t.Errorf("%v: the last id has the time %v, want %v", l, got, want)
		}
		f.pass(time.Hour)
		if id, err := g.Next(t.Context()); !errors.Is(err, ErrTimeExhausted) {
			t.Errorf("%v: an hour after the end Next() = %d, %v", l, id, err)
		}
	}

	// So far past the end that a position of that tick has more than 64 bits.
	l := DefaultLayout()
	l.bits = Bits{Timestamp: 21, Sequence: 42}
	for _, late := range []time.Duration{0, 1 << 21} {
		g := newOn(t, l, 0, Config{}, newFakeTime(noon.Add(late*time.Millisecond)))
		if id, err := g.Next(t.Context()); !errors.Is(err, ErrTimeExhausted) {
			t.Errorf("%v: long after the end Next() = %d, %v", l, id, err)
		}
	}
}

func TestLayoutThatEndsSoonWorks(t *testing.T) {
	// 2^35 ticks of a millisecond are 397 days: this one ends in a week.
	l, err := NewLayout(time.Now().Add(-(1<<35)*time.Millisecond+7*24*time.Hour), time.Millisecond, Bits{Timestamp: 35, Worker: 10, Sequence: 12})
	if err != nil {
		t.Fatal(err)
	}
	g := newReal(t, l)
	mustNext(t, g)
	if left := g.Stats().Left.Round(time.Hour); left != 7*24*time.Hour {
		t.Errorf("Stats().Left = %v, want a week", left)
	}
}

func TestObserve(t *testing.T) {
	l := DefaultLayout()
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
	var field *FieldError
	if err := g.Observe(end); !errors.As(err, &field) || field.Field != "time" {
		t.Errorf("Observe(%v) = %v, want a FieldError of time", farthest, err)
	}
	far, _ := l.Compose(Parts{Time: f.now().Add(11 * time.Millisecond), Worker: 3})
	before := g.grant.last()
	field = nil
	if err := g.Observe(far); !errors.As(err, &field) || field.Field != "time" {
		t.Errorf("Observe(11ms ahead) = %v, want a FieldError of time", err)
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

// Before the first id, Observe must not give access to ticks that an earlier
// process may have used.
func TestObserveBeforeTheFirstID(t *testing.T) {
	f := newFakeTime(noon)
	g := newOn(t, DefaultLayout(), 1, Config{}, f)
	for _, ahead := range []time.Duration{0, 10 * time.Millisecond} {
		seen, _ := g.Layout().Compose(Parts{Time: noon.Add(ahead), Worker: 1, Sequence: 9})
		if err := g.Observe(seen); err != nil {
			t.Fatal(err)
		}
	}
	if got, first := g.Layout().Time(mustNext(t, g)), noon.Add(11*time.Millisecond); got.Before(first) {
		t.Errorf("the first id has the time %v, want %v or later", got, first)
	}
}
