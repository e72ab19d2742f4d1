package idcolumn

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
)

// AheadOfClock is how far the time of a new id may be ahead of the clock: a
// generator's MaxAhead is at most a minute. See [snow.Config].
const AheadOfClock = time.Minute

// Largest returns the SQL of the largest value of a column, for [ParseLargest]. The column is quoted. The value is
// a text, because PostgreSQL refuses a statement that it has prepared once the type of its result has changed.
func Largest(column string) string { return "CAST(MAX(" + column + ") AS CHAR(20))" }

// ParseLargest returns the largest value of a column, or 0 if no value is greater than 0. No row is an empty text.
func ParseLargest(text string) (uint64, error) {
	if text == "" || strings.HasPrefix(text, "-") {
		return 0, nil
	}
	return strconv.ParseUint(strings.TrimRight(text, " "), 10, 64)
}

// End returns an id above all ids that can be made now with a layout. If the layout has lanes, it is that of the last one.
func End(l snow.Layout, now time.Time) snow.ID {
	var end snow.ID
	for _, hi := range l.Between(now, now.Add(AheadOfClock+l.Tick())) {
		end = hi
	}
	return end
}

// AheadRemedy is what to do about a value for which [Ahead] is not empty.
const AheadRemedy = "make ids with the layout of those rows, or give those rows new ids: otherwise new rows sort before them and may clash with them"

// Ahead returns what is wrong with the largest value of a column of ids, or nothing: it is above all ids that can be made now with a
// layout.
func Ahead(largest uint64, l snow.Layout, now time.Time) string {
	end := End(l, now)
	if largest < uint64(end) {
		return ""
	}
	what := "which the layout " + l.String() + " can't make"
	if id := snow.ID(largest); id > 0 {
		if parts, err := l.Decompose(id); err == nil {
			what = "an id of " + parts.Time.Format(time.RFC3339)
		}
	}
	return fmt.Sprintf("its largest value is %d, %s, above all ids that can be made now: new ids are below %d", largest, what, end)
}
