package timetext_test

import (
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/timetext"
)

func TestSpans(t *testing.T) {
	for _, tt := range []struct {
		seconds float64
		want    string
	}{
		{0, "0ms"},
		{0.25, "250ms"},
		{1, "1s"},
		{61, "1m 1s"},
		{3600, "1h"},
		{3601, "1h"},
		{86399, "23h 59m"},
		{31556952, "1y"},
		{31556952 + 86400, "1y 1d"},
		{-61, "-1m 1s"},
		{1e30, "3168873850y 248d"},
	} {
		if got := timetext.Span(tt.seconds); got != tt.want {
			t.Errorf("%v seconds: %q, want %q", tt.seconds, got, tt.want)
		}
	}
}

func TestDistances(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for want, at := range map[string]time.Time{"1m ago": now.Add(-time.Minute), "in 2s": now.Add(2 * time.Second), "0ms ago": now} {
		if got := timetext.Distance(at, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := timetext.Stamp(now.Add(5 * time.Millisecond)); got != "2026-03-04 05:06:07.005" || timetext.Stamp(time.Time{}) != "never" {
		t.Errorf("%q", got)
	}
}
