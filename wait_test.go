package snow

import (
	"context"
	"errors"
	"testing"
	"time"
)

type traced struct{}

// OnWait is called before each wait with the ctx of the call, and at no other
// time. The function that it returns is called after the wait.
func TestOnWait(t *testing.T) {
	const ahead = 4 * time.Millisecond
	var waits, ended int
	var total time.Duration
	var outcome error
	f := newFakeTime(noon)
	cfg := Config{MaxAhead: ahead}
	cfg.OnWait = func(ctx context.Context, d time.Duration) func(error) {
		if ctx.Value(traced{}) != t.Name() || d <= 0 || ended != waits {
			t.Errorf("wait of %v for %v, %d waits before it and %d of them over", d, ctx.Value(traced{}), waits, ended)
		}
		waits++
		total += d
		slept := f.slept.Load()
		return func(err error) {
			if err == nil && f.slept.Load() != slept+int64(d) {
				t.Error("called at the end before the wait was over")
			}
			ended++
			outcome = err
		}
	}
	g := newOn(t, DefaultLayout(), 1, cfg, f)
	ctx := context.WithValue(t.Context(), traced{}, t.Name())
	if _, err := g.Next(ctx); err != nil || waits == 0 {
		t.Fatalf("the first id of a Fixed worker: %d waits, %v", waits, err)
	}
	f.pass(time.Second)
	before := waits
	for range 4096 {
		if _, err := g.Next(ctx); err != nil || waits != before {
			t.Fatalf("%d waits where none was needed, %v", waits-before, err)
		}
	}
	if err := g.Fill(ctx, make([]ID, 10*4096)); err != nil || waits == before {
		t.Fatalf("a Fill beyond MaxAhead: %d waits, %v", waits-before, err)
	}
	s := g.Stats()
	if s.Waits != uint64(waits) || s.Waited != total || ended != waits || outcome != nil {
		t.Errorf("called for %d waits of %v in all, %d of them over, the last with %v; stats %+v", waits, total, ended, outcome, s)
	}

	// A ctx that ends in the wait.
	ctx, cancel := context.WithCancel(ctx)
	f.onSleep = cancel
	if err := g.Fill(ctx, make([]ID, 10*4096)); !errors.Is(err, context.Canceled) || !errors.Is(outcome, context.Canceled) || ended != waits {
		t.Errorf("Fill = %v, the hook got %v, %d waits and %d of them over", err, outcome, waits, ended)
	}
}

func TestOnWaitMayReturnNil(t *testing.T) {
	calls := 0
	g := newOn(t, DefaultLayout(), 1, Config{OnWait: func(context.Context, time.Duration) func(error) { calls++; return nil }}, newFakeTime(noon))
	if mustNext(t, g); calls == 0 {
		t.Error("not called")
	}
}
