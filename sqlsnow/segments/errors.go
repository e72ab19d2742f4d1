package segments

import (
	"errors"
	"fmt"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
)

// Errors of segments that callers branch on. They arrive wrapped: use errors.Is.
var (
	// ErrClosed is returned by [Segments.Next] and [Segments.Fill] after Close.
	ErrClosed = errors.New("the segments are closed")

	// ErrEmpty is returned by [Segments.Next] and [Segments.Fill] if too few numbers are left and no database gives
	// any. It also wraps the errors of the databases. There are numbers again as soon as a database answers.
	ErrEmpty = errors.New("no numbers are left, and no database gives any")

	// ErrExhausted is returned if the next number would be beyond Config.Last.
	ErrExhausted = errors.New("the last number is taken")

	// ErrMismatch is returned if the rows of the databases do not fit together: two of them would give the same
	// number, they belong to different spaces, one is missing, or they were made for another number of databases.
	ErrMismatch = errors.New("the rows of the segments do not fit together")
)

// A RegressedError says that the row of a database went back below a number that a process has already taken: the
// database was restored, or a failover lost history. No numbers are taken from the row until [Raise] moves it above
// all numbers in use.
type RegressedError struct {
	Database int     // index of the database in the call of Open
	Next     snow.ID // the next number, as the row has it
	Least    snow.ID // the lowest next number that would be safe; 0 if another process found the regression
}

func (e *RegressedError) Error() string {
	if e.Least == 0 {
		return fmt.Sprintf("database %d: another process found that the segment's row went back; its next number is %d", e.Database, e.Next)
	}
	return fmt.Sprintf("database %d: the segment's row went back to %d, from %d or more", e.Database, e.Next, e.Least)
}

// errNoRow and errNotSealed say that a row has to be made, or compared with the others, before it gives numbers.
var (
	errNoRow     = fmt.Errorf("%w: there is no row", ErrMismatch)
	errNotSealed = fmt.Errorf("%w: the row was not compared with the others yet", ErrMismatch)
	errMoved     = errors.New("the row changed meanwhile")
)

var errNotOpened = errors.New("segments: not made by Open")

// databaseError returns err as a *sqlsnow.DatabaseError, unless err already says what is wrong.
func databaseError(e *dbserver.Engine, op string, err error) error {
	if err == nil || errors.As(err, new(*sqlsnow.DatabaseError)) || errors.As(err, new(*RegressedError)) || errors.Is(err, ErrMismatch) || dberrors.IsVerdict(err) {
		return err
	}
	return e.Explain(&sqlsnow.DatabaseError{
		Op: op, Code: sqldialect.Code(err), Err: err,
		InTransaction: e.IsInTransaction(err), BadReply: errors.Is(err, dberrors.ErrBadReply),
		Elsewhere: errors.Is(err, dberrors.ErrElsewhere),
	})
}

// ofDatabase adds the index of a database to its error.
func ofDatabase(i int, err error) error {
	var back *RegressedError
	if err == nil || errors.As(err, &back) {
		return err
	}
	return fmt.Errorf("database %d: %w", i, err)
}
