package mergecommand

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/report"
)

// A group is the command for one group of servers, its progress and how it has ended.
type group struct {
	*Command
	name string
	rows int64         // of its sources, in tables that are merged
	took time.Duration // 0 if it did not begin
	err  error         // the end of ctx if it did not begin

	began   time.Time        // zero before it begins
	ended   bool             // also if it can't begin
	handled map[string]int64 // rows by phase, source and table
	before  int64            // rows that earlier runs have handled
	done    int64
}

// handlings is how often a row is handled: in the phases mint, copy and verify.
const handlings = 3

func (g *group) left() float64 { return float64(max(0, handlings*g.rows-g.done)) }

// event counts the rows of an event.
func (g *group) event(e report.Event) {
	if e.Table == "" || !slices.Contains([]string{"mint", "copy", "verify"}, e.Phase) {
		return
	}
	key := e.Phase + " " + e.Source + " " + e.Table
	was, seen := g.handled[key]
	more := max(0, e.Rows-was)
	g.handled[key] = was + more
	g.done += more
	if !seen && e.Kind == report.EventTable {
		g.before += more
	}
}

// A groupsRun does a step with several groups, some at a time. One that fails stops no other one.
type groupsRun struct {
	atOnce int
	now    func() time.Time
	tell   func(groupsProgress) // called by one goroutine at a time
	groups []*group

	mu sync.Mutex // of the groups
}

// run counts the rows of all groups and then does the step. When ctx ends, no other group begins.
func (n *groupsRun) run(ctx context.Context, do func(context.Context, *group, *merge.Merge) error) {
	n.each(ctx, func(g *group) {
		m, err := g.openMerge(ctx, nil)
		if err == nil {
			g.rows, err = m.Rows(ctx)
		}
		g.err = errors.Join(err, g.closeAll())
		g.ended = g.err != nil
	})
	n.each(ctx, func(g *group) {
		n.change(func() { g.began = n.now() })
		m, err := g.openMerge(ctx, func(e report.Event) { n.change(func() { g.event(e) }) })
		if err == nil {
			err = do(ctx, g, m)
		}
		err = errors.Join(err, g.closeAll())
		n.change(func() { g.ended, g.err, g.took = true, err, n.now().Sub(g.began) })
	})
}

// each does something with the groups that have not ended, in their order.
func (n *groupsRun) each(ctx context.Context, do func(*group)) {
	next := make(chan *group)
	var all sync.WaitGroup
	for range min(n.atOnce, len(n.groups)) {
		all.Go(func() {
			for g := range next {
				if ctx.Err() == nil {
					do(g)
					continue
				}
				n.mu.Lock()
				g.ended, g.err = true, ctx.Err()
				n.mu.Unlock()
			}
		})
	}
	for _, g := range n.groups {
		if !g.ended {
			next <- g
		}
	}
	close(next)
	all.Wait()
}

// change changes groups and tells the progress.
func (n *groupsRun) change(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
	n.tell(n.progress())
}

// A groupsProgress is the progress of all groups.
type groupsProgress struct {
	waiting, running, done, failed int

	// rows is how many rows all groups have handled, each row once in each of three phases. total is how many there
	// are.
	rows, total int64

	// left is when the last group will be done, by the speed of the groups so far; 0 while nothing is known.
	left time.Duration
}

func (n *groupsRun) progress() (p groupsProgress) {
	var running []pending
	var waiting []float64
	var handled, worked float64 // rows, and the seconds of all groups together
	now := n.now()
	for _, g := range n.groups {
		p.total += handlings * g.rows
		p.rows += min(g.done, handlings*g.rows)
		took := g.took
		switch {
		case g.ended && g.err != nil && !errors.As(g.err, new(*report.OpenError)):
			p.failed++
		case g.ended:
			p.done++
		case g.began.IsZero():
			p.waiting++
			waiting = append(waiting, g.left())
		default:
			p.running++
			took = now.Sub(g.began)
			running = append(running, pending{g.left(), float64(g.done-g.before) / max(took.Seconds(), 1e-9)})
		}
		handled, worked = handled+float64(g.done-g.before), worked+took.Seconds()
	}
	if handled > 0 && worked > 0 {
		p.left = lastEnd(running, waiting, handled/worked, n.atOnce)
	}
	return p
}

// describe says the progress in words.
func (p groupsProgress) describe(now time.Time) string {
	text := fmt.Sprintf("groups: %d done, %d failed, %d under way, %d waiting", p.done, p.failed, p.running, p.waiting)
	if p.total > 0 && p.rows > 0 {
		text += fmt.Sprintf("; %d %%", 100*p.rows/p.total)
	}
	if p.left > 0 && p.running+p.waiting > 0 {
		text += fmt.Sprintf("; the last one ends in about %s, at %s", p.left.Round(time.Second), now.Add(p.left).Format("15:04"))
	}
	return text
}

// A pending is a group under way: how many rows it has left to handle, and how many it handles in a second.
type pending struct{ left, rate float64 }

// lastEnd returns when the last of some groups ends, if each waiting group begins when one of so many places is free,
// and handles rows at a rate.
func lastEnd(running []pending, waiting []float64, rate float64, places int) time.Duration {
	free := make([]float64, max(places, len(running)))
	for i, g := range running {
		if g.rate <= 0 {
			g.rate = rate
		}
		free[i] = g.left / g.rate
	}
	if len(running) < places {
		free = free[:places]
	}
	for _, left := range waiting {
		slices.Sort(free)
		free[0] += left / rate
	}
	return time.Duration(slices.Max(free) * float64(time.Second))
}
