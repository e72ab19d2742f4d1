package chunk

import (
	"sync"
	"testing"
	"time"
)

func TestThrottle(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	throttle := NewThrottle(1000)
	for _, tt := range []struct {
		rows      int
		since, is int
	}{
		{250, 0, 250},
		{100, 250, 350},
		{100, 340, 450},   // read before the ones before were due
		{100, 2000, 2100}, // a slow read is not made up for
		{0, 2050, 2100},
	} {
		if got := throttle.due(tt.rows, at(tt.since)); !got.Equal(at(tt.is)) {
			t.Errorf("%d rows since %d are due at %d, want %d", tt.rows, tt.since, got.UnixMilli(), tt.is)
		}
	}
	for rows, want := range map[int]int{10: 10, 1000: 250} {
		if got := throttle.Most(rows); got != want {
			t.Errorf("a read of %d rows may have %d, want %d", rows, got, want)
		}
	}
	if got := NewThrottle(2).Most(100); got != 1 {
		t.Errorf("2 rows a second: a read has %d", got)
	}
	none := NewThrottle(0)
	if err := none.Wait(t.Context(), 1e9, at(0)); err != nil || none.Most(7) != 7 || none.Waited() != 0 {
		t.Error("no throttle bounds something")
	}
}

// Readers of several sources share one throttle: rows of all of them are due one after another.
func TestThrottleOfSeveralReaders(t *testing.T) {
	throttle, since := NewThrottle(1000), time.Now()
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 1000 {
				throttle.due(10, since)
			}
		})
	}
	readers.Wait()
	if got, want := throttle.due(0, since).Sub(since), 40*time.Second; got != want {
		t.Errorf("40,000 rows at 1000 a second are due after %v, want %v", got, want)
	}
}
