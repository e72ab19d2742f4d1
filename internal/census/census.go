// Package census says what the rows of a namespace mean at a time of the database, for people.
package census

import (
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/timetext"
	"github.com/shardsnow/snow/sqlsnow"
)

// States returns the states of a number for people, in the order of the counts.
func States() []string { return []string{"held", "late", "claimed", "cooling", "reserved", "free"} }

// StateOf returns what a number is at a time of the database.
func StateOf(w sqlsnow.WorkerInfo, now time.Time) string {
	switch {
	case w.State == sqlsnow.Reserved:
		return "reserved"
	case !w.Leasable.After(now):
		return "free"
	case w.State == sqlsnow.Claimed:
		return "claimed"
	case w.State == sqlsnow.Free:
		return "cooling"
	case w.RenewBy.Before(now) || !w.Ceiling.After(now):
		return "late"
	}
	return "held"
}

// FencedAt returns when a number was fenced, as far as its row tells: to the tick, if its window had not been
// longer than a new one, and else too late. It is the zero time if the number was not fenced since it was leased last.
func FencedAt(n sqlsnow.Namespace, w sqlsnow.WorkerInfo) time.Time {
	at := w.Floor.Add(-n.FencedFor())
	// A claim can wait for its first window for as long as the loss window and half a minute, and a window begins
	// when it ends.
	if w.State == sqlsnow.Reserved || !w.Floor.After(n.Layout.Epoch()) || at.Before(w.Claimed.Add(n.LossWindow)) || at.Before(n.Layout.Epoch()) ||
		w.State == sqlsnow.Free && !w.Floor.Equal(w.Ceiling) {
		return time.Time{}
	}
	return at
}

// soonFloor is how far the first window of a lease may begin after the number was taken, if it was free. A window
// that begins later was fenced, or followed a probation.
const soonFloor = 2 * time.Second

// HolderAt returns who had a worker number in the tick that begins at t, as far as the
// present rows tell: a row has its last holder only.
func HolderAt(workers []sqlsnow.WorkerInfo, l snow.Layout, number uint64, t time.Time) string {
	for _, w := range workers {
		if w.Worker != number {
			continue
		}
		switch {
		case w.State == sqlsnow.Reserved:
			return w.Holder + ", for whom the number is reserved"
		case w.Claimed.IsZero() || w.State == sqlsnow.Claimed:
			return "not known"
		case t.Before(beginning(w, l)):
			return "not known: the number was leased again at " + timetext.Stamp(w.Claimed)
		case !t.Before(w.Ceiling):
			return "nobody: the last window ended at " + timetext.Stamp(w.Ceiling)
		}
		return w.Holder
	}
	return "nobody: the namespace has no such number"
}

// beginning returns the start of the first tick of a lease.
func beginning(w sqlsnow.WorkerInfo, l snow.Layout) time.Time {
	begin := l.Epoch().Add(w.Claimed.Sub(l.Epoch()) / l.Tick() * l.Tick())
	if w.Floor.After(begin) && !w.Floor.After(w.Claimed.Add(soonFloor+l.Tick())) {
		return w.Floor // the ticks before belong to the former holder
	}
	return begin
}
