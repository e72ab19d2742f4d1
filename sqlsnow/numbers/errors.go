package numbers

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
)

// Errors that callers branch on. They arrive wrapped: use errors.Is.
var (
	// ErrNoTransaction is returned by [GapFree] for a call without a transaction. Outside of one, a number would stay
	// taken if the row that needs it is not stored.
	ErrNoTransaction = errors.New("a gap-free number needs the transaction that stores its row")

	// ErrNoSeries is returned by [Raise] for a series that no process has opened yet.
	ErrNoSeries = errors.New("no process has opened the series yet")

	// ErrClock is returned if the date of the database changes while each of several tries runs.
	ErrClock = errors.New("the clock of the database does not stay in one period")
)

// A MismatchError says that the series was opened with another configuration before. Numbers of the two could be the
// same, so the configuration of a series never changes, except for the padding of its number.
type MismatchError struct {
	Series string
	Field  string // Pattern, Restart, Zone or Kind
	Stored string
	Given  string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("series %s has the %s %s, not %s: a series keeps it for ever, use another name", strconv.Quote(e.Series), e.Field, strconv.Quote(e.Stored), strconv.Quote(e.Given))
}

// An OverflowError says that the next number has more digits than the padding of the pattern. Nothing was stored. To
// go on, open the series with wider padding.
type OverflowError struct {
	Pattern string
	Scope   string // period and partitions
	Highest int64
}

func (e *OverflowError) Error() string {
	in := ""
	if e.Scope != "" && e.Scope != wholeScope {
		in = " in " + e.Scope
	}
	return fmt.Sprintf("pattern %q has room for the numbers 1 to %d%s: make its zeros more", e.Pattern, e.Highest, in)
}

// A ValueError says that the values of a call don't fit the partitions of the pattern.
type ValueError struct{ Partition, Value, Reason string }

func (e *ValueError) Error() string {
	if e.Partition == "" {
		return e.Reason
	}
	return fmt.Sprintf("partition %s, value %q: %s", e.Partition, e.Value, e.Reason)
}

// A TextError says that a text is no number of the pattern.
type TextError struct{ Text, Reason string }

func (e *TextError) Error() string { return fmt.Sprintf("text %q: %s", e.Text, e.Reason) }

// A RegressedError says that a counter of a [Fast] series went back below a number that a process has already taken:
// the database was restored, or a failover lost history. No process takes numbers from it until [Raise].
type RegressedError struct {
	Scope string
	Last  int64 // the last number, as the row has it
	Least int64 // the least that it must be; 0 if another process found the regression
}

func (e *RegressedError) Error() string {
	if e.Least == 0 {
		return fmt.Sprintf("counter %q: another process found that it went back; its last number is %d", e.Scope, e.Last)
	}
	return fmt.Sprintf("counter %q: it went back to %d, from %d or more", e.Scope, e.Last, e.Least)
}

// databaseError returns err as a *sqlsnow.DatabaseError, unless err already says what is wrong.
func databaseError(e *dbserver.Engine, op string, err error) error {
	switch {
	case err == nil, errors.As(err, new(*sqlsnow.DatabaseError)), dberrors.IsVerdict(err),
		errors.As(err, new(*MismatchError)), errors.As(err, new(*OverflowError)), errors.As(err, new(*RegressedError)):
		return err
	}
	return e.Explain(&sqlsnow.DatabaseError{
		Op: op, Code: sqldialect.Code(err), Err: err,
		InTransaction: e.IsInTransaction(err), BadReply: errors.Is(err, dberrors.ErrBadReply),
		Elsewhere: errors.Is(err, dberrors.ErrElsewhere),
	})
}
