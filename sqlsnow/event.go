package sqlsnow

import (
	"context"
	"strconv"
	"time"
)

// A LeaseEvent is something that happened to a lease. LeaseConfig.OnEvent is
// told of it.
type LeaseEvent struct {
	Kind    EventKind
	Worker  uint64        // the number that is held; of Lost, that was
	From    uint64        // of Swapped, the number before
	Ceiling time.Time     // ids end here if no renewal succeeds any more; in the database's time, zero before the first window
	Took    time.Duration // how long the database took to answer; zero for Ended
	Err     error         // of Failed, Lost and Ended
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

// note keeps an event for tell. The caller holds mu.
func (l *Lease) note(e LeaseEvent) {
	if l.config.OnEvent == nil {
		return
	}
	if l.grant != nil {
		e.Ceiling = l.registry.terms.timeOf(l.ceiling)
	}
	if e.Kind != Ended {
		e.Took = l.took
	}
	l.events = append(l.events, e)
}

// tell passes the events on, without mu, so that the hook may call Stats.
func (l *Lease) tell(ctx context.Context) {
	if l.config.OnEvent == nil {
		return
	}
	l.telling.Lock()
	defer l.telling.Unlock()
	l.mu.Lock()
	events := l.events
	l.events = nil
	l.mu.Unlock()
	for _, e := range events {
		l.config.OnEvent(ctx, e)
	}
}
