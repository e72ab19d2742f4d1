package protocol

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// addKeys makes the stores, with a namespace in each.
func (w *simWorld) addKeys() {
	if w.plan.over == nil {
		return
	}
	for range 2 {
		w.other, w.keys = w.keys, newSimKeys(&w.plan)
		if err := w.plan.over.Create(w.alone(0), w.plan.params); err != nil {
			w.fail("create: %v", err)
		}
		w.keys.log = nil
	}
}

// alone returns a client of one who is alone with the store, and whose clock is off by that much.
func (w *simWorld) alone(off time.Duration) *simClient {
	return &simClient{world: w, clock: func() int64 { return simStart + (w.now + off).Microseconds() }}
}

// changeLeader has the store answer nothing for a while. Some messages are executed after that, and nobody is told.
func (w *simWorld) changeLeader() {
	if w.calm || w.down {
		return
	}
	w.outage(w.upTo([]time.Duration{time.Second, 5 * time.Second, 20 * time.Second}[w.random.IntN(3)]))
}

// compact has the store forget the history of its keys.
func (w *simWorld) compact() {
	w.tracef("COMPACTION up to revision %d", w.keys.revision)
	w.keys.compacted = w.keys.revision
}

// restoreKeys puts back a snapshot. Nobody reaches the store before Fence has returned.
func (w *simWorld) restoreKeys(age time.Duration) {
	n := w.keys.lose(w.now - age)
	w.epoch++
	w.tracef("SNAPSHOT of %v ago put back, without %d writes", age, n)
	if w.plan.flaws.keys.noFence {
		return
	}
	w.fencing = true
	w.fenceKeys(func() { w.fencing = false })
}

// fenceKeys is Fence, in a process whose clock is as right as any other's. It is repeated until it succeeds.
func (w *simWorld) fenceKeys(done func()) {
	w.incarnate++
	f := &simProc{world: w, name: -1, id: w.incarnate, alive: true, waiting: true, rate: 1, wall: w.symmetric(w.plan.sane)}
	f.client = &simClient{world: w, proc: f, clock: f.us}
	w.fencers = append(w.fencers, f)
	w.tracef("#%d begins Fence; its clock is %v off", f.id, f.wall)
	w.fenceOnce(f, done)
}

func (w *simWorld) fenceOnce(f *simProc, done func()) {
	f.serial++
	serial, over := f.serial, false
	again := func() {
		if f.serial == serial && !over {
			w.fenceOnce(f, done)
		}
	}
	var err error
	f.client.run(func() { err = f.client.fence() }, func() {
		if err != nil {
			w.tracef("#%d: Fence: %v", f.id, err)
			w.after(time.Second, again)
			return
		}
		over = true
		w.tracef("#%d ends Fence", f.id)
		done()
	})
	w.after(15*time.Second, again)
}

// restKeys checks, at the end of a calm, that nobody waits for a number that is free. A process whose ids are ahead of
// all clocks, because its own clock was, may wait for them.
func (w *simWorld) restKeys() {
	t := &w.plan.params
	now := t.TickAt(simStart + (w.now - 3*time.Second).Microseconds()) // clocks are off by up to a second
	for _, name := range w.keys.names {
		row := w.keys.entries[name].row()
		free := row.State == Granted && now >= row.Ceiling || row.State == Free && row.Ceiling <= now+t.Ticks(Slack)
		if !strings.HasPrefix(name, "workers/") || !free {
			continue
		}
		for _, p := range w.procs {
			switch {
			case !p.alive || p.pinned && workerOf(name) != p.pin || p.open && p.limit > now:
			case errors.As(p.lastErr, new(*ClockError)):
				w.counts.refused++
			default:
				w.fail("L1: process %d has no window while %s is free; it is at step %q with %v", p.name, name, p.machine.step, p.lastErr)
			}
		}
	}
}

// workerOf returns the worker number in a key, or -1.
func workerOf(key string) int64 {
	digits, ok := strings.CutPrefix(key, "workers/n/")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil {
		return -1
	}
	return n
}

// simDrawVersions draws a world of a store of keys from a seed.
func simDrawVersions(seed uint64, over *SimVersions) simPlan {
	p := simDraw(seed, false)
	r := rand.New(rand.NewPCG(seed, 3))
	every := func(d time.Duration) time.Duration { return d * time.Duration(r.IntN(2)*(1+r.IntN(8))) / 2 }
	p.over = over
	p.make(0)
	f := &p.faults
	// Nobody reads the store's clock, and a majority has what it confirms.
	f.step, f.jump, f.walk, f.stall, f.power = 0, 0, 0, 0, 0
	f.leader, f.compact = every(30*time.Second), every(30*time.Second)
	return p
}

// goOn is the flaw goesOn.
func (p *simProc) goOn(r Reply) {
	if r.Err == nil || p.last == math.MinInt64 {
		p.gone()
		return
	}
	w := p.world
	p.open = true
	w.holders[p.worker] = append(w.holders[p.worker], p)
	w.clash(p)
	p.later(w.plan.params.Window, p.gone)
}

// SimulateVersions runs worlds of a store of keys, of random seeds, for a while. plant changes their plans.
func SimulateVersions(t *testing.T, over *SimVersions, plant func(p *simPlan)) {
	t.Helper()
	budget := testscale.Of(time.Second, 30*time.Second)
	if *simTime != 0 {
		budget = *simTime
	}
	var sum simCounts
	seed := max(*simSeed, 1)
	for begin := time.Now(); ; seed++ {
		plan := simDrawVersions(seed, over)
		plant(&plan)
		w := newSimWorld(seed, plan)
		w.tracing = *simSeed != 0
		if w.run(); w.failure != "" {
			t.Fatalf("-sim.seed=%d: %s\n%s", seed, w.failure, simSmallest(w, seed).story())
		}
		sum.add(&w.counts)
		if time.Since(begin) >= budget || *simSeed != 0 {
			break
		}
	}
	t.Logf("up to seed %d: %+v", seed, sum)
}

// Faithful leaves a plan as it was drawn.
func Faithful(*simPlan) {}

// StaleReads has members answer reads that lag behind.
func StaleReads(p *simPlan) {
	p.flaws.keys.staleReads, p.rests = 20*time.Second, false
}

// Keen has few processes for one number, and a fault after every other write.
func Keen(p *simPlan) {
	p.rests, p.procs, p.pinned, p.params.Workers = false, 2+p.procs%3, 0, 1
	p.faults = simFaults{
		message: p.faults.message, hunt: 0.5, wall: p.faults.wall, restore: p.faults.restore, fence: p.faults.fence,
		stop: 20 * time.Second, partition: 20 * time.Second, leave: 10 * time.Second, leader: 30 * time.Second, compact: 30 * time.Second,
	}
}
