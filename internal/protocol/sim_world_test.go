package protocol

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/eventqueue"
)

// A simWorld is a database, the processes that lease numbers from it, and the
// network between them. It has one thread, one source of chance and a true time
// that nobody in it can read.
type simWorld struct {
	plan   simPlan
	random *rand.Rand
	now    time.Duration
	queue  eventqueue.Queue

	registry *simRegistry
	tenant   *simRegistry // of the same name, in another schema of the server
	keys     *simKeys     // in place of the tables, and another store; nil without plan.over
	other    *simKeys
	fencers  []*simProc
	// of the database, which a restore or a power cut begins anew: messages to and from the former one are lost
	epoch     int
	step      time.Duration // of the database's clock from true time
	off       time.Duration // of this primary's clock, within eps
	down      bool
	fencing   bool // a backup was put back, and Fence has not returned
	calm      bool
	procs     []*simProc
	makers    []*simMaker
	incarnate int

	holders   map[int64][]*simProc   // who may use a number
	used      map[int64][]int64      // of each number the ticks that were, in their order
	doubtful  map[simTick]bool       // used ticks, by processes that knew of a loss
	committed map[simClaim]*simRange // what the database granted to an owner, ever
	owners    int

	counts  simCounts
	trace   []string
	tracing bool
	failure string
}

type simClaim struct {
	owner  string
	worker int64
}

type simRange struct{ floor, ceiling int64 }

type simTick struct{ worker, tick int64 }

const simStart = 1_792_888_200_000_000 // microseconds since 1970, when true time is 0

func newSimWorld(seed uint64, plan simPlan) *simWorld {
	w := &simWorld{
		plan: plan, random: rand.New(rand.NewPCG(seed, 1)), registry: newSimRegistry(plan.params),
		holders: map[int64][]*simProc{}, used: map[int64][]int64{}, doubtful: map[simTick]bool{}, committed: map[simClaim]*simRange{},
	}
	w.tenant = newSimRegistry(plan.params)
	w.registry.flaws, w.tenant.flaws = plan.flaws, plan.flaws
	w.registry.wrote = w.wrote
	w.addMakers()
	w.addKeys()
	for i := range plan.procs {
		p := &simProc{world: w, name: i}
		if i < plan.pinned {
			p.pin = int64(i) % plan.params.Workers
			p.pinned = true
		}
		w.procs = append(w.procs, p)
		w.after(w.upTo(2*time.Second), p.start)
	}
	return w
}

// run runs the world to its end, and returns the first violation.
func (w *simWorld) run() string {
	f := &w.plan.faults
	for _, fault := range []struct {
		every time.Duration
		do    func()
	}{
		{f.crash, func() { w.any().crash() }},
		{f.stop, func() { w.any().pause(w.long(), false) }},
		{f.suspend, func() { w.any().pause(w.long(), true) }},
		{f.leave, func() { w.any().leave() }},
		{f.abandon, func() { w.any().giveUp() }},
		{f.partition, func() { w.any().partition(w.long()) }},
		{f.outage, func() { w.outage(w.long()) }},
		{f.wall, func() { w.any().stepWall() }},
		{f.step, w.stepAside},
		{f.jump, func() {
			w.stepTo(w.step + w.symmetric(2*time.Hour))
			w.after(w.long(), func() { w.stepTo(w.symmetric(time.Second)) })
		}},
		{f.all, w.stepAll},
		{f.failover, w.failover},
		{f.restore, w.restore},
		{f.fence, func() { w.fence(func() {}) }},
		{f.walk, w.walk},
		{f.stall, w.stall},
		{f.power, w.powerCut},
		{f.leader, w.changeLeader},
		{f.compact, w.compact},
	} {
		if fault.every > 0 {
			w.repeat(fault.every, fault.do)
		}
	}
	w.until(w.plan.duration)
	if w.plan.rests && w.failure == "" {
		w.rest()
	}
	for _, p := range slices.Concat(w.procs, w.fencers) {
		p.client.abort()
	}
	return w.failure
}

func (w *simWorld) repeat(every time.Duration, do func()) {
	w.after(time.Duration(w.random.ExpFloat64()*float64(every)), func() {
		if w.calm {
			return
		}
		do()
		w.repeat(every, do)
	})
}

func (w *simWorld) until(end time.Duration) {
	for w.failure == "" {
		at, do, ok := w.queue.Pop(end)
		if !ok {
			break
		}
		w.now = at
		do()
	}
	w.now = max(w.now, end)
}

func (w *simWorld) after(d time.Duration, do func()) {
	w.queue.Add(w.now+max(d, 0), do)
}

// us returns the database's clock.
func (w *simWorld) us() int64 { return simStart + (w.now + w.step + w.off).Microseconds() }

func (w *simWorld) any() *simProc         { return w.procs[w.random.IntN(len(w.procs))] }
func (w *simWorld) chance(p float64) bool { return w.random.Float64() < p }
func (w *simWorld) upTo(d time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(d) + 1))
}
func (w *simWorld) symmetric(d time.Duration) time.Duration { return w.upTo(2*d) - d }

// long returns a random time that matters to the protocol: a part of a window, or more.
func (w *simWorld) long() time.Duration {
	t := &w.plan.params
	all := []time.Duration{time.Second, 10 * time.Second, t.Window, t.First + t.Grace, t.Window + t.Grace + 20*time.Second}
	return w.upTo(all[w.random.IntN(len(all))])
}

// extend records a grant of the database.
func (w *simWorld) extend(row *simRow, worker int64) {
	if row.State != Granted {
		return
	}
	key := simClaim{row.Owner, worker}
	if got := w.committed[key]; got == nil {
		w.committed[key] = &simRange{row.Floor, row.Ceiling}
	} else {
		got.floor, got.ceiling = min(got.floor, row.Floor), max(got.ceiling, row.Ceiling)
	}
}

// wrote checks a write of the database, and may have faults follow it.
func (w *simWorld) wrote(q Request, by int, before, after simRow, us int64) {
	if w.tracing {
		w.tracef("database: %v of %d by #%d: %v [%d, %d) fence %d -> %v [%d, %d) fence %d, tick %d", q.Ask, q.Worker, by,
			before.State, before.Floor, before.Ceiling, before.Fence,
			after.State, after.Floor, after.Ceiling, after.Fence, w.plan.params.TickAt(us))
	}
	w.extend(&after, q.Worker)
	t := &w.plan.params
	if after.Ceiling < before.Ceiling && q.Ask != AskRelease {
		w.fail("I3: %v lowered the ceiling of %d from %d to %d", q.Ask, q.Worker, before.Ceiling, after.Ceiling)
	}
	// The client expects the clock to be in the middle of the skew, and adds what its ids are ahead.
	skew := w.plan.skew.Microseconds()
	lead := min(w.plan.skew, DefaultMaxSkew).Microseconds()
	farthest := t.TickAt(min(us+lead, q.Earliest+2*skew)) + t.Ticks(max(t.Window, t.First)) + t.Ticks(Slack) + 1
	if after.Ceiling > max(before.Ceiling, farthest) && slices.Contains([]Ask{AskTake, AskClaim, AskGrant, AskRenew}, q.Ask) {
		w.fail("I5: %v moved the ceiling of %d to %d, beyond %d", q.Ask, q.Worker, after.Ceiling, farthest)
	}
	if q.Ask != AskTake && q.Ask != AskClaim && by != before.By {
		w.fail("I7: %v of #%d changed worker %d, which #%d had taken", q.Ask, by, q.Worker, before.By)
	}
	if !w.calm && w.chance(w.plan.faults.hunt) {
		w.hunt(w.process(by))
	}
}

func (w *simWorld) process(incarnation int) *simProc {
	for _, p := range w.procs {
		if p.id == incarnation {
			return p
		}
	}
	return w.any()
}

// send carries a Request to the database, and a reply back, or neither.
func (w *simWorld) send(p *simProc, q Request, done func(r Reply, losses int)) {
	if w.keys != nil {
		p.askKeys(q, done)
		return
	}
	epoch, by := w.epoch, p.id
	copies := 1
	bad := func() bool { return !w.calm && w.chance(w.plan.faults.message) }
	if bad() {
		copies = w.random.IntN(4)
	}
	for range copies {
		w.after(w.delay(bad()), func() {
			if w.epoch != epoch {
				return
			}
			// a message that is under way may arrive late
			if w.down || w.fencing || p.away && p.id == by && !w.chance(0.1) {
				if w.chance(0.5) {
					w.after(w.delay(false), func() { done(Reply{Err: errSimDown}, 0) })
				}
				return
			}
			registry := w.registry
			// the pool's connection was left in another schema, which has its own registry
			if !w.calm && w.chance(w.plan.faults.astray) {
				if !w.plan.flaws.unnamed {
					w.after(w.delay(false), func() { done(Reply{Err: errSimAstray, Failure: Unclear}, 0) })
					return
				}
				registry = w.tenant
			}
			r := registry.Do(q, w.us(), w.now, by)
			losses := w.counts.failovers
			if w.tracing && q.Ask.Writes() && !r.Changed {
				row := registry.Rows[q.Worker].Row
				w.tracef("database: %v of %d by #%d refused; %v, tick %d", q.Ask, q.Worker, by, row, w.plan.params.TickAt(w.us()))
			}
			if bad() {
				return
			}
			var confirmed time.Duration
			if r.Changed {
				confirmed = registry.durable - w.now
			}
			w.after(max(confirmed, 0)+w.delay(bad()), func() {
				if !p.away && w.epoch == epoch {
					done(r, losses)
				}
			})
		})
	}
}

var (
	errSimDown    = errors.New("connection refused")
	errSimTimeout = errors.New("timeout")
	errSimAstray  = errors.New("another registry")
)

func (w *simWorld) delay(bad bool) time.Duration {
	if bad {
		return w.upTo([]time.Duration{time.Second, 8 * time.Second, 40 * time.Second, 3 * time.Minute}[w.random.IntN(4)])
	}
	return time.Millisecond/4 + w.upTo(4*time.Millisecond)
}

func (w *simWorld) fail(format string, args ...any) {
	if w.failure == "" && strings.HasPrefix(format, w.plan.only) {
		w.failure = fmt.Sprintf(format, args...)
		w.tracef("VIOLATION %s", w.failure)
	}
}

func (w *simWorld) tracef(format string, args ...any) {
	if w.tracing {
		w.trace = append(w.trace, fmt.Sprintf("%12s  ", w.now.Round(time.Microsecond))+fmt.Sprintf(format, args...))
	}
}

// story returns the last events.
func (w *simWorld) story() string {
	return fmt.Sprintf("%+v\n%s", w.plan, strings.Join(w.trace[max(0, len(w.trace)-120):], "\n"))
}

// simSmallest returns a world with the same violation as w's, but few
// processes, if there is one nearby. Else it is w again.
func simSmallest(w *simWorld, seed uint64) *simWorld {
	plan := w.plan
	plan.only = w.failure[:2]
	try := func(seed uint64) *simWorld {
		small := newSimWorld(seed, plan)
		small.tracing = true
		small.run()
		return small
	}
	for n := range min(w.plan.procs, 8) {
		plan.procs, plan.pinned = n+1, min(w.plan.pinned, n/2)
		plan.params.Workers = min(w.plan.params.Workers, int64(n/3)+1)
		for i := range uint64(40) {
			if small := try(seed*1000 + i); small.failure != "" {
				return small
			}
		}
	}
	plan = w.plan
	return try(seed)
}

// simCounts counts events, to show that the simulation tested something.
type simCounts struct {
	processes, ids, windows, raises, losses, releases, failovers, undone int

	refused int // processes that had no number at the end of a calm, because a clock had been wrong
}

func (c *simCounts) add(o *simCounts) {
	c.processes += o.processes
	c.ids += o.ids
	c.windows += o.windows
	c.raises += o.raises
	c.losses += o.losses
	c.releases += o.releases
	c.failovers += o.failovers
	c.undone += o.undone
	c.refused += o.refused
}
