package command

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/timetext"
)

const aboutRange = `Show which ids were made from FROM on and before TO, for queries and partitions.

A time is 2026-01-31, which is midnight in UTC, an instant such as
2026-01-31T08:00:00+01:00, or now. Its ids are in [first, end). With a layout that
has lanes, a time has several ranges, a line for each.`

// mostRanges is how many ranges one command prints.
const mostRanges = 10_000

func (a *app) idRange() *cobra.Command {
	layout := layoutFlag{presets()[0]}
	var every, column string
	c := &cobra.Command{
		Use: "range FROM TO", Short: "Show the ids of a time range", Long: aboutRange,
		Args: someArgs(2, 2, "FROM and TO"),
		RunE: func(c *cobra.Command, args []string) error {
			usage := func(err error) error { return &usageError{c.CommandPath(), err} }
			from, err := parseTime(args[0], a.now())
			if err != nil {
				return usage(fmt.Errorf("FROM %w", err))
			}
			to, err := parseTime(args[1], a.now())
			if err != nil {
				return usage(fmt.Errorf("TO %w", err))
			}
			next, err := stepOf(every)
			if err != nil {
				return usage(err)
			}
			ranges, err := rangesOf(layout.layout, from, to, next)
			if err != nil {
				return usage(err)
			}
			return a.print(idRanges{Layout: layout.layout, Ranges: ranges, column: column})
		},
	}
	c.Flags().Var(&layout, "layout", "a preset or a layout")
	c.Flags().StringVar(&every, "every", "", "split the range every `STEP`: day, week, month, year, or a duration such as 12h")
	c.Flags().StringVar(&column, "column", "id", "`NAME` of the column in the SQL condition")
	return c
}

// idRanges is the result of id range.
type idRanges struct {
	Layout snow.Layout `json:"layout"`
	Ranges []idRange   `json:"ranges"`

	column string
}

type idRange struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	First snow.ID   `json:"first"`
	End   snow.ID   `json:"end"` // the first id that is too high
}

func (r idRanges) writeText(w io.Writer) {
	for _, r2 := range r.Ranges {
		fmt.Fprintf(w, "%s\t%s\t%s >= %d AND %s < %d\n", timetext.Stamp(r2.From), timetext.Stamp(r2.To), r.column, r2.First, r.column, r2.End)
	}
}

// rangesOf splits a time range at the steps from its beginning on. The last step may be shorter. Without steps
// there is one. If the layout has lanes, a step has several ranges of ids.
func rangesOf(l snow.Layout, from, to time.Time, next func(from time.Time, n int) time.Time) ([]idRange, error) {
	switch {
	case !from.Before(to):
		return nil, errors.New("TO is not after FROM")
	case from.Before(l.Epoch()):
		return nil, fmt.Errorf("FROM is before the layout's epoch, %s", l.Epoch().Format(time.RFC3339Nano))
	case to.After(l.End()):
		return nil, fmt.Errorf("TO is after the layout's end, %s", l.End().Format(time.RFC3339Nano))
	}
	var all []idRange
	for n, begin := 1, from; begin.Before(to); n++ {
		end := to
		if next != nil && next(from, n).Before(to) {
			end = next(from, n)
		}
		if !end.After(begin) {
			return nil, errors.New("--every: the step is too short")
		}
		for first, limit := range l.Between(begin, end) {
			if len(all) == mostRanges {
				return nil, fmt.Errorf("--every: there are more than %d ranges", mostRanges)
			}
			all = append(all, idRange{begin, end, first, limit})
		}
		begin = end
	}
	return all, nil
}

// stepOf returns a function for the end of the n-th range, or nil if there are no steps. Months are counted from
// the beginning, so that the 31st does not wander; a month without such a day ends on its last one.
func stepOf(every string) (func(from time.Time, n int) time.Time, error) {
	switch every {
	case "":
		return nil, nil
	case "day":
		return func(t time.Time, n int) time.Time { return t.AddDate(0, 0, n) }, nil
	case "week":
		return func(t time.Time, n int) time.Time { return t.AddDate(0, 0, 7*n) }, nil
	case "month":
		return addMonths, nil
	case "year":
		return func(t time.Time, n int) time.Time { return addMonths(t, 12*n) }, nil
	}
	d, err := time.ParseDuration(every)
	if err != nil || d <= 0 {
		return nil, fmt.Errorf("--every %.40q: want day, week, month, year, or a duration such as 12h", every)
	}
	return func(t time.Time, n int) time.Time {
		if int64(n) > int64(1<<63-1)/int64(d) {
			return t.Add(1<<63 - 1)
		}
		return t.Add(time.Duration(n) * d)
	}, nil
}

func addMonths(t time.Time, n int) time.Time {
	y, m, d := t.Date()
	last := time.Date(y, m+time.Month(n)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(y, m+time.Month(n), min(d, last), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// parseTime returns a time in UTC.
func parseTime(text string, now time.Time) (time.Time, error) {
	if text == "now" {
		return now.UTC(), nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q: want a day such as 2026-01-31, an instant such as 2026-01-31T08:00:00Z, or now", text)
}
