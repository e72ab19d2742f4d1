package sqlsnow

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardsnow/snow"
)

type caller struct{}

// longAgo returns a layout whose epoch is before the virtual time of tests.
func longAgo(t *testing.T) snow.Layout {
	t.Helper()
	l, err := snow.NewLayout(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 12})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// OnEvent is called for all events of a lease, in order, with the ctx of the call that
// caused the event, and the hook may call Stats.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{layout: longAgo(t)}
		db := s.open()
		defer db.Close()
		var events []LeaseEvent
		var callers []any
		var held atomic.Pointer[Lease]
		happened := make(chan EventKind, 100)
		cfg := LeaseConfig{Namespace: "shop", Logger: slog.New(asking{slog.DiscardHandler, &held})}
		cfg.OnEvent = func(ctx context.Context, e LeaseEvent) {
			if n := len(events); n > 0 && e.Kind == Renewed && events[n-1].Kind == Renewed {
				return
			}
			if e.Kind == Lost { // its row is somebody else's; another one can be had
				s.set(func() { s.refuse = false })
			}
			if lease := held.Load(); lease != nil && lease.Stats().Worker != 7 {
				t.Error("Stats in a hook is of no use")
			}
			events, callers = append(events, e), append(callers, ctx.Value(caller{}))
			happened <- e.Kind
		}
		until := func(kind EventKind) {
			for late := time.After(time.Hour); ; {
				select {
				case got := <-happened:
					if got == kind {
						return
					}
				case <-late:
					t.Fatalf("no event: %v", kind)
				}
			}
		}
		s.before = func() {
			time.Sleep(3 * time.Millisecond)
			if s.row != nil {
				s.row[len(s.row)-1] = time.Now().UnixMicro()
			}
		}
		lease, err := Acquire(context.WithValue(t.Context(), caller{}, "acquire"), db, MySQL, cfg)
		if err != nil {
			t.Fatal(err)
		}
		held.Store(lease)
		until(Renewed)
		down := errors.New("no route")
		s.set(func() { s.down = down })
		until(Failed)
		s.set(func() { s.down = nil })
		until(Renewed)
		s.set(func() {
			s.refuse = true
			s.row = []driver.Value{int64(Granted), "somebody", int64(5), int64(1 << 41), int64(1 << 42), int64(0), "pod 2", nil}
		})
		until(Swapped)
		if err := lease.Renew(context.WithValue(t.Context(), caller{}, "renew")); err != nil {
			t.Fatal(err)
		}
		if err := lease.Close(context.WithValue(t.Context(), caller{}, "close")); err != nil {
			t.Fatal(err)
		}

		var kinds []string
		for i, e := range events {
			if i > 0 && e.Kind == Failed && events[i-1].Kind == Failed {
				continue
			}
			kinds = append(kinds, e.Kind.String())
			if e.Worker != 7 || e.Ceiling.IsZero() || (e.Kind != Ended) != (e.Took >= 3*time.Millisecond) {
				t.Errorf("event %+v", e)
			}
			var lost *LostError
			switch e.Kind {
			case Failed:
				if !errors.Is(e.Err, down) {
					t.Errorf("failed: %v", e.Err)
				}
			case Lost:
				if !errors.As(e.Err, &lost) || lost.Reason != Displaced {
					t.Errorf("lost: %v", e.Err)
				}
			case Swapped:
				if e.From != 7 || e.Err != nil {
					t.Errorf("swapped: %+v", e)
				}
			case Ended:
				if !errors.Is(e.Err, ErrClosed) {
					t.Errorf("ended: %v", e.Err)
				}
			}
		}
		want := strings.Fields("acquired renewed failed renewed lost swapped renewed ended")
		if !slices.Equal(kinds, want) {
			t.Errorf("events %q, want %q", kinds, want)
		}
		first, last := callers[0], callers[len(callers)-1]
		if first != "acquire" || callers[1] != nil || callers[len(callers)-2] != "renew" || last != "close" {
			t.Errorf("callers %v", callers)
		}
	})
}

// OnEvent is called for the end also if the ctx of Close has ended, and while a renewal is under way.
func TestEndIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{layout: longAgo(t)}
		db := s.open()
		defer db.Close()
		ended := 0
		lease, err := Acquire(t.Context(), db, MySQL, LeaseConfig{
			Namespace: "shop", Logger: slog.New(slog.DiscardHandler),
			OnEvent: func(_ context.Context, e LeaseEvent) {
				if e.Kind == Ended {
					ended++
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		_ = lease.Close(over)
		_ = lease.Close(t.Context())
		if ended != 1 {
			t.Errorf("%d events for the end, want one", ended)
		}
	})
}

func TestEventKindString(t *testing.T) {
	for k, want := range map[EventKind]string{
		0: "EventKind(0)", Acquired: "acquired", Renewed: "renewed", Failed: "failed", Lost: "lost", Swapped: "swapped", Ended: "ended", 7: "EventKind(7)", -1: "EventKind(-1)",
	} {
		if got := k.String(); got != want {
			t.Errorf("%d: %q, want %q", int(k), got, want)
		}
	}
}

func TestLeaseStatsJSON(t *testing.T) {
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	s := LeaseStats{
		Datacenter: 1, Worker: 2, Fence: 3, Ceiling: at, Left: 4, Renewed: at.Add(-time.Second), Renewals: 5, Failures: 6, Swaps: 7, Skew: -8,
		Err: &LostError{Worker: 2, Reason: Vanished},
	}
	const want = `{"datacenter":1,"worker":2,"fence":3,"ceiling":"2026-07-01T12:00:00Z","left_ns":4,"renewed":"2026-07-01T11:59:59Z",` +
		`"renewals":5,"failures":6,"swaps":7,"skew_ns":-8,"error":"worker 2 is lost: its row is gone"}`
	for _, v := range []any{s, &s} {
		if got, err := json.Marshal(v); string(got) != want || err != nil {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	s.Err = nil
	if got, err := json.Marshal(s); strings.Contains(string(got), "rr") || err != nil {
		t.Errorf("without an error: %s, %v", got, err)
	}
}

// A lease is ready as long as ids last for half a minute, or for a tenth of a short window.
func TestReady(t *testing.T) {
	for _, tt := range []struct {
		name         string
		window, left time.Duration
		want         bool
	}{
		{"after a renewal", 10 * time.Minute, 10 * time.Minute, true},
		{"before the next one", 10 * time.Minute, 9 * time.Minute, true},
		{"half a minute before the end", 10 * time.Minute, 30 * time.Second, false},
		{"a pinned number, before a renewal", 30 * time.Second, 18 * time.Second, true},
		{"a pinned number, near the end", 30 * time.Second, 3 * time.Second, false},
		{"the first window with a LossWindow, before a renewal", 20 * time.Second, 8 * time.Second, true},
		{"the shortest window", 3 * time.Millisecond, 2 * time.Millisecond, true},
		{"no id can be made", 10 * time.Minute, 0, false},
		{"no lease yet", 0, 0, false},
	} {
		renewed := time.Now()
		s := LeaseStats{Renewed: renewed, Ceiling: renewed.Add(tt.window), Left: tt.left}
		if s.Window() != tt.window || s.Ready() != tt.want {
			t.Errorf("%s: window %v, ready %t", tt.name, s.Window(), s.Ready())
		}
	}
}

// asking is a log handler that calls Stats of the lease that logs to it.
type asking struct {
	slog.Handler
	held *atomic.Pointer[Lease]
}

func (asking) Enabled(context.Context, slog.Level) bool { return true }

func (a asking) Handle(context.Context, slog.Record) error {
	if lease := a.held.Load(); lease != nil {
		lease.Stats()
	}
	return nil
}

func (a asking) WithAttrs([]slog.Attr) slog.Handler { return a }
