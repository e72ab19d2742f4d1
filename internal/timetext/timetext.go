// Package timetext writes times and durations for people.
package timetext

import (
	"strconv"
	"time"
)

// Stamp writes a time for people, in UTC and with no more digits than it has.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05.999")
}

// Span writes a duration of any length with its two largest units. It takes seconds, because a
// time.Duration ends after 292 years.
func Span(seconds float64) string {
	if seconds < 0 {
		return "-" + Span(-seconds)
	}
	if seconds < 1 {
		return strconv.FormatInt(int64(seconds*1000), 10) + "ms"
	}
	units := []struct {
		name    string
		seconds int64
	}{{"y", 31556952}, {"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}
	left := int64(min(seconds, 1e17))
	text, parts := "", 0
	for _, u := range units {
		n := left / u.seconds
		if n == 0 && parts == 0 {
			continue
		}
		if parts++; parts > 2 {
			break
		}
		if n > 0 {
			if text != "" {
				text += " "
			}
			text += strconv.FormatInt(n, 10) + u.name
		}
		left -= n * u.seconds
	}
	return text
}

// Since returns the seconds from one time to another one.
func Since(from, to time.Time) float64 {
	return float64(to.Unix()-from.Unix()) + float64(to.Nanosecond()-from.Nanosecond())/1e9
}

// Distance writes how far a time is from now: "3d 4h ago" or "in 5m".
func Distance(t, now time.Time) string {
	if t.After(now) {
		return "in " + Span(Since(now, t))
	}
	return Span(Since(t, now)) + " ago"
}
