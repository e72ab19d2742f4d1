package report

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrUnfinished is returned if a run of another plan has copied rows into the target and has not ended: finish it
// with its own plan, or begin with an empty target. The error that wraps it has the run's id and the remedy: use
// errors.Is.
var ErrUnfinished = errors.New("another run is unfinished")

// ErrMerged is returned if a run of another plan has merged a table of a source already. It is wrapped: use errors.Is.
var ErrMerged = errors.New("the source's table was merged before")

// A RunningError says that another process is merging into the target, or was until a short while ago.
type RunningError struct {
	Holder string    // see Config.Holder
	Until  time.Time // when its lease ends, if it is not renewed; by the target's clock
}

func (e *RunningError) Error() string {
	return fmt.Sprintf("%q is merging into the target, at least until %s", e.Holder, e.Until.UTC().Format(time.RFC3339Nano))
}

// An OvertakenError says that this process did not renew its lease of the merge in time, so that another one could
// take it. What this process had not committed is rolled back.
type OvertakenError struct {
	Holder string // who has the lease now, if that is known
}

func (e *OvertakenError) Error() string {
	if e.Holder == "" {
		return "the lease of the merge is lost"
	}
	return fmt.Sprintf("the lease of the merge is lost: %q has it now", e.Holder)
}

// An OrphanError says that a row refers to one that does not exist, or that is left out.
type OrphanError struct {
	Source string
	Table  string
	Column string
	Row    string // what tells it from others in the source: its key; without one, a hash of its values and a number
	Value  string // the id, or what is in its place

	LeftOut bool // the source has the row, and the plan leaves it out

	// Rows is how many rows have such a value in the column, if a forecast has found several. Row is the first of them.
	Rows int64
}

func (e *OrphanError) Error() string {
	why := "does not exist"
	if e.LeftOut {
		why = "is left out: gone of the column says what becomes of the reference"
	}
	more := ""
	if e.Rows > 1 {
		more = fmt.Sprintf("; so it is in %d rows in all", e.Rows)
	}
	return fmt.Sprintf("column %q of row %s of source %q refers to %q, which %s%s", e.Table+"."+e.Column, e.Row, e.Source, e.Value, why, more)
}

// A ChangedError says that a source is not as it was when the run began.
type ChangedError struct {
	Source string
	Table  string
	Row    string // the primary key of the row that has changed, or of one near it; may be empty
	Reason string
}

func (e *ChangedError) Error() string {
	row := ""
	if e.Row != "" {
		row = " at row " + e.Row
	}
	return fmt.Sprintf("source %q has changed in table %q%s: %s", e.Source, e.Table, row, e.Reason)
}

// A RowError says which row could not be copied.
type RowError struct {
	Source string
	Table  string
	Row    string // what tells it from others in the source, as in [OrphanError]; the first one's if there are several
	Err    error
}

func (e *RowError) Error() string {
	return fmt.Sprintf("row %s of table %q of source %q: %v", e.Row, e.Table, e.Source, e.Err)
}

// Unwrap returns the cause.
func (e *RowError) Unwrap() error { return e.Err }

// A ClashError says that two rows have equal values in a unique key, and that the key's rule does not allow it.
type ClashError struct {
	Table  string
	Unique []string // the columns
	Values []string // of both rows
	Source string   // where the later row is
	Row    string   // its primary key there
	With   string   // the source of the earlier row; empty means that the target had it before
	Column string   // RuleMatch: another column where the rows differ
	Reason string   // what is wrong, where it is neither RuleFail nor a difference
}

func (e *ClashError) Error() string {
	with := "the target"
	if e.With != "" {
		with = "source " + strconv.Quote(e.With)
	}
	text := fmt.Sprintf("table %q: row %s of source %q has the %s %s, which a row of %s has too",
		e.Table, e.Row, e.Source, strings.Join(e.Unique, ", "), quoteTexts(e.Values), with)
	switch {
	case e.Column != "":
		text += fmt.Sprintf(", but they differ in %q", e.Column)
	case e.Reason != "":
		text += ": " + e.Reason
	}
	return text
}

func quoteTexts(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.Quote(text)
	}
	return strings.Join(quoted, ", ")
}

// A StatementError says which statement of [github.com/shardsnow/snow/merge/plan.Plan.After] could not be run.
type StatementError struct {
	Number    int // from 1 on
	Statement string
	Err       error // of the database, or ErrMayHaveRun
}

func (e *StatementError) Error() string {
	return fmt.Sprintf("after %d, %q: %v", e.Number, e.Statement, e.Err)
}

// Unwrap returns the cause.
func (e *StatementError) Unwrap() error { return e.Err }

// ErrMayHaveRun is in a [StatementError] if nobody knows whether a statement has run, because the process or the
// connection ended and the database does not undo such statements.
var ErrMayHaveRun = errors.New("it may have run, or a part of it: look, then set its state to done in snow_merge_after, or delete its row there")

// ErrNotFound is returned by [github.com/shardsnow/snow/merge.Lookup] for a row that is not in the target: the
// source had no row with the id, or the row was left out (then it is a [*LeftOutError]), or the source or the table
// was not merged. It is wrapped: use errors.Is.
var ErrNotFound = errors.New("no such row")

// A LeftOutError is returned by [github.com/shardsnow/snow/merge.Lookup] for a row that the source had and that was
// left out. It wraps [ErrNotFound].
type LeftOutError struct {
	// a condition of the plan, or the reference to a row that was left out or did not exist; as in the list of such
	// rows
	Reason string
}

func (e *LeftOutError) Error() string { return "the row was left out: " + e.Reason }

// Unwrap returns ErrNotFound.
func (e *LeftOutError) Unwrap() error { return ErrNotFound }

// An AmbiguousSourceError is returned by [github.com/shardsnow/snow/merge.Lookup] for a name that several sources
// have: one of a merge into the target, and one of the merge that made a source of it, say.
type AmbiguousSourceError struct {
	Source string
	Ways   []string // how to say which one, in order: /m12/eu is source eu of the merge that made source m12
}

func (e *AmbiguousSourceError) Error() string {
	return fmt.Sprintf("source %q may be any of %d: say %s", e.Source, len(e.Ways), strings.Join(e.Ways, " or "))
}

// ErrSameDatabase is returned if a source is the target or another source. It is wrapped: use errors.Is.
var ErrSameDatabase = errors.New("two of the databases are one")

// ErrMultiplexed says that the statements of one session of MySQL went to several sessions of the server. A pooler
// in front of it does that, and the session's settings are lost, such as its time zone. Connect to the server
// itself.
var ErrMultiplexed = errors.New("a pooler gives statements of one session to several: connect to the server itself")

// A SourceError names the source of an error.
type SourceError struct {
	Source string
	Err    error
}

func (e *SourceError) Error() string {
	return "source " + strconv.Quote(e.Source) + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// A FitError says that a new id does not fit: inside of a value, among the numbers that are free, or in a column. A
// forecast takes for a new id inside of a value the highest one.
type FitError struct {
	Place       string // inside of a value, as the plan names it
	ID          string // the highest one that is needed
	Least, Most string // the ids that fit; no Least means that only Most is a bound

	// Of a column that can't hold the new ids of a table, or the numbers that stay free for merges to come. Type is its
	// type in the target.
	Table, Column, Type string
}

func (e *FitError) Error() string {
	switch {
	case e.Place != "":
		return fmt.Sprintf("the id %s does not fit at place %q, which takes ids up to %s", e.ID, e.Place, e.Most)
	case e.Table != "":
		return fmt.Sprintf("new ids of column %q, %s, and what is left above them would go up to %s, and it takes numbers up to %s",
			e.Table+"."+e.Column, e.Type, e.ID, e.Most)
	}
	return fmt.Sprintf("its new id would be %s, and the numbers from %s to %s are free", e.ID, e.Least, e.Most)
}
