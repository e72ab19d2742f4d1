package sqlsnow

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Errors that callers branch on. They arrive wrapped: use errors.Is.
var (
	// ErrNotMigrated is returned where the tables do not exist. [Migrate], or
	// the files of package migrations, make them.
	ErrNotMigrated = errors.New("the tables of sqlsnow do not exist: call sqlsnow.Migrate")

	// ErrNoNamespace is returned for a namespace that [Init] was not called for.
	ErrNoNamespace = errors.New("the namespace does not exist: call sqlsnow.Init")

	// ErrNamespaceMismatch is returned by [Init] where the namespace exists with
	// another layout or other constants, and by a [Lease] whose namespace was
	// replaced by another one.
	ErrNamespaceMismatch = errors.New("the namespace differs")

	// ErrNotDurable is returned where the database may forget what it has
	// confirmed, and the namespace's LossWindow does not allow for that.
	ErrNotDurable = errors.New("the database does not sync what it confirms")

	// ErrReadOnly is returned by a database that takes no writes, such as a replica.
	ErrReadOnly = errors.New("the database is read-only")

	// ErrBadReply is returned where a reply of the database can't be true: on MySQL
	// and MariaDB, a trigger on one of the tables takes away the number that a
	// statement returns.
	ErrBadReply = errors.New("the database's reply can't be true")

	// ErrInTransaction is returned where every connection that the pool gives was left in a transaction by somebody, so that
	// what is written there may be rolled back. Nothing was written.
	ErrInTransaction = errors.New("the connection was left in a transaction")

	// ErrClosed is what [Lease.Err] returns after Close.
	ErrClosed = errors.New("the lease is closed")
)

// A ClockError says that the database's clock can't be trusted: it is further
// than LeaseConfig.MaxSkew from the clocks of this process. Or, where it has a
// Running, that it could not be trusted before: ids carry a time that no window
// reaches, and there are none until one does.
type ClockError struct {
	Database  time.Time     // what the database says
	Local     time.Time     // this process's wall clock
	Predicted time.Time     // the database's time when last trusted, plus monotonic time since; zero where there is none
	MaxSkew   time.Duration // how far apart they may be
	Running   time.Time     // the time that the next id has, where that is beyond the window; else zero
}

func (e *ClockError) Error() string {
	const format = "2006-01-02T15:04:05.000Z"
	if !e.Running.IsZero() {
		return fmt.Sprintf("ids are ahead of the database's clock, which went back: the next one is of %s, the database's clock says %s, and this process's %s",
			e.Running.UTC().Format(format), e.Database.UTC().Format(format), e.Local.UTC().Format(format))
	}
	predicted := "nothing"
	if !e.Predicted.IsZero() {
		predicted = e.Predicted.UTC().Format(format)
	}
	return fmt.Sprintf("the database's clock says %s, this process's %s, and %s was expected: over %v apart",
		e.Database.UTC().Format(format), e.Local.UTC().Format(format), predicted, e.MaxSkew)
}

// A HeldError says who holds a pinned worker number.
type HeldError struct {
	Worker uint64
	Holder string    // see LeaseConfig.Holder
	Until  time.Time // when its window ends, if it is not renewed; in the database's time
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("worker %d is held by %q until %s", e.Worker, e.Holder, e.Until.UTC().Format(time.RFC3339Nano))
}

// A NoWorkerError says that every worker number of a namespace is taken.
type NoWorkerError struct {
	Live         int       // numbers whose holder has renewed them in time
	Cooling      int       // numbers whose holder is gone or released them, and whose window is not over yet
	EarliestFree time.Time // when the first of them becomes free, if it is not renewed; in the database's time
}

func (e *NoWorkerError) Error() string {
	return fmt.Sprintf("no worker number is free: %d are live and %d cooling, the first may be free at %s",
		e.Live, e.Cooling, e.EarliestFree.UTC().Format(time.RFC3339Nano))
}

// A LostError says why a lease had to give up its worker number.
type LostError struct {
	Worker uint64
	Reason Loss
	Holder string // who has the number now, where that is known
}

func (e *LostError) Error() string {
	switch e.Reason {
	case Displaced:
		return fmt.Sprintf("worker %d is lost: %q has it now", e.Worker, e.Holder)
	case Regressed:
		return fmt.Sprintf("worker %d is lost: the database forgot a window that it had confirmed", e.Worker)
	case Lapsed:
		return fmt.Sprintf("worker %d is lost: its window ended before it was renewed", e.Worker)
	}
	return fmt.Sprintf("worker %d is lost: its row is gone", e.Worker)
}

// A NotRenewedError says why a window is over that was not renewed. The
// [snow.ErrLeaseExpired] of generators wraps it.
type NotRenewedError struct {
	Since time.Time // the last renewal that succeeded; in the database's time
	Err   error     // of the last attempt since then; nil if there was none
}

func (e *NotRenewedError) Error() string {
	text := "not renewed since " + e.Since.UTC().Format(time.RFC3339)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the error of the last attempt.
func (e *NotRenewedError) Unwrap() error { return e.Err }

// Loss is the way in which a worker number was lost.
type Loss int

// The ways to lose a worker number.
const (
	Displaced Loss = iota + 1 // another process has taken it after the window had ended
	Regressed                 // the database forgot a window that it had confirmed: it was restored, or a failover lost history
	Lapsed                    // the window ended before it was renewed (LossWindow > 0)
	Vanished                  // the row is gone
)

// String returns "displaced", "regressed", "lapsed" or "vanished".
func (l Loss) String() string {
	names := [...]string{Displaced: "displaced", Regressed: "regressed", Lapsed: "lapsed", Vanished: "vanished"}
	if l <= 0 || int(l) >= len(names) {
		return "Loss(" + strconv.Itoa(int(l)) + ")"
	}
	return names[l]
}

// A DatabaseError is an error of the database or its driver. What it was asked
// to do may be done all the same.
type DatabaseError struct {
	Op   string // what was asked: "acquire", "renew" and so on
	Code string // an error number, SQLSTATE or result code; empty where the driver's error has none
	Err  error  // the driver's
}

func (e *DatabaseError) Error() string {
	if e.Code == "" {
		return e.Op + ": " + e.Err.Error()
	}
	return e.Op + ": code " + e.Code + ": " + e.Err.Error()
}

// Unwrap returns the driver's error.
func (e *DatabaseError) Unwrap() error { return e.Err }
