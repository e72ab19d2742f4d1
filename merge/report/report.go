package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/shardsnow/snow/merge/plan"
)

// A Report is what [github.com/shardsnow/snow/merge.Merge.Verify] found. Everything is as it should be if it has
// neither Failures nor anything Open.
type Report struct {
	Run        string      `json:"run"` // the id of the run, made from the plan
	Sources    []string    `json:"sources"`
	Started    time.Time   `json:"started"` // when verification began and ended
	Finished   time.Time   `json:"finished"`
	Tables     []Table     `json:"tables"`     // one for each table and source
	Targets    []Target    `json:"targets"`    // one for each table
	References []Reference `json:"references"` // one for each reference that a column may hold
	Assertions []Assertion `json:"assertions,omitempty"`
	Clashes    []Clash     `json:"clashes,omitempty"`  // rows that gave way to others
	LeftOut    []LeftOut   `json:"left_out,omitempty"` // rows that were left out, by reason
	// values that are names which rows lost, by column: those that followed, and those that stay and seem to be names
	OldNames []OldNames  `json:"old_names,omitempty"`
	Skipped  []string    `json:"skipped,omitempty"`  // tables that the plan does not merge
	Phases   []Phase     `json:"phases,omitempty"`   // what they took, verification last
	After    []Statement `json:"after,omitempty"`    // what the plan says to do on the target when it is verified
	Open     []Open      `json:"open,omitempty"`     // what nobody has decided or checked
	Failures []Failure   `json:"failures,omitempty"` // at most 10 for each check, table and source
	Failed   int64       `json:"failed"`             // how many there are in all
}

// A Table counts what became of the rows of one table of one source.
type Table struct {
	Table  string   `json:"table"`
	Source string   `json:"source"`
	IDs    plan.IDs `json:"ids,omitempty"`    // what its new ids are; empty if its rows keep theirs
	Worker *uint64  `json:"worker,omitempty"` // the worker number of its new ids
	// what new ids differ by from the old ones, with [plan.IDsOffset]
	Offset       *int64        `json:"offset,omitempty"`
	Rows         int64         `json:"rows"`            // in the source
	Copied       int64         `json:"copied"`          // rows of the target that come from them
	Rekeyed      int64         `json:"rekeyed"`         // of the copied: rows with a new id; the others kept theirs
	Merged       int64         `json:"merged"`          // rows that were merged into others, by RuleKeep or RuleMatch
	Dropped      int64         `json:"dropped"`         // rows that were left out
	Renamed      int64         `json:"renamed"`         // values changed by RuleSuffix
	Displacement time.Duration `json:"displacement_ns"` // how far the time in a new id is from the row's date, at most
	// the sum of the hashes of the rows that should be in the target
	Hash  string `json:"hash"`
	Found string `json:"found"` // the same sum over the rows that are in the target
}

// A Target counts the rows of a table of the target.
type Target struct {
	Table  string `json:"table"`
	Before int64  `json:"before"` // rows before the run
	Copied int64  `json:"copied"` // rows that sources added
	Later  int64  `json:"later"`  // rows that later runs added
	Rows   int64  `json:"rows"`   // rows now
}

// A Reference counts the references of one kind.
type Reference struct {
	Table   string `json:"table"`
	Column  string `json:"column"`
	Path    string `json:"path,omitempty"`  // in JSON
	Value   string `json:"value,omitempty"` // of the column that names the table
	Refers  string `json:"refers"`
	Checked int64  `json:"checked"` // ids that were looked up
	Orphans int64  `json:"orphans"` // ids that no row has

	// What the witness says of it, see docs/merge.md: references whose row has the content that it has in the
	// source, and references whose row can't be told from others by its content. The rest of Checked is not in the
	// sample, or in lists and JSON.
	Witnessed    int64 `json:"witnessed"`
	Undetermined int64 `json:"undetermined"`
}

// An Assertion has the numbers of an [github.com/shardsnow/snow/merge.Assertion].
type Assertion struct {
	Name    string            `json:"name"`
	Sources map[string]string `json:"sources"`
	Before  string            `json:"before"` // of the target, before the run
	Want    string            `json:"want"`   // the sum of those
	Got     string            `json:"got"`    // of the target, now
}

// A Check is one thing that [github.com/shardsnow/snow/merge.Merge.Verify] looks at.
type Check string

// The checks.
const (
	CheckComplete  Check = "complete"  // every phase of the run has ended
	CheckSource    Check = "source"    // the sources are as they were when they were copied
	CheckRows      Check = "rows"      // each row is in the target, as the plan says, and no others are
	CheckMap       Check = "map"       // the map from old to new ids is one to one
	CheckOrder     Check = "order"     // new ids sort as the old ones did
	CheckReference Check = "reference" // each reference is the id of a row
	// each reference that is looked at leads to a row of the same content as in the source
	CheckWitness   Check = "witness"
	CheckAssertion Check = "assertion" // the caller's own sums are right
)

// A Failure is one row, column or number that is wrong.
type Failure struct {
	Check  Check  `json:"check"`
	Source string `json:"source,omitempty"`
	Table  string `json:"table,omitempty"`
	Column string `json:"column,omitempty"`
	Row    string `json:"row,omitempty"` // the primary key in the source
	Target string `json:"target,omitempty"`
	Reason string `json:"reason"`
}

// String returns it as one line.
func (f Failure) String() string {
	var b strings.Builder
	b.WriteString(string(f.Check))
	for _, part := range []struct{ name, value string }{
		{"table", f.Table}, {"source", f.Source}, {"column", f.Column}, {"row", f.Row}, {"in the target", f.Target},
	} {
		if part.value != "" {
			fmt.Fprintf(&b, ", %s %s", part.name, part.value)
		}
	}
	return b.String() + ": " + f.Reason
}

// MaxFailures is how many failures of one check, table and source are listed.
const MaxFailures = 10

// AppendTo appends f to a list, unless the list has [MaxFailures] failures of its check, table and source.
func (f Failure) AppendTo(list []Failure) []Failure {
	same := 0
	for _, other := range list {
		if other.Check == f.Check && other.Table == f.Table && other.Source == f.Source {
			same++
		}
	}
	if same < MaxFailures {
		list = append(list, f)
	}
	return list
}

// Add counts a failure, and lists it as [Failure.AppendTo] does.
func (r *Report) Add(f Failure) {
	r.Failed++
	r.Failures = f.AppendTo(r.Failures)
}

// Err returns a [*VerifyError] if a check failed, else an [*OpenError] if something was left open, else nil.
func (r *Report) Err() error {
	switch {
	case r.Failed > 0:
		return &VerifyError{Failures: r.Failures, Failed: r.Failed}
	case len(r.Open) > 0:
		return &OpenError{r.Open}
	}
	return nil
}

// A VerifyError says that the target differs from what it should be.
type VerifyError struct {
	Failures []Failure // see Report
	Failed   int64
}

func (e *VerifyError) Error() string {
	text := fmt.Sprintf("merge: verify: %d found wrong", e.Failed)
	for i, f := range e.Failures {
		if i == 3 {
			return text + "; and more"
		}
		text += "; " + f.String()
	}
	return text
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Merge of %s, run %s\n", strings.Join(r.Sources, ", "), r.Run)
	fmt.Fprintf(b, "Verified %s in %v.\n\n", r.Started.UTC().Format(time.DateTime+" UTC"), r.Finished.Sub(r.Started).Round(time.Millisecond))

	t := newTable(b, "Table", "Source", "Rows", "Copied", "Re-keyed", "Merged", "Dropped", "Renamed", "Moved", "Hash")
	for _, row := range r.Tables {
		hash := row.Hash
		if row.Hash != row.Found {
			hash += " but found " + row.Found
		}
		moved := ""
		if row.Worker != nil {
			moved = row.Displacement.Round(time.Millisecond).String()
		}
		t.row(row.Table, row.Source, row.Rows, row.Copied, row.Rekeyed, row.Merged, row.Dropped, row.Renamed, moved, hash)
	}
	t.end()
	t = newTable(b, "Table", "Rows before", "Copied", "Later", "Rows now")
	for _, row := range r.Targets {
		t.row(row.Table, row.Before, row.Copied, row.Later, row.Rows)
	}
	t.end()
	t = newTable(b, "Clash", "Source", "Rows", "Rule")
	for _, row := range r.Clashes {
		t.row(row.Table+" "+row.Keys(), row.Source, row.Rows, row.Rule)
	}
	t.end()
	t = newTable(b, "Left out", "Source", "Rows", "Where")
	for _, row := range r.LeftOut {
		t.row(row.Table+" ("+row.Reason+")", row.Source, row.Rows, strings.Join(strings.Fields(row.Where), " "))
	}
	t.end()
	writeOldNames(b, r.OldNames)
	t = newTable(b, "Reference", "To", "Checked", "Orphans", "Witnessed", "Undetermined")
	for _, row := range r.References {
		t.row(strings.TrimSpace(row.Table+"."+row.Column+" "+row.Path+row.Value), row.Refers, row.Checked, row.Orphans, row.Witnessed, row.Undetermined)
	}
	t.end()
	t = newTable(b, "Assertion", "Want", "Got")
	for _, row := range r.Assertions {
		t.row(row.Name, row.Want, row.Got)
	}
	t.end()
	t = newTable(b, "Phase", "Took", "Rows", "Rows/s")
	for _, row := range r.Phases {
		rate := ""
		if took := row.Took().Seconds(); took > 0 {
			rate = strconv.FormatInt(int64(float64(row.Rows)/took), 10)
		}
		t.row(row, row.Took().Round(time.Millisecond), row.Rows, rate)
	}
	t.end()
	t = newTable(b, "After", "State", "Rows changed")
	for _, row := range r.After {
		t.row(row.SQL, cmp.Or(row.State, "not run"), row.Rows)
	}
	t.end()
	for _, o := range r.Open {
		fmt.Fprintln(b, "OPEN:", o)
	}
	if line := asPlain(r.Open); line != "" {
		fmt.Fprintln(b, "If none of the undecided columns has ids or such names, add this to the plan:", line)
	}
	for _, f := range r.Failures {
		fmt.Fprintln(b, "WRONG:", f)
	}
	switch {
	case r.Failed > 0:
		fmt.Fprintf(b, "%d found wrong.\n", r.Failed)
	case len(r.Open) > 0:
		fmt.Fprintf(b, "Nothing was found wrong, but %s left open. Decide or look at it before you use the target.\n", things(int64(len(r.Open))))
	default:
		fmt.Fprintln(b, "Everything is as it should be.")
	}
	return b.Flush()
}

// A textTable aligns the columns of a text. One without rows is left out.
type textTable struct {
	w     io.Writer
	t     *tabwriter.Writer
	lines int
}

func newTable(w io.Writer, header ...any) *textTable {
	t := &textTable{w: w, t: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.row(header...)
	return t
}

func (t *textTable) row(cells ...any) {
	t.lines++
	text := fmt.Sprintf(strings.Repeat("%v\t", len(cells)), cells...)
	fmt.Fprintln(t.t, strings.TrimSuffix(text, "\t"))
}

// end leaves an empty line after the table.
func (t *textTable) end() {
	if t.lines > 1 {
		_ = t.t.Flush()
		fmt.Fprintln(t.w)
	}
}
