package lease

import (
	"errors"
	"time"

	"github.com/shardsnow/snow/internal/protocol"
)

// ErrClosed is what [Lease.Err] returns after Close. It arrives wrapped: use errors.Is.
var ErrClosed = errors.New("the lease is closed")

// A ClockError says that the database's clock can't be trusted: it is further
// than Config.MaxSkew from the clocks of this process. If Running is set, the
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
	Holder string    // see Config.Holder
	Until  time.Time // when its window ends, if it is not renewed; in the database's time. Zero for a reservation
}

func (e *HeldError) Error() string { return (*protocol.HeldError)(e).Error() }

// A NoWorkerError says that no worker number of a namespace is free.
type NoWorkerError struct {
	Live    int // numbers whose holder has renewed them in time
	Cooling int // numbers whose holder is gone or released them, and whose window is not over yet

	// EarliestFree is when the first of them becomes free, if it is not renewed;
	// in the database's time. It is zero if waiting does not help: every number is
	// reserved, or Reserve needs a number that was never used.
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

// Since returns when the last renewal succeeded.
func (e *notRenewedError) Since() time.Time { return e.since }

func (e *notRenewedError) Unwrap() error { return e.err }

func exportedLoss(e *protocol.LostError) *LostError {
	return &LostError{Worker: e.Worker, Reason: Loss(e.Reason), Holder: e.Holder}
}
