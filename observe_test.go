package snow

import (
	"errors"
	"testing"
	"time"
)

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
	g := newOn(t, Default(), 1, Config{}, f)
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
