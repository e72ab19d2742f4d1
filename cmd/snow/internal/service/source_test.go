package service

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// A service is not ready for some time before its ids end.
func TestLasts(t *testing.T) {
	const ample = 24 * time.Hour
	for _, tt := range []struct {
		name                 string
		window, left, layout time.Duration
		want                 bool
	}{
		{"the usual window", 10 * time.Minute, 9 * time.Minute, ample, true},
		{"more than 30 s", 10 * time.Minute, 31 * time.Second, ample, true},
		{"30 s", 10 * time.Minute, 30 * time.Second, ample, false},
		{"the last tick", 10 * time.Minute, time.Millisecond, ample, false},
		{"no id any more", 10 * time.Minute, 0, ample, false},
		{"the window of a certain number", 30 * time.Second, 25 * time.Second, ample, true},
		{"the same, near its end", 30 * time.Second, 3 * time.Second, ample, false},
		{"a short window", time.Second, 101 * time.Millisecond, ample, true},
		{"the same, near its end", time.Second, 100 * time.Millisecond, ample, false},
		{"a layout near its end", 10 * time.Minute, 9 * time.Minute, 30 * time.Second, false},
	} {
		renewed := time.Now()
		err := lasts(sqlsnow.LeaseStats{Renewed: renewed, Ceiling: renewed.Add(tt.window), Left: tt.left}, tt.layout)
		if (err == nil) != tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A service of segments is ready if a database answers, or if there are numbers for the largest request.
func TestSuffices(t *testing.T) {
	for _, tt := range []struct {
		name string
		left int64
		up   []bool
		want bool
	}{
		{"a database answers", 0, []bool{true}, true},
		{"one of two answers", 0, []bool{false, true}, true},
		{"none answers", 0, []bool{false, false}, false},
		{"none answers, and there are numbers for one more request", 10, []bool{false}, true},
		{"one fewer", 9, []bool{false}, false},
	} {
		stats := segments.Stats{Left: tt.left}
		for _, up := range tt.up {
			stats.Databases = append(stats.Databases, segments.Database{Up: up})
		}
		if err := suffices(stats, 10); (err == nil) != tt.want || err != nil && !errors.Is(err, segments.ErrEmpty) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// What a service holds is given back at the same time, and a source that fails keeps none of the others.
func TestRelease(t *testing.T) {
	var all []*served
	var others sync.WaitGroup // each waits until all are being closed
	others.Add(3)
	failed := errors.New("no route")
	for i := range 3 {
		all = append(all, &served{close: func(ctx context.Context) error {
			others.Done()
			others.Wait()
			if i == 1 {
				return failed
			}
			return ctx.Err()
		}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &running{Config: Config{Timeout: time.Minute}}
	if err := c.release(ctx, all...); !errors.Is(err, failed) || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
