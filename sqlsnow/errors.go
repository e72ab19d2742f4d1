package sqlsnow

import (
	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/lease"
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
	ErrClosed = lease.ErrClosed
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

// A ClockError says that the database's clock can't be trusted.
type ClockError = lease.ClockError

// A HeldError says who holds a worker number that was asked for.
type HeldError = lease.HeldError

// A NoWorkerError says that no worker number of a namespace is free.
type NoWorkerError = lease.NoWorkerError

// A LostError says why a lease had to give up its worker number.
type LostError = lease.LostError

// Loss is the way that a worker number was lost.
type Loss = lease.Loss

// The ways to lose a worker number.
const (
	Displaced = lease.Displaced // another process has taken it after the window had ended
	Regressed = lease.Regressed // the database forgot a window that it had confirmed: it was restored, or a failover lost history
	Lapsed    = lease.Lapsed    // the window ended before it was renewed (LossWindow > 0), or was near its end after Fence
	Vanished  = lease.Vanished  // the row is gone
)
