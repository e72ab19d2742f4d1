package protocol

import (
	"fmt"
	"strconv"
	"time"
)

// A ClockError says that the clock of the database can't be trusted, or, with a
// Running, that ids are ahead of it. With Peers, there is no such clock, and that
// many other processes wrote rows at about the time Database.
type ClockError struct {
	Database  time.Time
	Local     time.Time
	Predicted time.Time
	MaxSkew   time.Duration
	Running   time.Time
	Peers     int
}

func (e *ClockError) Error() string {
	const format = "2006-01-02T15:04:05.000Z"
	if !e.Running.IsZero() {
		return fmt.Sprintf("ids are ahead of the database's clock, which went back: the next id has the time %s, the database's clock says %s, and this process's clock %s",
			e.Running.UTC().Format(format), e.Database.UTC().Format(format), e.Local.UTC().Format(format))
	}
	if e.Peers > 0 {
		return fmt.Sprintf("this process's clock says %s, and rows of other processes (%d) were written at about %s: more than %v apart",
			e.Local.UTC().Format(format), e.Peers, e.Database.UTC().Format(format), e.MaxSkew)
	}
	predicted := "nothing"
	if !e.Predicted.IsZero() {
		predicted = e.Predicted.UTC().Format(format)
	}
	return fmt.Sprintf("the database's clock says %s, this process's clock %s, and %s was expected: more than %v apart",
		e.Database.UTC().Format(format), e.Local.UTC().Format(format), predicted, e.MaxSkew)
}

// A HeldError says who holds a pinned worker number.
type HeldError struct {
	Worker uint64
	Holder string
	Until  time.Time
}

func (e *HeldError) Error() string {
	if e.Until.IsZero() {
		return fmt.Sprintf("worker %d is reserved for %q", e.Worker, e.Holder)
	}
	return fmt.Sprintf("worker %d is held by %q until %s", e.Worker, e.Holder, e.Until.UTC().Format(time.RFC3339Nano))
}

// A NoWorkerError says that no worker number is free.
type NoWorkerError struct {
	Live         int
	Cooling      int
	EarliestFree time.Time
}

func (e *NoWorkerError) Error() string {
	switch others := e.Live + e.Cooling; {
	case e.EarliestFree.IsZero() && others == 0:
		return "every worker number is reserved"
	case e.EarliestFree.IsZero():
		return fmt.Sprintf("no worker number is unused: %d were leased or fenced before, and the others are reserved", others)
	}
	return fmt.Sprintf("no worker number is free: %d are live and %d cooling, the first may be free at %s",
		e.Live, e.Cooling, e.EarliestFree.UTC().Format(time.RFC3339Nano))
}

// A LostError says why a lease had to give up its worker number.
type LostError struct {
	Worker uint64
	Reason Loss
	Holder string
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

// Loss is the way that a worker number was lost.
type Loss int

// The ways to lose a worker number.
const (
	Displaced Loss = iota + 1 // another process has taken it after the window had ended
	Regressed                 // the database forgot a window that it had confirmed
	Lapsed                    // the window ended before it was renewed
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
