package command

import (
	"encoding/json"
	"io"
	"strconv"
	"text/tabwriter"
	"time"
)

// A result is what a command prints: as JSON, or as text with tabs between the columns.
type result interface{ writeText(w io.Writer) }

// print writes a result to standard output.
func (a *app) print(r result) error { return a.write(r, "  ") }

// printLine writes a result to standard output, as JSON in one line.
func (a *app) printLine(r result) error { return a.write(r, "") }

func (a *app) write(r result, indent string) error {
	if a.json {
		e := json.NewEncoder(a.Out)
		e.SetEscapeHTML(false)
		e.SetIndent("", indent)
		return e.Encode(r)
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	r.writeText(w)
	return w.Flush()
}

// stamp writes a time for people, in UTC and with no more digits than it has.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05.999")
}

// span writes a duration of any length with its two largest units. It takes seconds, because a
// time.Duration ends after 292 years.
func span(seconds float64) string {
	if seconds < 0 {
		return "-" + span(-seconds)
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

// since returns the seconds from one time to another one.
func since(from, to time.Time) float64 {
	return float64(to.Unix()-from.Unix()) + float64(to.Nanosecond()-from.Nanosecond())/1e9
}

// distance writes how far a time is from now: "3d 4h ago" or "in 5m".
func distance(t, now time.Time) string {
	if t.After(now) {
		return "in " + span(since(now, t))
	}
	return span(since(t, now)) + " ago"
}
