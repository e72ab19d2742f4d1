package report

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/plan"
)

// A Forecast is what [github.com/shardsnow/snow/merge.Merge.DryRun] expects of a run. It counts the rows that the dry
// run has read.
type Forecast struct {
	// the id of the run that it is about, made from the plan: another plan has another one, see Report.Run
	Run     string          `json:"run"`
	Sources []string        `json:"sources"`
	Tables  []TableForecast `json:"tables"`            // one for each table and source
	Clashes []ClashForecast `json:"clashes,omitempty"` // one for each unique key and pair of databases that clash in it
	Orphans []ValueForecast `json:"orphans,omitempty"` // references to no row, by column
	Gone    []ValueForecast `json:"gone,omitempty"`    // references to rows that are left out, by column

	Conditions []ConditionForecast `json:"conditions,omitempty"` // rows that conditions of the plan leave out
	// values that are names which rows would lose, by column: those that would follow, and those that would stay and seem
	// to be names
	OldNames []OldNames `json:"old_names,omitempty"`
	// values that the target's columns do not take, by column
	Misfits []ValueForecast  `json:"misfits,omitempty"`
	Dates   []DateForecast   `json:"dates,omitempty"`   // the dates that go into new ids
	Numbers []NumberForecast `json:"numbers,omitempty"` // of tables whose new ids are numbers
	// what nobody has decided, and what could not be looked at
	Open   []Open        `json:"open,omitempty"`
	Took   time.Duration `json:"took_ns"`             // the time of the dry run
	Waited time.Duration `json:"waited_ns,omitempty"` // of that: because of a throttle
	// a rough guess at the time of a run, verification included: seven times as long as a dry run that nothing
	// slows down
	Estimate time.Duration `json:"estimate_ns"`
	Stops    []string      `json:"stops,omitempty"` // what would stop a run, other than rows
	Problems int64         `json:"problems"`        // rows that would stop a run, and Stops
	problems []error       // some of them
}

// A TableForecast counts what would become of the rows of one table of one source.
type TableForecast struct {
	Table   string `json:"table"`
	Source  string `json:"source"`
	Rows    int64  `json:"rows"`
	Rekeyed int64  `json:"rekeyed"` // rows that get a new id
	Merged  int64  `json:"merged"`  // rows that are merged into another row
	Dropped int64  `json:"dropped"` // those left out because of a condition or of what they refer to
	Renamed int64  `json:"renamed"` // values changed by RuleSuffix
	Before  int64  `json:"before"`  // rows that the target has
}

// A ConditionForecast counts the rows of a source that one condition of the plan leaves out, without rows that
// follow them, and without rows of conditions before it.
type ConditionForecast struct {
	Table  string `json:"table"`
	Source string `json:"source"`
	Reason string `json:"reason"` // as in the list of rows that were left out
	Where  string `json:"where"`
	Rows   int64  `json:"rows"`
}

// A ClashForecast counts rows of a source that clash in a unique key.
type ClashForecast struct {
	Table   string    `json:"table"`
	Unique  []string  `json:"unique"`
	Source  string    `json:"source"`
	With    string    `json:"with,omitempty"` // the source of the rows that come first; empty means the target
	Rule    plan.Rule `json:"rule"`
	Rows    int64     `json:"rows"`
	Failing int64     `json:"failing"` // problems that would stop a run
	Samples []string  `json:"samples"` // at most MaxSamples
}

// A ValueForecast counts values of a column of a source.
type ValueForecast struct {
	Table   string       `json:"table"`
	Column  string       `json:"column"`
	Source  string       `json:"source"`
	Rule    plan.Orphans `json:"rule,omitempty"` // of orphans, and of rows that are left out
	Rows    int64        `json:"rows"`
	Samples []string     `json:"samples"` // at most MaxSamples
}

// A DateForecast is about the dates of rows that get new ids, in the order of the old ids. The id of a row without
// a usable date gets the date of the row before.
type DateForecast struct {
	Table   string `json:"table"`
	Source  string `json:"source"`
	Column  string `json:"column"`
	Undated int64  `json:"undated"` // rows with NULL, a zero date or no date at all
	// rows that are dated before the epoch of the layout, where the times of ids begin
	Early      int64         `json:"early"`
	Future     int64         `json:"future"`     // rows that are dated later than now
	Inversions int64         `json:"inversions"` // rows that are dated before an earlier row
	Largest    time.Duration `json:"largest_ns"` // by how much at most: the time in an id may be wrong by that
}

// A NumberForecast says how far the numbers of a table would go that are offset or dense.
type NumberForecast struct {
	Table   string           `json:"table"`
	Column  string           `json:"column"`
	Type    string           `json:"type"` // of the column in the target
	IDs     plan.IDs         `json:"ids"`
	Offsets map[string]int64 `json:"offsets,omitempty"` // by source
	First   int64            `json:"first"`             // the lowest new id
	Highest int64            `json:"highest"`           // the highest id that a row would have, new or not, up to Most
	Left    int64            `json:"left"`              // numbers above it that stay free for merges to come
	Most    int64            `json:"most"`              // the highest number that the column or the plan allows
}

// Full is how much of the numbers is used or left free, from 0 to 1; above 1 they have no room.
func (n NumberForecast) Full() float64 {
	return (float64(n.Highest) + float64(n.Left)) / float64(n.Most)
}

// offsets returns the offsets as a text.
func (n NumberForecast) offsets() string {
	var parts []string
	for _, source := range slices.Sorted(maps.Keys(n.Offsets)) {
		parts = append(parts, fmt.Sprintf("%s +%d", source, n.Offsets[source]))
	}
	return strings.Join(append([]string{string(n.IDs)}, parts...), " ")
}

// MaxSamples is how many samples a line of a forecast has.
const MaxSamples = 5

// Err returns nil if nothing would stop a run and nothing is open. What would stop a run is a join of some
// [*ClashError], [*OrphanError], one for each column of a source, and [*RowError], and of the errors that a run would
// return. If there is none, what is open is an [*OpenError].
func (f *Forecast) Err() error {
	switch {
	case f.Problems > 0:
		return fmt.Errorf("merge: dry run: %s would stop a run: %w", f.problemCount(), errors.Join(f.problems...))
	case len(f.Open) > 0:
		return &OpenError{f.Open}
	}
	return nil
}

// problemCount says how many rows, or other things, would stop a run.
func (f *Forecast) problemCount() string {
	what := "row"
	if len(f.Stops) > 0 {
		what = "thing"
	}
	if f.Problems != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", f.Problems, what)
}

// AddStop adds an error with which a run would end before it looks at rows.
func (f *Forecast) AddStop(err error) {
	f.Stops = append(f.Stops, err.Error())
	f.AddProblem(err)
}

// AddProblem counts a row that would stop a run.
func (f *Forecast) AddProblem(err error) {
	f.Problems++
	var orphan, first *OrphanError
	if errors.As(err, &orphan) {
		for _, other := range f.problems {
			if errors.As(other, &first) && first.Table == orphan.Table && first.Source == orphan.Source && first.Column == orphan.Column && first.LeftOut == orphan.LeftOut {
				first.Rows = max(1, first.Rows) + 1
				return
			}
		}
		copied := *orphan
		err = &copied
	}
	if len(f.problems) < 4*MaxSamples {
		f.problems = append(f.problems, err)
	}
}

// AddClash counts a row that clashes in a unique key. If failing, the clash would stop a run.
func (f *Forecast) AddClash(u *plan.Unique, c *ClashError, failing bool) {
	at := slices.IndexFunc(f.Clashes, func(o ClashForecast) bool {
		return o.Table == c.Table && o.Source == c.Source && o.With == c.With && slices.Equal(o.Unique, c.Unique)
	})
	if at < 0 {
		at = len(f.Clashes)
		f.Clashes = append(f.Clashes, ClashForecast{Table: c.Table, Unique: c.Unique, Source: c.Source, With: c.With, Rule: u.Rule})
	}
	row := &f.Clashes[at]
	row.Rows++
	if failing {
		row.Failing++
		f.AddProblem(c)
	}
	if len(row.Samples) < MaxSamples {
		row.Samples = append(row.Samples, fmt.Sprintf("row %s: %s", c.Row, quoteTexts(c.Values)))
	}
}

// AddOrphan counts a row with a reference to no row.
func (f *Forecast) AddOrphan(table, source, column string, rule plan.Orphans, sample string) {
	f.Orphans = addValue(f.Orphans, ValueForecast{Table: table, Source: source, Column: column, Rule: rule}, sample)
}

// AddGone counts a row with a reference to a row that is left out.
func (f *Forecast) AddGone(table, source, column string, rule plan.Orphans, sample string) {
	f.Gone = addValue(f.Gone, ValueForecast{Table: table, Source: source, Column: column, Rule: rule}, sample)
}

// AddMisfit counts a row with a value that the target's column does not take.
func (f *Forecast) AddMisfit(table, source, column, sample string) {
	f.Misfits = addValue(f.Misfits, ValueForecast{Table: table, Source: source, Column: column}, sample)
}

func addValue(list []ValueForecast, row ValueForecast, sample string) []ValueForecast {
	at := slices.IndexFunc(list, func(o ValueForecast) bool {
		return o.Table == row.Table && o.Column == row.Column && o.Source == row.Source
	})
	if at < 0 {
		at = len(list)
		list = append(list, row)
	}
	list[at].Rows++
	if len(list[at].Samples) < MaxSamples {
		list[at].Samples = append(list[at].Samples, sample)
	}
	return list
}

// WriteText writes the forecast for people.
func (f *Forecast) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Dry run of the merge of %s, run %s\n\n", strings.Join(f.Sources, ", "), f.Run)
	t := newTable(b, "Table", "Source", "Rows", "Re-keyed", "Merged", "Dropped", "Renamed", "In the target")
	for _, row := range f.Tables {
		t.row(row.Table, row.Source, row.Rows, row.Rekeyed, row.Merged, row.Dropped, row.Renamed, row.Before)
	}
	t.end()
	t = newTable(b, "Left out", "Source", "Rows", "Where")
	for _, row := range f.Conditions {
		t.row(row.Table+" ("+row.Reason+")", row.Source, row.Rows, row.Where)
	}
	t.end()
	t = newTable(b, "Refer to rows left out", "Source", "Rows", "Such as")
	for _, row := range f.Gone {
		t.row(nameWithRule(row), row.Source, row.Rows, suchAs(row.Samples))
	}
	t.end()
	t = newTable(b, "Clash", "Source", "With", "Rule", "Rows", "Failing", "Such as")
	var failing string // the first key
	for _, row := range f.Clashes {
		if failing == "" && row.Failing > 0 {
			failing = row.Table + "(" + strings.Join(row.Unique, ", ") + ")"
		}
		columns := strings.Join(row.Unique, ", ")
		if n := len(row.Unique); n > 4 {
			columns = fmt.Sprintf("%s and %d more", strings.Join(row.Unique[:3], ", "), n-3)
		}
		t.row(row.Table+" ("+columns+")", row.Source, cmp.Or(row.With, "(target)"), row.Rule, row.Rows, row.Failing, suchAs(row.Samples))
	}
	t.end()
	if failing != "" {
		fmt.Fprintf(b, "What fails needs another rule, under unique of the plan: suffix, keep, match or renumber, as in {rule: keep, keys: ['%s']}.\n\n", failing)
	}
	writeOldNames(b, f.OldNames)
	t = newTable(b, "Orphans", "Source", "Rows", "Such as")
	without := ""
	for _, row := range f.Orphans {
		if without == "" && row.Rule == plan.OrphansFail {
			without = row.Table + "." + row.Column
		}
		t.row(nameWithRule(row), row.Source, row.Rows, suchAs(row.Samples))
	}
	t.end()
	if without != "" {
		fmt.Fprintf(b, "Orphans without (null) or (drop) stop a run: give the entry of such a column under references, such as %s, orphans: 'null' or orphans: drop, or name the values for no row under none.\n\n", without)
	}
	t = newTable(b, "Do not fit", "Source", "Rows", "Such as")
	for _, row := range f.Misfits {
		t.row(row.Table+"."+row.Column, row.Source, row.Rows, suchAs(row.Samples))
	}
	t.end()
	t = newTable(b, "Dates", "Source", "Undated", "Before epoch", "Future", "Inversions", "Largest")
	for _, row := range f.Dates {
		t.row(row.Table+"."+row.Column, row.Source, row.Undated, row.Early, row.Future, row.Inversions, row.Largest)
	}
	t.end()
	t = newTable(b, "Numbers", "Type", "New ids", "From", "Highest id", "Left free", "Up to", "Full")
	for _, row := range f.Numbers {
		t.row(row.Table+"."+row.Column, row.Type, row.offsets(), row.First, row.Highest, row.Left, row.Most, fmt.Sprintf("%.2f %%", 100*row.Full()))
	}
	t.end()
	for _, stop := range f.Stops {
		fmt.Fprintln(b, "STOPS:", stop)
	}
	for _, o := range f.Open {
		fmt.Fprintln(b, "OPEN:", o)
	}
	if line := asPlain(f.Open); line != "" {
		fmt.Fprintln(b, "If none of the undecided columns has ids or such names, add this to the plan:", line)
	}
	throttled := ""
	if f.Waited > 0 {
		throttled = fmt.Sprintf(", of which %v were waited", f.Waited.Round(time.Millisecond))
	}
	fmt.Fprintf(b, "This took %v%s. A run may take about %v.\n", f.Took.Round(time.Millisecond), throttled, f.Estimate.Round(time.Second))
	switch {
	case f.Problems > 0:
		fmt.Fprintf(b, "%s would stop a run.\n", f.problemCount())
	case len(f.Open) > 0:
		fmt.Fprintf(b, "Nothing would stop a run, but %s left open. Decide or look at it before you run.\n", things(int64(len(f.Open))))
	default:
		fmt.Fprintln(b, "Nothing would stop a run.")
	}
	return b.Flush()
}

func nameWithRule(row ValueForecast) string {
	name := row.Table + "." + row.Column
	if row.Rule != plan.OrphansFail {
		name += " (" + string(row.Rule) + ")"
	}
	return name
}

func suchAs(samples []string) string { return strings.Join(samples[:min(len(samples), 2)], "; ") }
