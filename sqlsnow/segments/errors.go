package segments

import (
	"errors"
	"fmt"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/internal/dberrors"
	"github.com/shardsnow/snow/sqlsnow/internal/dbserver"
)

// Errors of segments that callers branch on. They arrive wrapped: use errors.Is.
var (
	// ErrClosed is returned by [Segments.Next] and [Segments.Fill] after Close.
	ErrClosed = errors.New("the segments are closed")

	// ErrEmpty is returned by [Segments.Next] and [Segments.Fill] if too few numbers are left and no database gives
	// any. The error wraps those of the databases as well. There are numbers again as soon as one of them answers.
	ErrEmpty = errors.New("no numbers are left, and no database gives any")

	// ErrExhausted is returned if the next number would be beyond Config.Last.
	ErrExhausted = errors.New("the last number is taken")

	// ErrMismatch is returned if the rows of the databases do not fit together: two of them would give the same number, they
	// belong to different spaces, one is missing, or they were made for another number of databases.
	ErrMismatch = errors.New("the rows of the segments do not fit together")
)

// A RegressedError says that the row of a database went back below a number that some process was given: the database was
// restored, or a failover lost history. No numbers are taken from it until [Raise] moves it beyond all that were in use.
type RegressedError struct {
	Database int     // its index in the databases that Open was called with
	Next     snow.ID // what the row says is the next number
	Least    snow.ID // the lowest that it could be; 0 if another process has noticed it
}

func (e *RegressedError) Error() string {
	if e.Least == 0 {
		return fmt.Sprintf("database %d: the segment's row was found to have gone back, and says %d", e.Database, e.Next)
	}
	return fmt.Sprintf("database %d: the segment's row went back to %d, from %d or more", e.Database, e.Next, e.Least)
}

// errNoRow and errNotSealed are of rows that are yet to be made.
var (
	errNoRow     = fmt.Errorf("%w: there is no row", ErrMismatch)
	errNotSealed = fmt.Errorf("%w: the row was not compared with the others yet", ErrMismatch)
	errMoved     = errors.New("the row changed meanwhile")
)

var errNotOpened = errors.New("segments: not made by Open")

// databaseError returns a *sqlsnow.DatabaseError of err, unless err says already what is wrong.
func databaseError(e *dbserver.Engine, op string, err error) error {
	if err == nil || errors.As(err, new(*sqlsnow.DatabaseError)) || errors.As(err, new(*RegressedError)) || errors.Is(err, ErrMismatch) || dberrors.IsVerdict(err) {
		return err
	}
	return e.Explain(&sqlsnow.DatabaseError{
		Op: op, Code: sqldialect.Code(err), Err: err,
		InTransaction: e.IsInTransaction(err), BadReply: errors.Is(err, dberrors.ErrBadReply),
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
