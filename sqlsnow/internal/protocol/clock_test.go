package protocol

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestServerClock(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const hour = time.Hour
	for name, test := range map[string]struct {
		database, local time.Duration // how wrong they are at the second reading, a minute after the first
		slept           time.Duration // time that the monotonic clock did not count
		refused         bool
	}{
		"all agree":                         {},
		"within the bound":                  {database: 25 * time.Second},
		"the database is ahead":             {database: hour, refused: true},
		"the database is behind":            {database: -hour, refused: true},
		"the local clock is a day ahead":    {local: 24 * hour},
		"the local clock is a day behind":   {local: -24 * hour},
		"the process was suspended":         {slept: hour},
		"both clocks were corrected":        {database: -hour, local: -hour},
		"nobody agrees":                     {database: hour, local: -hour, refused: true},
		"suspended with a wrong clock":      {slept: hour, local: 24 * hour, refused: true},
		"the database is at 1970":           {database: -56 * 365 * 24 * hour, refused: true},
		"the local clock just at the bound": {database: time.Hour, local: time.Hour + 30*time.Second},
	} {
		v := serverClock{maxSkew: 30 * time.Second}
		if err := v.observe(start.UnixMicro(), 0, Reading{Mono: 0, Wall: start}); err != nil {
			t.Fatal(err)
		}
		later := start.Add(time.Minute + test.slept)
		mono := time.Minute + 20*time.Millisecond
		now := Reading{Mono: mono, Wall: later.Add(test.local + 10*time.Millisecond)}
		err := v.observe(later.Add(test.database).UnixMicro(), time.Minute, now)
		var clock *ClockError
		if refused := errors.As(err, &clock); refused != test.refused {
			t.Errorf("%s: %v", name, err)
		}
		want := later.Add(test.database + 10*time.Millisecond)
		if test.refused {
			want = start.Add(mono)
			if !clock.Database.Equal(later.Add(test.database)) || clock.Predicted.IsZero() || clock.Local.IsZero() {
				t.Errorf("%s: the error has %+v", name, clock)
			}
		}
		if got := time.UnixMicro(v.predict(mono)); !got.Equal(want) {
			t.Errorf("%s: predicted %v, want %v", name, got.UTC(), want)
		}
	}
	var v serverClock
	v.maxSkew = 30 * time.Second
	var clock *ClockError
	if err := v.observe(start.UnixMicro(), 0, Reading{Mono: 0, Wall: start.Add(time.Minute)}); !errors.As(err, &clock) || !clock.Predicted.IsZero() {
		t.Errorf("the first look, a minute apart: %v", err)
	}
	for range 2 {
		if msg := clock.Error(); !strings.Contains(msg, "2026-03-01T12:00:00.000Z") || !strings.Contains(msg, "2026-03-01T12:01:00.000Z") {
			t.Errorf("message %q", msg)
		}
	}
}
