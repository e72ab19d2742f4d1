package segments

import (
	"database/sql"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/names"
)

const (
	defaultStep    = 1000
	defaultMaxStep = 1 << 24
	defaultTarget  = time.Minute

	reviveEvery = time.Minute // shorter than most firewalls and proxies let a connection be idle

	// for a request in the background; at the start, for the other databases once one has answered
	takeTimeout = 5 * time.Second

	// highestID leaves room in a BIGINT for the next number of a row.
	highestID = math.MaxInt64 - maxCounters
)

const (
	hedgeAfter   = 200 * time.Millisecond // if a database has not answered by then, another one is asked as well
	firstRetry   = 100 * time.Millisecond
	longestRetry = 5 * time.Second
	maxCounters  = 1024
	longestStep  = 1 << 40
)

// Config configures [Open]. All but Tag may be zero.
type Config struct {
	// Tag names a sequence of numbers: 1 to 64 ASCII letters, digits, and . _ - : /. Case counts. Tables that
	// share keys share a tag.
	Tag string

	// Step is how many numbers are taken at once in the beginning, and at least later: 1 to 2⁴⁰. Zero means 1,000.
	Step int64

	// MaxStep bounds the step as it grows: Step to 2⁴⁰. Zero means 16,777,216, or Step if that is more. If it
	// equals Step, the step never changes.
	MaxStep int64

	// Target is how long the numbers that are taken at once should last, up to 24 hours: the step doubles when as
	// many numbers were given out in less time, and halves when that took more than twice as long. So a step is at
	// most twice what a process gave out in its busiest time of Target, or Step. Ids go on without any database for
	// about this time. Zero means a minute.
	Target time.Duration

	// Last is the highest id, such as 1<<53 - 1 for JavaScript. Zero means 1,024 less than the highest of 63 bits.
	Last snow.ID

	// Tables are the tables that store the ids. Before the first numbers are taken from a database, its
	// row is compared with the highest id in the tables: a row that is not above it is a *RegressedError, and new
	// rows begin above it. This costs one statement for the row and one for each table, whose column needs an
	// index. If Tables is nil, the row is trusted.
	Tables []Table

	// Logger logs when a database stops and starts to give numbers. Nil means slog.Default.
	Logger *slog.Logger
}

// A Table is a table that has ids of a tag.
type Table struct {
	DB     *sql.DB // the table's database, of the dialect that Open is called with
	Name   string  // may have a schema before a dot
	Column string  // the column with the ids
}

// complete checks c and fills in what is left out.
func (c Config) complete() (Config, error) {
	if err := names.Check("Tag", c.Tag); err != nil {
		return c, err
	}
	if c.Step == 0 {
		c.Step = defaultStep
	}
	if c.MaxStep == 0 {
		c.MaxStep = max(defaultMaxStep, c.Step)
	}
	if c.Target == 0 {
		c.Target = defaultTarget
	}
	if c.Last == 0 {
		c.Last = highestID
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	for _, f := range []struct {
		name               string
		value, least, most int64
	}{
		{"Step", c.Step, 1, longestStep},
		{"MaxStep", c.MaxStep, c.Step, longestStep},
		{"Target", int64(c.Target), 1, int64(24 * time.Hour)},
		{"Last", int64(c.Last), 1, highestID},
	} {
		if f.value < f.least || f.value > f.most {
			return c, &snow.FieldError{Field: f.name, Value: strconv.FormatInt(f.value, 10), Bound: fmt.Sprintf("want %d to %d", f.least, f.most)}
		}
	}
	for i, t := range c.Tables {
		if t.DB == nil || t.Name == "" || t.Column == "" {
			return c, &snow.FieldError{Field: "Tables", Value: strconv.Itoa(i), Bound: "want a database, a name and a column"}
		}
	}
	return c, nil
}
