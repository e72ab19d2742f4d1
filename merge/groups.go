package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/report"
)

// A Group is one of several merges that have nothing to do with each other, such as one of the groups of servers
// that are merged in a night.
type Group struct {
	Name string

	// Open returns the merge, which passes its events to events as well, and what releases its databases. It is
	// called twice: when rows are counted, and when the merge begins, so that only the databases of merges under
	// way are open.
	Open func(ctx context.Context, events func(report.Event)) (m *Merge, release func() error, err error)
}

// GroupsConfig configures [RunGroups].
type GroupsConfig struct {
	// AtOnce is how many groups are under way at the same time, at least 1. Zero means 2.
	AtOnce int

	// Do is done with each group, by several goroutines at a time. Nil means [Merge.Run].
	Do func(ctx context.Context, name string, m *Merge) error

	// Progress, if not nil, is called by one goroutine at a time when a group begins or ends, and after each chunk.
	// All wait for it.
	Progress func(GroupsProgress)
}

// GroupsProgress says how far some groups are.
type GroupsProgress struct {
	Waiting, Running, Done, Failed int

	// Rows is how many rows all groups have handled, each row once in each of three phases, and Total how many
	// there are.
	Rows, Total int64

	// Left is when the last group will be done, by the speed of the groups so far; 0 while nothing is known.
	Left time.Duration
}

// A GroupResult says how one group has ended.
type GroupResult struct {
	Name string
	Rows int64         // of its sources, of tables that are merged
	Took time.Duration // 0 if it did not begin
	Err  error         // of Open or Do; the end of ctx if it did not begin
}

// RunGroups runs groups side by side and returns how each has ended, in their order. First it counts the rows of
// all. One that fails stops no other one. When ctx ends, no other group begins. The error comes from cfg, or from
// groups without a name or with the name of another one: then nothing was done.
func RunGroups(ctx context.Context, groups []Group, cfg GroupsConfig) ([]GroupResult, error) {
	if cfg.AtOnce == 0 {
		cfg.AtOnce = 2
	}
	if cfg.AtOnce < 1 {
		return nil, fmt.Errorf("merge: groups: %w", &snow.FieldError{Field: "AtOnce", Value: fmt.Sprint(cfg.AtOnce), Bound: "want at least 1"})
	}
	for i, g := range groups {
		if g.Name == "" || g.Open == nil || slices.ContainsFunc(groups[:i], func(other Group) bool { return other.Name == g.Name }) {
			return nil, fmt.Errorf("merge: groups: group %d, %q: want a name of its own, and Open", i+1, g.Name)
		}
	}
	if cfg.Do == nil {
		cfg.Do = func(ctx context.Context, _ string, m *Merge) error {
			_, err := m.Run(ctx)
			return err
		}
	}
	n := &groupsRun{GroupsConfig: cfg, now: time.Now}
	for _, g := range groups {
		n.groups = append(n.groups, &groupProgress{Group: g, result: GroupResult{Name: g.Name}, rows: map[string]int64{}})
	}
	n.each(ctx, n.count)
	n.each(ctx, n.run)
	var results []GroupResult
	for _, g := range n.groups {
		results = append(results, g.result)
	}
	return results, nil
}

// A groupsRun is some groups that are run.
type groupsRun struct {
	GroupsConfig
	now    func() time.Time
	groups []*groupProgress

	mu sync.Mutex // of the groups
}

// A groupProgress is a group and its progress.
type groupProgress struct {
	Group
	result GroupResult
	began  time.Time // zero before it begins
	ended  bool      // also if it can't begin
	rows   map[string]int64
	before int64 // rows that earlier runs have handled
	done   int64
}

// handlings is how often a row is handled: in the phases mint, copy and verify.
const handlings = 3

func (g *groupProgress) left() float64 { return float64(max(0, handlings*g.result.Rows-g.done)) }

// each does something with the groups that have not ended, some at a time, in their order.
func (n *groupsRun) each(ctx context.Context, do func(context.Context, *groupProgress) error) {
	next := make(chan *groupProgress)
	var all sync.WaitGroup
	for range min(n.AtOnce, len(n.groups)) {
		all.Go(func() {
			for g := range next {
				err := ctx.Err()
				if err == nil {
					err = do(ctx, g)
				}
				if err != nil {
					n.fail(g, err)
				}
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

func (n *groupsRun) fail(g *groupProgress, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	g.ended, g.result.Err = true, err
}

// count counts the rows of a group.
func (n *groupsRun) count(ctx context.Context, g *groupProgress) error {
	m, release, err := g.open(ctx, func(report.Event) {})
	if err != nil {
		return err
	}
	rows, err := work.CountSources(ctx, &m.job)
	if err = joinRelease(err, release()); err != nil {
		return fmt.Errorf("count rows: %w", err)
	}
	g.result.Rows = rows
	return nil
}

// run does what is to be done with a group. The error of that is in its result.
func (n *groupsRun) run(ctx context.Context, g *groupProgress) error {
	n.tell(func() { g.began = n.now() })
	m, release, err := g.open(ctx, func(e report.Event) { n.tell(func() { g.event(e) }) })
	if err == nil {
		err = n.Do(ctx, g.Name, m)
		err = joinRelease(err, release())
	}
	n.tell(func() { g.ended, g.result.Err, g.result.Took = true, err, n.now().Sub(g.began) })
	return nil
}

// open is Open, which may have returned nothing.
func (g *groupProgress) open(ctx context.Context, events func(report.Event)) (*Merge, func() error, error) {
	m, release, err := g.Open(ctx, events)
	if release == nil {
		release = func() error { return nil }
	}
	if err == nil && m == nil {
		err = errors.Join(errors.New("Open has returned no merge"), release())
	}
	return m, release, err
}

// joinRelease returns err as it is if there is no other one: callers look at its type and at its text.
func joinRelease(err, release error) error {
	if release == nil {
		return err
	}
	return errors.Join(err, release)
}

// event counts the rows of an event.
func (g *groupProgress) event(e report.Event) {
	switch e.Phase {
	case ledger.PhaseMint, ledger.PhaseCopy, ledger.PhaseVerify:
	default:
		return
	}
	if e.Table == "" {
		return
	}
	key := e.Phase + " " + e.Source + " " + e.Table
	was, seen := g.rows[key]
	if more := e.Rows - was; more > 0 {
		g.rows[key] = e.Rows
		g.done += more
		if !seen && e.Kind == report.EventTable {
			g.before += more
		}
	} else if !seen {
		g.rows[key] = 0
	}
}

// tell changes something and tells of the progress.
func (n *groupsRun) tell(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
	if n.Progress != nil {
		n.Progress(n.progress())
	}
}

func (n *groupsRun) progress() (p GroupsProgress) {
	var running []pending
	var waiting []float64
	var handled, worked float64 // rows, and the seconds of all groups together
	now := n.now()
	for _, g := range n.groups {
		p.Total += handlings * g.result.Rows
		p.Rows += min(g.done, handlings*g.result.Rows)
		var took float64
		switch {
		case g.ended && g.result.Err != nil && !errors.As(g.result.Err, new(*report.OpenError)):
			p.Failed++
			took = g.result.Took.Seconds()
		case g.ended:
			p.Done++
			took = g.result.Took.Seconds()
		case g.began.IsZero():
			p.Waiting++
			waiting = append(waiting, g.left())
		default:
			p.Running++
			took = now.Sub(g.began).Seconds()
			running = append(running, pending{g.left(), float64(g.done-g.before) / max(took, 1e-9)})
		}
		if !g.began.IsZero() {
			handled, worked = handled+float64(g.done-g.before), worked+took
		}
	}
	if handled > 0 && worked > 0 {
		p.Left = lastEnd(running, waiting, handled/worked, n.AtOnce)
	}
	return p
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
