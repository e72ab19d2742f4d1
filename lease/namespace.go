package lease

import (
	"fmt"
	"strconv"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/protocol"
)

// A Namespace is one space of ids. Its worker numbers are leased to the
// processes that make the ids. Tables that share keys need the same namespace:
// ids of two namespaces can be equal.
type Namespace struct {
	// Name has 1 to 64 ASCII characters: letters, digits, and . _ - : /. Case counts.
	Name string

	// Layout is the layout of the ids. It can't change afterwards.
	Layout snow.Layout

	// Workers is how many worker numbers there are to lease, from 0 on. It can't
	// change afterwards, and each is a row of the lease database. Default: all that
	// the layout has. A layout with more than 1,024, such as snow.GameServers, has no
	// default: zero is refused there.
	Workers int

	// LossWindow is how much confirmed history the database may lose in a
	// failover, for example with asynchronous replication. It is at most ten
	// minutes. Zero means none: a single server that syncs, or a cluster that
	// confirms what a majority has.
	//
	// If it is not zero, a process makes its first id LossWindow plus one second
	// after it has found a number, and the window of a number grows up to Window
	// with its renewals. It needs ticks of a second or less and a Window of at
	// least 30 s.
	LossWindow time.Duration

	// Window is how long ids can be made without reaching the database. It is
	// 3 ticks to 24 hours; zero means 10 minutes, or 3 ticks if that is longer.
	// A number whose process crashed is not leased again before its window ends.
	Window time.Duration

	// PinnedWindow is the Window of processes that ask for a certain number. After
	// a crash they have to wait for its end. Zero means 30 s, but at most Window
	// and at least 3 ticks.
	PinnedWindow time.Duration
}

const (
	defaultWindow = 10 * time.Minute
	defaultPinned = 30 * time.Second
	longestWindow = 24 * time.Hour
	mostByDefault = 1024 // worker numbers of a layout of which all are leased if nobody says how many
)

// FencedFor returns how long no number can be leased after Fence, or after Init
// had to make rows that were deleted, if the clocks are right. n is a namespace as
// Namespaces returns it.
func (n Namespace) FencedFor() time.Duration {
	p := protocol.Params{Layout: n.Layout, Window: n.Window, Pinned: n.PinnedWindow}
	return time.Duration(p.LongestWindow()) * n.Layout.Tick()
}

// Params checks n and fills in what is left out. The result has a type of an internal package: Params is for the
// packages of this project that keep namespaces.
func (n Namespace) Params() (protocol.Params, error) {
	if err := names.Check("namespace", n.Name); err != nil {
		return protocol.Params{}, err
	}
	if n.Layout == (snow.Layout{}) {
		return protocol.Params{}, &snow.FieldError{Field: "Layout", Value: "zero", Bound: "want one of snow.NewLayout or a preset"}
	}
	tick := n.Layout.Tick()
	all := n.Layout.Workers()
	switch {
	case n.Workers < 0 || int64(n.Workers) > all:
		return protocol.Params{}, &snow.FieldError{Field: "Workers", Value: strconv.Itoa(n.Workers), Bound: "the layout has " + strconv.FormatInt(all, 10)}
	case n.Workers == 0 && all > mostByDefault:
		return protocol.Params{}, &snow.FieldError{
			Field: "Workers", Value: "0", Bound: fmt.Sprintf("the layout has %d: say how many are leased, which can't change afterwards", all),
		}
	case n.Workers == 0:
		n.Workers = int(all)
	}
	if n.Window == 0 {
		n.Window = max(defaultWindow, 3*tick)
	}
	if n.PinnedWindow == 0 {
		n.PinnedWindow = max(min(defaultPinned, n.Window), 3*tick)
	}
	shortest := max(3*tick, time.Millisecond)
	if n.LossWindow > 0 {
		shortest = 30 * time.Second
	}
	for _, d := range []struct {
		field             string
		value             time.Duration
		shortest, longest time.Duration
	}{
		{"LossWindow", n.LossWindow, 0, protocol.LongestLoss},
		{"Window", n.Window, shortest, max(longestWindow, 3*tick)},
		{"PinnedWindow", n.PinnedWindow, shortest, max(longestWindow, 3*tick)},
	} {
		if d.value < d.shortest || d.value > d.longest || d.value%time.Millisecond != 0 {
			return protocol.Params{}, &snow.FieldError{
				Field: d.field, Value: d.value.String(),
				Bound: fmt.Sprintf("want whole milliseconds from %v to %v", d.shortest, d.longest),
			}
		}
	}
	if n.LossWindow > 0 && tick > time.Second {
		return protocol.Params{}, &snow.FieldError{Field: "LossWindow", Value: n.LossWindow.String(), Bound: "needs a layout with ticks of a second or less"}
	}
	p := protocol.NewParams(n.LossWindow, n.Window, n.PinnedWindow, tick)
	p.Name, p.Layout, p.Workers = n.Name, n.Layout, int64(n.Workers)
	return p, nil
}
