package snow

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A server that makes a worker and a generator for each request repeats no id, also
// if the garbage collector runs while nobody uses the number.
func TestFixedOfEachRequest(t *testing.T) {
	const requests, each = 8, 1250
	next := func() (ID, error) {
		w, err := Fixed(DefaultLayout(), 1)
		if err != nil {
			return 0, err
		}
		g, err := NewGenerator(w, Config{})
		if err != nil {
			return 0, err
		}
		return g.Next(t.Context())
	}
	var all []ID
	var before ID
	for range 2 {
		var wg sync.WaitGroup
		ids := make([][]ID, requests)
		for i := range ids {
			wg.Go(func() {
				for range each {
					id, err := next()
					if err != nil {
						t.Error(err)
						return
					}
					ids[i] = append(ids[i], id)
				}
			})
		}
		wg.Wait()
		for _, own := range ids {
			if !slices.IsSorted(own) || len(own) > 0 && own[0] <= before {
				t.Error("the ids of one goroutine do not ascend")
			}
			all = append(all, own...)
		}
		before = slices.Max(all)
		runtime.GC()
		runtime.GC()
	}
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != len(all) {
		t.Errorf("%d of %d ids are duplicates", len(all)-n, len(all))
	}
}

// Workers share a Grant if their layout, datacenter and worker number are the same, and
// only then.
func TestFixedSharesTheGrant(t *testing.T) {
	twitter := Twitter()
	same, err := NewLayout(twitter.Epoch().In(time.FixedZone("", 3600)), twitter.Tick(), twitter.Bits())
	if err != nil {
		t.Fatal(err)
	}
	later, err := NewLayout(twitter.Epoch().Add(time.Hour), twitter.Tick(), twitter.Bits())
	if err != nil {
		t.Fatal(err)
	}
	grant := func(l Layout, datacenter, worker uint64) *Grant {
		w, err := FixedParts(l, Parts{Datacenter: datacenter, Worker: worker})
		if err != nil {
			t.Fatal(err)
		}
		return w.Grant()
	}
	first := grant(twitter, 1, 2)
	if w, err := Fixed(twitter, 2); err != nil || w.Grant() != grant(twitter, 0, 2) {
		t.Errorf("Fixed(2) has not the Grant of datacenter 0: %v", err)
	}
	for _, tt := range []struct {
		l                  Layout
		datacenter, worker uint64
		shared             bool
	}{
		{twitter, 1, 2, true},
		{same, 1, 2, true},
		{later, 1, 2, false},
		{Discord(), 1, 2, false},
		{twitter, 2, 1, false},
		{twitter, 0, 2, false},
		{twitter, 1, 0, false},
	} {
		if got := grant(tt.l, tt.datacenter, tt.worker) == first; got != tt.shared {
			t.Errorf("worker of %v, %d, %d shares the Grant of %v, 1, 2: %v, want %v", tt.l, tt.datacenter, tt.worker, twitter, got, tt.shared)
		}
	}
	synctest.Test(t, func(t *testing.T) { // whose clock is before the epoch
		var field *FieldError
		if w, err := FixedParts(twitter, Parts{Datacenter: 1, Worker: 2}); !errors.As(err, &field) || field.Field != "clock" || w != nil {
			t.Errorf("Fixed before the epoch: %v, %v, want a FieldError of clock", w, err)
		}
	})
}

// Two bubbles of testing/synctest may use the same number, and wait in it.
func TestFixedInBubbles(t *testing.T) {
	early, err := NewLayout(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 4})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			w, err := Fixed(early, 77)
			if err != nil {
				t.Fatal(err)
			}
			g, err := NewGenerator(w, Config{})
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Fill(t.Context(), make([]ID, 1000)); err != nil {
				t.Error(err)
			}
		})
	}
}
