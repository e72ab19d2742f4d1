package numbers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The date that was read is used until the database may have another one, for a minute at most.
func TestToday(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := time.Now()
		d := today{window: window{end: 1e9 + 30e6}, now: 1e9, sent: sent} // 30 s before midnight
		for _, test := range []struct {
			after time.Duration
			want  bool
		}{{0, true}, {30*time.Second - time.Microsecond, true}, {30 * time.Second, false}, {time.Hour, false}} {
			if got := d.valid(sent.Add(test.after)); got != test.want {
				t.Errorf("after %v: got %v", test.after, got)
			}
		}
		d.end = 1e18
		if !d.valid(sent.Add(59*time.Second)) || d.valid(sent.Add(time.Minute)) {
			t.Error("far from midnight, a minute is the bound")
		}
		// A time without a monotonic clock has only what the machine's clock says, as if somebody had set it.
		d.sent = sent.Round(0).Add(-2 * time.Hour)
		if d.valid(sent) {
			t.Error("the clock was set, and the date was not read again")
		}
		if new(today).valid(sent) {
			t.Error("a date that was never read is valid")
		}
	})
}

// A caller that waits for the numbers of another one stops when its context ends.
func TestSemaphore(t *testing.T) {
	s := make(semaphore, 1)
	if err := s.lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.lock(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.unlock()
	if err := s.lock(ctx); err != nil { // it is free
		t.Error(err)
	}
}

// Counters in memory are bounded: the numbers of one that is dropped are skipped.
func TestBlocksAreBounded(t *testing.T) {
	f := &Fast{blocks: map[string]*block{}}
	for i := range mostCounters + 10 {
		f.block(string(appendPadded(nil, int64(i), 9)))
	}
	if len(f.blocks) != mostCounters {
		t.Errorf("got %d counters", len(f.blocks))
	}
}
