package sqlsnow

import (
	"errors"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/protocol"
)

// Errors that callers branch on. They arrive wrapped: use errors.Is.
var (
	// ErrNotMigrated is returned if the tables do not exist. [Migrate], or the
	// files of package migrations, make them.
	ErrNotMigrated = dberrors.ErrNotMigrated

	// ErrNoNamespace is returned for a namespace that [Init] was not called for.
	ErrNoNamespace = dberrors.ErrNoNamespace

	// ErrNamespaceMismatch is returned by [Init] if the namespace exists with
	// another layout or other constants.
	ErrNamespaceMismatch = dberrors.ErrNamespaceMismatch

	// ErrNotDurable is returned if the database may forget what it has
	// confirmed, and the namespace's LossWindow does not allow for that.
	ErrNotDurable = dberrors.ErrNotDurable

	// ErrReadOnly is returned by a database that takes no writes, such as a replica.
	ErrReadOnly = dberrors.ErrReadOnly

	// ErrClosed is what [Lease.Err] returns after Close.
	ErrClosed = errors.New("the lease is closed")
)

// A DatabaseError is an error of the database or its driver. The database may
// have executed the statement all the same, except with InTransaction or Elsewhere.
type DatabaseError struct {
	Op   string // the operation: "acquire", "renew" and so on
	Code string // an error number, SQLSTATE or result code; empty if the driver's error has none
	Err  error  // the driver's error, or what is wrong with the reply

	// InTransaction says that somebody left every connection that the pool
	// offered in a transaction, so that a write could be rolled back later.
	// Nothing was written.
	InTransaction bool

	// BadReply says that the database's reply can't be true. On MySQL and
	// MariaDB, a trigger on one of the tables causes this, because it changes the
	// number that a statement returns.
	BadReply bool

	// Elsewhere says that every connection that the pool offered leads to other
	// tables than its DSN does: somebody changed its schema with USE, SET
	// search_path or SET ROLE, made a temporary table of the same name, or it
	// reaches another lease database. Nothing was written. Give sqlsnow a *sql.DB of
	// its own, with the schema in its DSN. A lease goes on, and tries again.
	Elsewhere bool
}

func (e *DatabaseError) Error() string {
	if e.Code == "" {
		return e.Op + ": " + e.Err.Error()
	}
	return e.Op + ": code " + e.Code + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *DatabaseError) Unwrap() error { return e.Err }

// A ClockError says that the database's clock can't be trusted: it is further
// than LeaseConfig.MaxSkew from the clocks of this process. If Running is set, the
// clock was wrong earlier: ids have reached a time that is beyond every window, or
// further ahead of the clock than snow.Config.MaxAhead. None are made until a
// window, or the clock, reaches that time.
type ClockError struct {
	Database time.Time // the database's clock
	Local    time.Time // this process's wall clock
	// the database's time when last trusted, or this process's when the two agreed last, plus monotonic time since;
	// zero if there is none
	Predicted time.Time
	MaxSkew   time.Duration // how far apart they may be
	Running   time.Time     // the time that the next id has, if ids wait for the clock; else zero
	Peers     int           // how many other processes wrote at about the time Database, in a store that has no clock; else 0
}

func (e *ClockError) Error() string { return (*protocol.ClockError)(e).Error() }

// A HeldError says who holds a worker number that was asked for.
type HeldError struct {
	Worker uint64
	Holder string    // see LeaseConfig.Holder
	Until  time.Time // when its window ends, if it is not renewed; in the database's time. Zero for a reservation
}

func (e *HeldError) Error() string { return (*protocol.HeldError)(e).Error() }

// A NoWorkerError says that no worker number of a namespace is free.
type NoWorkerError struct {
	Live    int // numbers whose holder has renewed them in time
	Cooling int // numbers whose holder is gone or released them, and whose window is not over yet

	// EarliestFree is when the first of them becomes free, if it is not renewed;
	// in the database's time. It is zero if waiting does not help: every number is
	// reserved, or [Reserve] needs a number that was never used.
	EarliestFree time.Time
}

func (e *NoWorkerError) Error() string { return (*protocol.NoWorkerError)(e).Error() }

// A LostError says why a lease had to give up its worker number.
type LostError struct {
	Worker uint64
	Reason Loss
	Holder string // who has the number now, if that is known
}

func (e *LostError) Error() string {
	return (&protocol.LostError{Worker: e.Worker, Reason: protocol.Loss(e.Reason), Holder: e.Holder}).Error()
}

// Loss is the way that a worker number was lost.
type Loss int

// The ways to lose a worker number.
const (
	Displaced = Loss(protocol.Displaced) // another process has taken it after the window had ended
	// the database forgot a window that it had confirmed: it was restored, or a failover lost history
	Regressed = Loss(protocol.Regressed)
	Lapsed    = Loss(protocol.Lapsed)   // the window ended before it was renewed (LossWindow > 0), or was near its end after Fence
	Vanished  = Loss(protocol.Vanished) // the row is gone
)

// String returns "displaced", "regressed", "lapsed" or "vanished".
func (l Loss) String() string { return protocol.Loss(l).String() }

// A notRenewedError says why a window was not renewed before its end. The
// snow.ErrLeaseExpired of generators wraps it.
type notRenewedError struct {
	since time.Time // the last renewal that succeeded; in the database's time
	err   error     // of the last attempt since then; nil if there was none
}

func (e *notRenewedError) Error() string {
	text := "not renewed since " + e.since.UTC().Format(time.RFC3339)
	if e.err != nil {
		text += ": " + e.err.Error()
	}
	return text
}

func (e *notRenewedError) Unwrap() error { return e.err }
