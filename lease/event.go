package lease

import (
	"log/slog"
	"strconv"
	"time"
)

// A Event is something that happened to a lease: see Config.OnEvent.
type Event struct {
	Kind   EventKind
	Worker uint64 // the number that is held; for Lost, the number that was held
	From   uint64 // for Swapped, the former number
	// ids end here if no renewal succeeds any more; in the database's time, zero before the first window
	Ceiling time.Time
	Took    time.Duration // how long the database took to answer; zero for Ended
	Err     error         // for Failed, Lost and Ended
}

// EventKind is what happened to a lease.
type EventKind int

// The kinds of events.
const (
	Acquired EventKind = iota + 1 // the first window is durable
	Renewed                       // a renewal succeeded
	Failed                        // a statement or an attempt failed, and another one follows
	Lost                          // the number is lost, for the reason of a [*LostError]
	Swapped                       // another number is held, and ids go on
	Ended                         // no id can be made any more: see [Lease.Err]
)

// String returns "acquired", "renewed", "failed", "lost", "swapped" or "ended".
func (k EventKind) String() string {
	names := [...]string{Acquired: "acquired", Renewed: "renewed", Failed: "failed", Lost: "lost", Swapped: "swapped", Ended: "ended"}
	if k <= 0 || int(k) >= len(names) {
		return "EventKind(" + strconv.Itoa(int(k)) + ")"
	}
	return names[k]
}

// An outage is a period of failed attempts. Times are monotonic.
type outage struct {
	since    time.Duration // the first failure
	logged   time.Duration // the minute of the outage in which a failure was logged last
	failures int
}

// fail counts a failure, and reports whether to log it: the first one, and one a minute.
func (o *outage) fail(now time.Duration) bool {
	if o.failures++; o.failures == 1 {
		o.since = now
	} else if now < o.logged+time.Minute {
		return false
	}
	o.logged = now - (now-o.since)%time.Minute
	return true
}

// A note is an event, if it has a kind, and its log line, if it has a message.
type note struct {
	event   Event
	level   slog.Level
	message string
	args    []any
}
