package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/census"
	"github.com/shardsnow/snow/internal/timetext"
	"github.com/shardsnow/snow/sqlsnow"
)

// A view is what the templates show.
type view struct {
	EveryMS   int64
	At        string
	Title     string
	Alarm     alarmView
	Late      []rowView
	MoreLate  int
	Lines     []sparkView // of the service; empty without Config.Totals
	Databases []databaseView
	Spread    string // how far the databases' clocks are apart; empty for one
	Query     string
	Decoded   *decoded
}

type databaseView struct {
	Anchor, Name string
	Place        place
	Failing      string // since when it does not answer
	Answered     bool   // there is something to show
	At           string // when it was read
	Clock        string // beside this process's; empty if it has none
	Namespaces   []namespaceView
	Hidden       int // namespaces that the filter leaves out
	Rows         int // of the list
	MoreRows     int // numbers that are not listed
	Counters     []counterView
	Unread       bool // the counters can't be read

	skewed bool
}

type namespaceView struct {
	Anchor, Name, Layout, Window string
	Counts                       []countView
	Grid                         gridView
	Rows                         []rowView
	Fences                       []fenceView

	late   []rowView // whatever the filter is
	hidden bool      // the filter leaves it out
	total  int
	waits  string // until when new processes wait after a fence; empty if they do not
}

type countView struct {
	State string
	N     int
}

type fenceView struct {
	At, Until string
	N         int
}

// viewOf says what a snapshot shows. The line on top, the title and the list of late leases are of all, whatever the
// filter is.
func viewOf(s snapshot, every time.Duration, f filter, lines []sparkView) view {
	v := view{EveryMS: every.Milliseconds(), At: timetext.Stamp(s.at.Truncate(time.Second)), Query: f.text, Lines: lines}
	var ahead []time.Duration
	var late []rowView
	for i, d := range s.databases {
		shown := databaseViewOf(d, i, f)
		if shown.Clock != "" {
			ahead = append(ahead, d.ahead())
		}
		for _, n := range shown.Namespaces {
			for _, r := range n.late {
				r.Database, r.NamespaceHref = shown.Name, v.href(n.Anchor)
				late = append(late, r)
			}
		}
		v.Databases = append(v.Databases, shown)
	}
	v.Late, v.MoreLate = lateOf(late)
	if len(ahead) > 1 {
		v.Spread = timetext.Span((slices.Max(ahead) - slices.Min(ahead)).Seconds())
	}
	v.Alarm = alarmOf(v)
	v.Title = v.Alarm.title()
	for i := range v.Databases {
		d := &v.Databases[i]
		n := len(d.Namespaces)
		d.Namespaces = slices.DeleteFunc(d.Namespaces, func(n namespaceView) bool { return n.hidden })
		d.Hidden = n - len(d.Namespaces)
		d.Counters = slices.DeleteFunc(d.Counters, func(c counterView) bool { return c.hidden })
	}
	slices.SortStableFunc(v.Databases, func(a, b databaseView) int { return btoi(b.troubled()) - btoi(a.troubled()) })
	return v
}

// href returns the address of an anchor that the filter may leave out.
func (v view) href(anchor string) string {
	if v.Query != "" {
		return "./#" + anchor
	}
	return "#" + anchor
}

func databaseViewOf(d state, i int, f filter) databaseView {
	v := databaseView{Anchor: fmt.Sprintf("d%d", i), Name: d.called(), Place: d.place, Answered: !d.at.IsZero(), Unread: d.unread}
	if !d.failing.IsZero() {
		v.Failing = timetext.Stamp(d.failing.Truncate(time.Second))
	}
	if v.Answered {
		v.At = timetext.Stamp(d.at.Truncate(time.Second))
		if !d.clockless {
			v.Clock, v.skewed = clockText(d.ahead(), d.trip)
		}
	}
	spaces := slices.Clone(d.namespaces)
	slices.SortStableFunc(spaces, func(a, b namespace) int { return btoi(b.hasLate(d.now)) - btoi(a.hasLate(d.now)) })
	room := mostRows
	for _, n := range spaces {
		shown, more := namespaceViewOf(n, fmt.Sprintf("n%d-%s", i, n.Name), d.now, f, room)
		room -= len(shown.Rows)
		v.Rows += len(shown.Rows)
		v.MoreRows += more
		v.Namespaces = append(v.Namespaces, shown)
	}
	for _, c := range d.counters {
		shown := counterViewOf(c, d.rates[c.Tag], fmt.Sprintf("s%d-%s", i, c.Tag))
		shown.hidden = !f.tag(c.Tag)
		v.Counters = append(v.Counters, shown)
	}
	return v
}

// hasLate reports whether a lease is late.
func (n namespace) hasLate(now time.Time) bool {
	return slices.ContainsFunc(n.workers, func(w sqlsnow.WorkerInfo) bool { return census.StateOf(w, now) == "late" })
}

func (v databaseView) troubled() bool {
	return v.Failing != "" || slices.ContainsFunc(v.Namespaces, func(n namespaceView) bool { return n.count("late") > 0 })
}

func namespaceViewOf(n namespace, anchor string, now time.Time, f filter, room int) (v namespaceView, more int) {
	v = namespaceView{
		Anchor: anchor, Name: n.Name, Layout: n.Layout.String(), Window: timetext.Span(n.Window.Seconds()),
		hidden: len(f.words) > 0, total: len(n.workers),
	}
	counts := make(map[string]int)
	all := make([]number, len(n.workers))
	for i, w := range n.workers {
		state := census.StateOf(w, now)
		counts[state]++
		all[i] = number{WorkerInfo: w, state: state, chosen: f.number(n.Name, state, w.Holder, w.Worker)}
		v.hidden = v.hidden && !all[i].chosen
	}
	for _, state := range census.States() {
		v.Counts = append(v.Counts, countView{state, counts[state]})
	}
	v.Rows, more = rowsOf(n, all, anchor, now, room)
	for _, w := range all {
		if w.state == "late" {
			r := rowOf(n, w, now)
			r.Anchor = w.row
			v.late = append(v.late, r)
		}
	}
	v.Grid = gridOf(all, now)
	v.Fences, v.waits = fencesOf(n, now)
	return v, more
}

// count returns how many numbers have a state.
func (v namespaceView) count(state string) int {
	for _, c := range v.Counts {
		if c.State == state {
			return c.N
		}
	}
	return 0
}

// rowsOf lists the chosen numbers that are not free, as many as there is room for, and says how many more there are.
// The numbers learn where they are in the list.
func rowsOf(ns namespace, all []number, anchor string, now time.Time, room int) (rows []rowView, more int) {
	var listed []*number
	for i := range all {
		if all[i].state != "free" && all[i].chosen {
			listed = append(listed, &all[i])
		}
	}
	inOrder(listed)
	for _, n := range listed {
		if last := len(rows) - 1; last >= 0 && rows[last].takes(*n) {
			rows[last].Last, n.row = n.Worker, rows[last].Anchor
			continue
		}
		if len(rows) >= room {
			more++
			continue
		}
		r := rowOf(ns, *n, now)
		r.Anchor = rowAnchor(anchor, n.Worker)
		n.row = r.Anchor
		rows = append(rows, r)
	}
	return rows, more
}

// rowAnchor returns an anchor that no namespace has: names have no tilde.
func rowAnchor(namespace string, worker uint64) string {
	return fmt.Sprintf("%s~%d", namespace, worker)
}

// mostFences is how many fences are shown.
const mostFences = 5

// fencesOf returns the fences of a namespace as far as its rows tell, the last one first, and until when new
// processes wait.
func fencesOf(n namespace, now time.Time) (all []fenceView, waits string) {
	fences := make(map[time.Time]int)
	var order []time.Time
	for _, w := range n.workers {
		if at := census.FencedAt(n.Namespace, w); !at.IsZero() {
			at = at.Truncate(time.Second)
			if fences[at]++; fences[at] == 1 {
				order = append(order, at)
			}
		}
	}
	slices.SortFunc(order, func(a, b time.Time) int { return b.Compare(a) })
	for i, at := range order[:min(len(order), mostFences)] {
		until := at.Add(n.FencedFor())
		if i == 0 && until.After(now) {
			waits = until.UTC().Format(time.TimeOnly) + " UTC"
		}
		all = append(all, fenceView{At: when(at, now), Until: when(until, now), N: fences[at]})
	}
	return all, waits
}

// when returns a time with its distance from now.
func when(t, now time.Time) string {
	return strings.TrimSuffix(timeOf(t, now).Long, " UTC") + ", " + distance(t, now)
}
