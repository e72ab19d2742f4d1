package sqlsnow

import (
	"errors"
	"fmt"

	"github.com/shardsnow/snow"
)

// Errors of segments that callers branch on. They arrive wrapped: use errors.Is.
var (
	// ErrSegmentsClosed is returned by [Segments.Next] and [Segments.Fill] after Close.
	ErrSegmentsClosed = errors.New("the segments are closed")

	// ErrSegmentsEmpty is returned by [Segments.Next] and [Segments.Fill] where too few numbers are left and no database
	// gives any. The databases' errors are wrapped by its side. Numbers flow again when one of them answers.
	ErrSegmentsEmpty = errors.New("no numbers are left, and no database gives any")

	// ErrSegmentsExhausted is returned where the next number would be beyond SegmentConfig.Last.
	ErrSegmentsExhausted = errors.New("the last number is taken")

	// ErrSegmentsMismatch is returned where the rows of the databases do not fit together: their residues or moduli would let
	// two of them give the same number, they are of different spaces, one is missing, or as many are not there as databases.
	ErrSegmentsMismatch = errors.New("the rows of the segments do not fit together")
)

// A RegressedError says that the row of a database went back below a number that was given to somebody: it was restored, or
// a failover lost history. No numbers are taken from it until [RaiseSegments] moves it beyond all that were in use.
type RegressedError struct {
	Database int     // its index in what OpenSegments was called with
	Next     snow.ID // what the row says is the next number
	Least    snow.ID // the lowest that it could be; 0 where another process has found out
}

func (e *RegressedError) Error() string {
	if e.Least == 0 {
		return fmt.Sprintf("database %d: the segment's row was found to have gone back, and says %d", e.Database, e.Next)
	}
	return fmt.Sprintf("database %d: the segment's row went back to %d, from %d or more", e.Database, e.Next, e.Least)
}

// errNoRow and errNotSealed are of rows that are yet to be made.
var (
	errNoRow     = fmt.Errorf("%w: there is no row", ErrSegmentsMismatch)
	errNotSealed = fmt.Errorf("%w: the row was not compared with the others yet", ErrSegmentsMismatch)
	errMoved     = errors.New("the row changed meanwhile")
)

var errNotOpened = errors.New("sqlsnow: the segments were not made by OpenSegments")
