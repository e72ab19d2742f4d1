package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/census"
	"github.com/shardsnow/snow/internal/timetext"
	"github.com/shardsnow/snow/sqlsnow"
)

// What is drawn of a namespace at most.
const (
	mostCells = 1000
	mostRows  = 500
)

// A view is what the templates show.
type view struct {
	EveryMS   int64
	At        string
	Databases []databaseView
	Spread    string // how far the databases' clocks are apart; empty for one
	Decoded   *decoded
}

type databaseView struct {
	Name       string
	Failing    string // since when it does not answer
	Answered   bool   // there is something to show
	At         string // when it was read
	Clock      string // beside this process's
	Namespaces []namespaceView
	Counters   []counterView
	Unread     bool // the counters can't be read
}

type namespaceView struct {
	Name, Layout, Window string
	Counts               []countView
	Cells                []cellView
	MoreCells, MoreRows  int // that are not drawn
	Rows, Late           []rowView
	Fences               []fenceView
}

type countView struct {
	State string
	N     int
}

// A cellView is a number in the picture, or several free or reserved ones beside each other.
type cellView struct {
	Number, State, Left, Holder string
	N                           int  // how many numbers it is
	Percent                     int  // of the window that is left
	HasBar                      bool // a window or a wait is running
}

type rowView struct {
	Worker                                          uint64
	State, Holder, Leased, Since, Renewed, Ends, At string
}

type fenceView struct {
	At, Until string
	N         int
}

func viewOf(s snapshot, every time.Duration) view {
	v := view{EveryMS: every.Milliseconds(), At: timetext.Stamp(s.at.Truncate(time.Second))}
	var ahead []time.Duration
	for _, d := range s.databases {
		shown := databaseView{Name: d.name, Answered: !d.at.IsZero(), Unread: d.unread}
		if !d.failing.IsZero() {
			shown.Failing = timetext.Stamp(d.failing.Truncate(time.Second))
		}
		if shown.Answered {
			shown.At = timetext.Stamp(d.at.Truncate(time.Second))
			shown.Clock = clockText(d.ahead(), d.trip)
			ahead = append(ahead, d.ahead())
		}
		for _, n := range d.namespaces {
			shown.Namespaces = append(shown.Namespaces, namespaceViewOf(n, d.now))
		}
		for _, c := range d.counters {
			shown.Counters = append(shown.Counters, counterViewOf(c, d.rates[c.Tag]))
		}
		v.Databases = append(v.Databases, shown)
	}
	if len(ahead) > 1 {
		v.Spread = timetext.Span((slices.Max(ahead) - slices.Min(ahead)).Seconds())
	}
	return v
}

func clockText(ahead, trip time.Duration) string {
	give := " (give or take " + timetext.Span((trip / 2).Seconds()) + ")"
	switch {
	case ahead.Abs() <= max(trip/2, time.Millisecond):
		return "the same as this process's" + give
	case ahead < 0:
		return timetext.Span(-ahead.Seconds()) + " behind this process's" + give
	}
	return timetext.Span(ahead.Seconds()) + " ahead of this process's" + give
}

func namespaceViewOf(n namespace, now time.Time) namespaceView {
	v := namespaceView{Name: n.Name, Layout: n.Layout.String(), Window: timetext.Span(n.Window.Seconds())}
	counts := make(map[string]int)
	fences := make(map[time.Time]*fenceView)
	var order []time.Time
	for _, w := range n.workers {
		state := census.StateOf(w, now)
		counts[state]++
		v.add(cellOf(n, w, state, now))
		if state != "free" {
			row := rowOf(w, state, now)
			if state == "late" {
				v.Late = append(v.Late, row)
			}
			if len(v.Rows) < mostRows {
				v.Rows = append(v.Rows, row)
			} else {
				v.MoreRows++
			}
		}
		if at := census.FencedAt(n.Namespace, w); !at.IsZero() {
			at = at.Truncate(time.Second)
			if fences[at] == nil {
				order = append(order, at)
				fences[at] = &fenceView{At: when(at, now), Until: when(at.Add(n.FencedFor()), now)}
			}
			fences[at].N++
		}
	}
	for _, state := range census.States() {
		v.Counts = append(v.Counts, countView{state, counts[state]})
	}
	slices.SortFunc(order, func(a, b time.Time) int { return b.Compare(a) })
	for _, at := range order[:min(len(order), 20)] {
		v.Fences = append(v.Fences, *fences[at])
	}
	return v
}

// add adds a cell to the picture, or to the last cell if both are alike and of numbers that nobody uses.
func (v *namespaceView) add(c cellView) {
	if n := len(v.Cells); n > 0 && (c.State == "free" || c.State == "reserved") {
		if last := &v.Cells[n-1]; v.MoreCells == 0 && last.State == c.State && (c.State == "free" || last.Holder == c.Holder) {
			first, _, _ := strings.Cut(last.Number, "–")
			last.Number, last.N = first+"–"+c.Number, last.N+1
			return
		}
	}
	if len(v.Cells) == mostCells {
		v.MoreCells++
		return
	}
	v.Cells = append(v.Cells, c)
}

func cellOf(n namespace, w sqlsnow.WorkerInfo, state string, now time.Time) cellView {
	c := cellView{Number: strconv.FormatUint(w.Worker, 10), State: state, Holder: w.Holder, N: 1}
	var until time.Time
	switch state {
	case "held", "late":
		until = w.Ceiling
	case "cooling", "claimed":
		until = w.Leasable
	default:
		return c
	}
	left := max(0, until.Sub(now))
	whole := n.Window
	if left > whole {
		whole = max(left, n.PinnedWindow)
	}
	c.Left, c.HasBar = timetext.Span(left.Truncate(time.Second).Seconds()), true
	c.Percent = int(100 * left.Seconds() / whole.Seconds())
	return c
}

func rowOf(w sqlsnow.WorkerInfo, state string, now time.Time) rowView {
	return rowView{
		Worker: w.Worker, State: state, Holder: w.Holder, Leased: times(w.Fence),
		Since: when(w.Claimed, now), Renewed: when(w.Renewed, now), Ends: when(w.Ceiling, now), At: when(w.Leasable, now),
	}
}

// when returns a time with its distance from now.
func when(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	t = t.Truncate(time.Second)
	return timetext.Stamp(t) + ", " + timetext.Distance(t, now.Truncate(time.Second))
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
