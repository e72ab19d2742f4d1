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
	// However many steps the database's clock takes, it is followed to one skew ahead of the local clock, and back
	// as far as it goes.
	for _, local := range []time.Duration{0, 24 * hour} { // the local clock is set, or not
		v := serverClock{maxSkew: 30 * time.Second}
		at := func(mono, database time.Duration) error {
			now := Reading{Mono: mono, Wall: start.Add(mono)}
			if mono > 0 {
				now.Wall = now.Wall.Add(local)
			}
			return v.observe(start.Add(mono+database).UnixMicro(), mono, now)
		}
		for i, step := range []time.Duration{0, 25, 30, 25, 5, -20, -45, -70, -45, -20, 5, 30} {
			if err := at(time.Duration(i)*time.Minute, step*time.Second); err != nil {
				t.Errorf("step %d, to %d s: %v", i, step, err)
			}
		}
		var clock *ClockError
		if err := at(time.Hour, 31*time.Second); !errors.As(err, &clock) || !clock.Predicted.Equal(start.Add(hour)) {
			t.Errorf("a step to 31 s ahead: %v", err)
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
