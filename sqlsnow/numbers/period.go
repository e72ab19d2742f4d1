package numbers

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
)

// Restart says when the numbers of a series begin at 1 again. The pattern must show what restarts, or numbers would
// repeat.
type Restart int

// When numbers restart.
const (
	Never   Restart = iota // one sequence for ever, for each value of the partitions
	Yearly                 // needs {yyyy} or {yy}
	Monthly                // needs the year and {MM}
	Daily                  // needs the year, {MM} and {dd}
)

var restarts = []string{"never", "yearly", "monthly", "daily"}

// String returns "never", "yearly", "monthly" or "daily".
func (r Restart) String() string {
	if r < 0 || int(r) >= len(restarts) {
		return "Restart(" + strconv.Itoa(int(r)) + ")"
	}
	return restarts[r]
}

// ParseRestart parses what [Restart.String] returns. The error is a [*snow.FieldError].
func ParseRestart(text string) (Restart, error) {
	for i, name := range restarts {
		if text == name {
			return Restart(i), nil
		}
	}
	return 0, &snow.FieldError{Field: "Restart", Value: strconv.Quote(text[:min(len(text), 80)]), Bound: "want " + strings.Join(restarts, ", ")}
}

// check returns a *snow.FieldError unless p shows what restarts.
func (r Restart) check(p Pattern) error {
	want := ""
	switch {
	case r < Never || r > Daily:
		want = "want Never, Yearly, Monthly or Daily"
	case r >= Yearly && p.years == 0:
		want = "the pattern shows no year, so numbers would repeat: add {yyyy} or {yy}"
	case r >= Monthly && !p.month:
		want = "the pattern shows no month, so numbers would repeat: add {MM}"
	case r >= Daily && !p.day:
		want = "the pattern shows no day, so numbers would repeat: add {dd}"
	}
	if want == "" {
		return nil
	}
	return &snow.FieldError{Field: "Restart", Value: r.String(), Bound: want}
}

// loadZone returns the time zone of a name, or UTC if it is empty.
func loadZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // of this machine, and others may have another one
		return nil, &snow.FieldError{
			Field: "Zone", Value: strconv.Quote(name[:min(len(name), 80)]),
			Bound: `want a name of the IANA database that this machine knows, such as Europe/Berlin; import _ "time/tzdata" to have all`,
		}
	}
	return zone, nil
}

// A window is a time in which all dates of a pattern are the same, in microseconds since 1970: from begin up to end.
type window struct {
	day        time.Time // in the zone
	begin, end int64
}

func (w window) has(now int64) bool { return w.begin <= now && now < w.end }

// windowAt returns the window around a time. It is at most as long as the zone's offset from UTC does not change. So
// it is right where midnight is skipped or repeated, too.
func (s *series) windowAt(now int64) window {
	t := time.UnixMicro(now).In(s.zone)
	w := window{day: t, begin: math.MinInt64, end: math.MaxInt64}
	p := s.pattern
	if p.years == 0 && !p.month && !p.day {
		return w
	}
	year, month, day := t.Date()
	next := [3]int{year, int(month), day}
	switch {
	case p.day:
		next[2]++
	case p.month:
		day = 1
		next[1], next[2] = next[1]+1, 1
	default:
		month, day = 1, 1
		next = [3]int{year + 1, 1, 1}
	}
	_, offset := t.Zone()
	at := func(year, month, day int) int64 {
		return (time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() - int64(offset)) * 1e6
	}
	w.begin, w.end = at(year, int(month), day), at(next[0], next[1], next[2])
	begin, end := t.ZoneBounds()
	if !begin.IsZero() {
		w.begin = max(w.begin, begin.UnixMicro())
	}
	if !end.IsZero() {
		w.end = min(w.end, end.UnixMicro())
	}
	return w
}

// scope names the counter of a period and of the values of the partitions. It has what the text shows of the period:
// with {yy}, the counter of 2126 goes on where 2026 ended.
func (s *series) scope(w window, partitions []string) string {
	var b []byte
	if s.restart >= Yearly {
		b = appendPadded(b, int64(w.day.Year())%int64(math.Pow10(s.pattern.years)), s.pattern.years)
	}
	if s.restart >= Monthly {
		b = appendPadded(append(b, '-'), int64(w.day.Month()), 2)
	}
	if s.restart >= Daily {
		b = appendPadded(append(b, '-'), int64(w.day.Day()), 2)
	}
	for _, value := range partitions {
		if len(b) > 0 {
			b = append(b, '/')
		}
		b = append(b, value...)
	}
	if len(b) == 0 {
		return wholeScope
	}
	return string(b)
}

// scopeExpression matches the scopes of the series.
func (s *series) scopeExpression() *regexp.Regexp {
	var parts []string
	if s.restart >= Yearly {
		period := fmt.Sprintf(`[0-9]{%d}`, s.pattern.years)
		if s.restart >= Monthly {
			period += `-(0[1-9]|1[0-2])`
		}
		if s.restart >= Daily {
			period += `-(0[1-9]|[12][0-9]|3[01])`
		}
		parts = append(parts, period)
	}
	for range s.pattern.partitions {
		parts = append(parts, fmt.Sprintf(`[A-Za-z0-9_]{1,%d}`, longestPartition))
	}
	if len(parts) == 0 {
		parts = append(parts, wholeScope)
	}
	return regexp.MustCompile(`\A` + strings.Join(parts, "/") + `\z`)
}

// scopeExample describes the scopes of the series to people.
func (s *series) scopeExample() string {
	values := make([]string, len(s.pattern.partitions))
	for i, name := range s.pattern.partitions {
		values[i] = "<" + name + ">"
	}
	return "a scope such as " + s.scope(window{day: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)}, values)
}
