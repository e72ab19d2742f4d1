package page

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/census"
	"github.com/shardsnow/snow/internal/timetext"
	"github.com/shardsnow/snow/sqlsnow"
)

// mostCells is how many cells a grid has at most. If a namespace has more numbers, a cell is for several.
const mostCells = 1024

// longestHolder is how much of a holder a cell says, in characters. The list has all of it.
const longestHolder = 60

// A gridView is the numbers of a namespace as cells, from number 0 on.
type gridView struct {
	Each  int // how many numbers a cell is
	Cells []cellView
}

// A cellView is a number, or several.
type cellView struct {
	State string // of the number that needs attention first
	Label string // in words; empty for free numbers only
	Row   string // anchor in the list; empty if it is not there
	Dim   bool   // the filter does not choose it
}

// A number is one with what it is now.
type number struct {
	sqlsnow.WorkerInfo
	state  string
	chosen bool   // by the filter
	row    string // anchor in the list; empty if it is not there
}

// urgency is how much a state needs attention.
func urgency(state string) int {
	return strings.Index("free reserved held cooling claimed late", state)
}

// gridOf draws numbers that are in order.
func gridOf(all []number, now time.Time) gridView {
	g := gridView{Each: max(1, (len(all)+mostCells-1)/mostCells)}
	g.Cells = make([]cellView, 0, (len(all)+g.Each-1)/g.Each)
	for begin := 0; begin < len(all); begin += g.Each {
		g.Cells = append(g.Cells, cellOf(all[begin:min(begin+g.Each, len(all))], now))
	}
	return g
}

// A run is free cells, and one that is not.
type run struct {
	// tags that are always the same: a grid is mostly free, and the template need not look at each cell
	Free template.HTML
	Cell *cellView // nil at the end
}

// Runs returns the cells for the template.
func (g gridView) Runs() (all []run) {
	var free strings.Builder
	for i := range g.Cells {
		switch c := &g.Cells[i]; {
		case c.Label != "":
			all = append(all, run{template.HTML(free.String()), c})
			free.Reset()
		case c.Dim:
			free.WriteString(`<i class="dim"></i>`)
		default:
			free.WriteString(`<i></i>`)
		}
	}
	return append(all, run{Free: template.HTML(free.String())})
}

func cellOf(some []number, now time.Time) cellView {
	first := some[0]
	counts := make(map[string]int, 1)
	chosen := false
	for _, n := range some {
		chosen = chosen || n.chosen
		if counts[n.state]++; urgency(n.state) > urgency(first.state) {
			first = n
		}
	}
	c := cellView{State: first.state, Row: first.row, Dim: !chosen}
	switch {
	case first.state == "free":
	case len(some) == 1:
		c.Label = labelOf(first, now)
	default:
		c.Label = fmt.Sprintf("%d–%d:", some[0].Worker, some[len(some)-1].Worker)
		for _, state := range census.States() {
			if counts[state] > 0 {
				c.Label += fmt.Sprintf(" %d %s,", counts[state], state)
			}
		}
		c.Label = strings.TrimSuffix(c.Label, ",")
	}
	return c
}

// labelOf says in words what a number is.
func labelOf(n number, now time.Time) string {
	parts := []string{strconv.FormatUint(n.Worker, 10) + " " + n.state, shortened(n.Holder)}
	if n.Holder == "" {
		parts = parts[:1]
	}
	switch n.state {
	case "held", "late":
		parts = append(parts, "renewed "+distance(n.Renewed, now), "window ends "+distance(n.Ceiling, now))
	case "claimed", "cooling":
		parts = append(parts, "free "+distance(n.Leasable, now))
	}
	return strings.Join(parts, ", ")
}

// shortened returns the beginning and the end of a holder: names of processes often end with what tells them apart.
func shortened(holder string) string {
	all := []rune(holder)
	if len(all) <= longestHolder {
		return holder
	}
	return string(all[:longestHolder/2]) + "…" + string(all[len(all)-longestHolder/2+1:])
}

// distance returns how far a time is from now, in whole seconds.
func distance(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	if t, now = t.Truncate(time.Second), now.Truncate(time.Second); t.Equal(now) {
		return "now"
	}
	return timetext.Distance(t, now)
}
