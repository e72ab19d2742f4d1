package sqlvalue

import (
	"strconv"
	"strings"
	"time"
)

// dateForms are how databases and people write dates; a zone may follow.
var dateForms = []string{"2006-01-02 15:04:05.999999999", "2006-01-02", "2006-01-02 15:04"}

// ParseDate returns the date that a value is: a text, or the time since 1970 in
// seconds, milliseconds, microseconds or nanoseconds, whichever is nearest to
// our days. Texts without a zone are in zone. It returns false for anything
// else, and for dates that are zero.
func ParseDate(v any, zone *time.Location) (time.Time, bool) {
	var text string
	switch v := v.(type) {
	case int64:
		return sinceEpoch(v)
	case float64:
		if v > 0 && v < 1e11 {
			return time.UnixMicro(int64(v * 1e6)).UTC(), true
		}
		return sinceEpoch(int64(v))
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return time.Time{}, false
	}
	text = strings.TrimSpace(text)
	if len(text) < 5 || text[4] != '-' { // the error of a text takes as long as the date
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return sinceEpoch(n)
		}
	}
	if len(text) > 10 && text[10] == 'T' {
		text = text[:10] + " " + text[11:]
	}
	for _, form := range dateForms {
		for _, suffix := range []string{"", "Z07:00", "Z07", " Z07:00", " Z07", " Z0700", " -0700 MST"} {
			if t, err := time.ParseInLocation(form+suffix, text, zone); err == nil {
				return t.UTC(), t.Year() > 1
			}
		}
	}
	return time.Time{}, false
}

func sinceEpoch(n int64) (time.Time, bool) {
	switch {
	case n <= 0:
		return time.Time{}, false
	case n < 1e11:
		return time.Unix(n, 0).UTC(), true
	case n < 1e14:
		return time.UnixMilli(n).UTC(), true
	case n < 1e17:
		return time.UnixMicro(n).UTC(), true
	}
	return time.Unix(0, n).UTC(), true
}
