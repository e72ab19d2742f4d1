package page

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/shardsnow/snow/internal/timetext"
)

// How many rows the lists have at most.
const (
	mostRows = 500 // of a database
	mostLate = 20  // of the list of late leases
)

// A rowView is a number that is not free.
type rowView struct {
	Anchor, Namespace, NamespaceHref, Database string
	Worker, Last                               uint64 // Last is more for reserved numbers beside each other
	State, Holder, Leased                      string
	Since, Renewed, Ends, At                   timeView
	Percent                                    int  // of the window, or of the wait, that is left
	HasBar                                     bool // a window or a wait is running
	end                                        time.Time
}

// A timeView is a time of a database.
type timeView struct{ Short, Long string }

// timeOf returns a time with its distance from now.
func timeOf(t, now time.Time) timeView {
	if t.IsZero() {
		return timeView{"never", "never"}
	}
	return timeView{distance(t, now), timetext.Stamp(t.Truncate(time.Second)) + " UTC"}
}

func rowOf(ns namespace, n number, now time.Time) rowView {
	r := rowView{
		Namespace: ns.Name, Worker: n.Worker, Last: n.Worker, State: n.state, Holder: n.Holder, Leased: times(n.Fence), end: n.Ceiling,
		Since: timeOf(n.Claimed, now), Renewed: timeOf(n.Renewed, now), Ends: timeOf(n.Ceiling, now), At: timeOf(n.Leasable, now),
	}
	switch n.state {
	case "held", "late":
		r.Percent, r.HasBar = percent(n.Ceiling.Sub(now), ns), true
	case "cooling", "claimed":
		r.Percent, r.HasBar = percent(n.Leasable.Sub(now), ns), true
	case "reserved":
		r.Since, r.Renewed, r.Ends, r.At = timeView{}, timeView{}, timeView{}, timeView{}
	}
	return r
}

// takes reports whether a row can be of one more number as well.
func (r *rowView) takes(n number) bool {
	return r.State == "reserved" && n.state == "reserved" && r.Last+1 == n.Worker && r.Holder == n.Holder
}

// percent returns how much of a window is left.
func percent(left time.Duration, ns namespace) int {
	left = max(0, left)
	whole := ns.Window
	if left > whole {
		whole = max(left, ns.PinnedWindow)
	}
	return int(100 * left.Seconds() / whole.Seconds())
}

// lateOf returns the late leases of all databases, those whose window ends first first, and how many more there are.
func lateOf(all []rowView) (late []rowView, more int) {
	slices.SortStableFunc(all, func(a, b rowView) int { return a.end.Compare(b.end) })
	n := min(len(all), mostLate)
	return all[:n], len(all) - n
}

// inOrder puts the numbers that need attention first, as the list has them.
func inOrder(all []*number) {
	slices.SortStableFunc(all, func(a, b *number) int {
		if late := btoi(b.state == "late") - btoi(a.state == "late"); late != 0 {
			return late
		}
		return cmp.Compare(a.Worker, b.Worker)
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
