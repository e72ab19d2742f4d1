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

// Bounds returns the SQL of the smallest and the largest value of a column, for [ParseBounds]. The column and the
// table are quoted. Each value has a SELECT of its own, because SQLite looks for both in one by reading the whole
// table. The values are texts, because PostgreSQL refuses a statement that it has prepared once the type of its
// result has changed.
func Bounds(column, table string) string {
	value := func(which string) string {
		return "(SELECT CAST(" + which + "(" + column + ") AS CHAR(20)) FROM " + table + ")"
	}
	return "SELECT COALESCE(" + value("MIN") + ", ''), COALESCE(" + value("MAX") + ", '')"
}

// ParseBounds returns the smallest value of a column if it is negative, or else 0, and the largest, or 0 if no
// value is greater than 0. No row is two empty texts.
func ParseBounds(smallest, largest string) (least int64, most uint64, err error) {
	smallest, largest = strings.TrimRight(smallest, " "), strings.TrimRight(largest, " ")
	if strings.HasPrefix(smallest, "-") {
		if least, err = strconv.ParseInt(smallest, 10, 64); err != nil {
			return 0, 0, err
		}
	}
	if largest != "" && !strings.HasPrefix(largest, "-") {
		most, err = strconv.ParseUint(largest, 10, 64)
	}
	return least, most, err
}

// NegativeRemedy is what to do about a value for which [Negative] is not empty.
const NegativeRemedy = "give those rows new ids, or keep the key an int64 in the model: see Negative ids in docs/coming-from.md"

// Negative returns what is wrong with the smallest value of a column of ids, or nothing: an id is not negative.
func Negative(least int64) string {
	if least >= 0 {
		return ""
	}
	return fmt.Sprintf("its smallest value is %d, and no id is negative: a snow.ID can't read such a row, nor a list with it, and pages by key leave it out", least)
}

// End returns an id above all ids that can be made now with a layout. If the layout has lanes, it is in the
// last one.
func End(l snow.Layout, now time.Time) snow.ID {
	var end snow.ID
	for _, hi := range l.Between(now, now.Add(AheadOfClock+l.Tick())) {
		end = hi
	}
	return end
}

// AheadRemedy is what to do about a value for which [Ahead] is not empty.
const AheadRemedy = "make ids with the layout of those rows, or give those rows new ids: otherwise new rows sort before them and may clash with them"

// Ahead returns what is wrong with the largest value of a column of ids, or nothing: it is above all ids that can
// be made now with a layout.
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
