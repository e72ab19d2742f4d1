package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// An Unfit error says why a table cannot change with a method.
type Unfit struct {
	Table  string
	Column string // or empty
	Method plan.Method
	Reason string
}

func (e *Unfit) Error() string {
	column := ""
	if e.Column != "" {
		column = fmt.Sprintf("column %q: ", e.Column)
	}
	return fmt.Sprintf("convert: table %q cannot change with method %s: %s%s", e.Table, e.Method, column, e.Reason)
}

// A LockedError says which sessions kept a step from a lock.
type LockedError struct {
	Tables   []string
	Attempts int
	Sessions []string // process ids, and what they last sent
	Cause    error
}

func (e *LockedError) Error() string {
	text := fmt.Sprintf("convert: no lock on %q in %d attempts", e.Tables, e.Attempts)
	if len(e.Sessions) > 0 {
		text += ", transactions are open: " + strings.Join(e.Sessions, "; ")
	}
	return text + ": " + e.Cause.Error()
}

func (e *LockedError) Unwrap() error { return e.Cause }

// A TooWideError says that a value does not fit the narrow column any more, so that there is no way back.
type TooWideError struct {
	Table, Column string
	Rows          string
}

func (e *TooWideError) Error() string {
	return fmt.Sprintf("convert: there is no way back: %s rows of table %q have a value that the old column %q cannot hold", e.Rows, e.Table, e.Column)
}

// A Fault is what Verify found.
type Fault struct {
	Table  string
	Reason string
}

func (e *Fault) Error() string { return fmt.Sprintf("convert: table %q: %s", e.Table, e.Reason) }

// Codes of PostgreSQL that say that a statement would have waited.
const (
	lockTimeout    = "55P03"
	deadlock       = "40P01"
	serialization  = "40001"
	canceled       = "57014" // statement_timeout
	checkViolation = "23514"
)

// isBusy reports whether a transaction was in the way, so that the step may try again.
func isBusy(err error) bool {
	switch sqldialect.Code(err) {
	case lockTimeout, deadlock, serialization, canceled:
		return true
	}
	return false
}

// errAgain says that the schema has changed since the step looked.
var errAgain = errors.New("the schema has changed meanwhile")
