package sqlsnow

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// A simProc is a process that leases a number with the machine under test, as
// Lease does, and stamps ticks at the worst of times. After its end another
// incarnation follows.
type simProc struct {
	world  *simWorld
	name   int
	pinned bool
	pin    int64

	id      int // of the incarnation; 0 if there is none
	alive   bool
	machine *machine
	lastErr error

	// Its clocks. The monotonic one runs at rate and stands still in a suspended machine.
	rate      float64
	mono      time.Duration
	monoAt    time.Duration // true time at which it was mono
	suspended bool
	wall      time.Duration // from true time

	// What holds it up.
	paused  int
	backlog []func()
	away    bool // can't reach the database

	// The request that it waits for.
	serial  int
	waiting bool
	asked   request
	sent    reading

	// What its generator may stamp: see snow.Grant.
	open    bool
	everHad bool
	knows   bool // that the database lost its window, by a reply after the last loss
	worker  int64
	owner   string
	from    int64
	last    int64
	limit   int64
	ahead   time.Duration // of running time to the monotonic clock
	reached int64         // by ids, when running time had to go back; in microseconds
	eager   float64       // share of ids that are stamped as late as the window allows
}

func (p *simProc) start() {
	w := p.world
	w.incarnate++
	w.counts.processes++
	p.id, p.alive, p.lastErr = w.incarnate, true, nil
	p.rate, p.mono, p.monoAt, p.suspended = 1+(w.random.Float64()-0.5)/1000, w.upTo(time.Hour), w.now, false
	p.wall = w.symmetric(2 * time.Second)
	if !w.calm && w.plan.faults.wall > 0 && w.chance(0.02) {
		p.wall = w.symmetric(48 * time.Hour)
	}
	p.paused, p.backlog, p.waiting = 0, nil, false
	p.open, p.everHad, p.knows, p.last, p.reached = false, false, false, math.MinInt64, 0
	p.eager = []float64{0, 0, 0.1, 1}[w.random.IntN(4)]
	t := w.plan.terms
	m := &machine{
		terms: t, window: t.window, holder: "p", clock: vote{maxSkew: w.plan.skew},
		random: rand.New(rand.NewPCG(w.random.Uint64(), 2)),
		owner: func() string {
			if w.plan.flaws.sameOwner {
				return "everybody"
			}
			w.tenures++
			return strconv.Itoa(w.tenures)
		},
	}
	if p.pinned {
		m.pinned, m.number, m.window = true, p.pin, t.pinned
	}
	p.machine = m
	w.tracef("process %d starts as #%d, pinned %v", p.name, p.id, p.pinned)
	p.schedule()
	p.later(w.upTo(time.Second), p.stampOn)
}

func (p *simProc) read() reading {
	now := p.mono
	if !p.suspended {
		now += time.Duration(float64(p.world.now-p.monoAt) * p.rate)
	}
	r := reading{mono: now, wall: time.UnixMicro(simStart + (p.world.now + p.wall).Microseconds())}
	if p.everHad && !p.world.plan.flaws.databaseTime {
		r.running = p.running(now)
	}
	return r
}

// later does something in this incarnation, not before it is able to.
func (p *simProc) later(d time.Duration, do func()) {
	id := p.id
	p.world.after(d, func() {
		switch {
		case p.id != id || !p.alive:
		case p.paused > 0:
			p.backlog = append(p.backlog, do)
		default:
			do()
		}
	})
}

// schedule asks what the machine wants to know, when it wants to.
func (p *simProc) schedule() {
	if p.machine.step == stepOver {
		return
	}
	p.serial++
	serial := p.serial
	wait := max(0, time.Duration(float64(p.machine.at-p.read().mono)/p.rate)+time.Nanosecond)
	p.later(wait, func() {
		switch {
		case p.serial != serial || p.waiting:
		case p.read().mono < p.machine.at: // it was suspended
			p.schedule()
		default:
			p.ask()
		}
	})
}

func (p *simProc) ask() {
	p.sent = p.read()
	p.asked = p.machine.request(p.sent)
	if p.world.plan.flaws.trustsReads && p.asked.ask == askConfirm {
		p.take(reply{changed: true, us: p.machine.clock.predict(p.sent.mono)}, 0)
		p.schedule()
		return
	}
	p.await(p.asked, func(r reply, losses int) {
		p.take(r, losses)
		if p.alive {
			p.schedule()
		}
	})
}

// await sends a request, and calls done once: with the reply, or after a time.
func (p *simProc) await(q request, done func(r reply, losses int)) {
	p.serial++
	serial := p.serial
	p.waiting = true
	first := func(r reply, losses int) {
		if p.serial == serial && p.waiting {
			p.waiting = false
			done(r, losses)
		}
	}
	p.world.send(p, q, func(r reply, losses int) { p.later(0, func() { first(r, losses) }) })
	timeout := 15 * time.Second
	if p.everHad {
		timeout = max(min(renewEvery(p.machine.window)/2, 5*time.Second), 500*time.Millisecond)
	}
	p.later(timeout, func() { first(reply{err: errSimTimeout}, 0) })
}

// take lets the machine handle a reply that the database gave after that many
// losses, and does what follows: see Lease.carryOut.
func (p *simProc) take(r reply, losses int) {
	w, m := p.world, p.machine
	now := p.read()
	step := m.step
	if r.err != nil && w.plan.flaws.assumes && step == stepRenew {
		r = reply{changed: true, us: m.clock.predict(now.mono)}
	}
	told := r.row
	if step != stepUnsure && step != stepInspect && step != stepHolder {
		r.row = nil // a flaw's
	}
	if step == stepInspect && r.err == nil && losses == w.counts.failovers {
		p.look(r.row)
	}
	out := m.handle(p.asked, r, p.sent.mono, now)
	if w.plan.flaws.tellsRow && told != nil && r.changed {
		if out.open != nil {
			out.open.floor, out.open.ceiling = told.floor, told.ceiling
		}
		if out.renewed {
			m.seat.ceiling, out.raise = told.ceiling, told.ceiling
		}
	}
	if w.plan.flaws.unspaced && out.renewed {
		m.at = now.mono + time.Second
	}
	if w.plan.flaws.noWait && m.step == stepGrant {
		m.at, m.bid.ready = min(m.at, now.mono+500*time.Millisecond), 0
	}
	p.advance(&out, now)
	if out.raise != 0 && p.open {
		p.raise(out.raise)
	}
	if out.lost != nil {
		w.counts.losses++
		w.tracef("#%d lost %d: %v", p.id, p.worker, out.lost)
	}
	if out.suspend && !w.plan.flaws.deaf && (m.terms.loss == 0 || !w.plan.flaws.deafToLoss) &&
		(step != stepInspect || out.lost != nil || !w.plan.flaws.hopes) {
		w.tracef("#%d stops stamping %d", p.id, p.worker)
		w.unhold(p)
		p.open = false
	}
	if out.open != nil {
		p.begin(out.open, now)
	}
	if out.err != nil {
		p.lastErr = out.err
		if step >= stepTake { // how they wait is of no interest
			w.tracef("#%d in step %d, now %d: %v", p.id, step, m.step, out.err)
		}
	}
	switch {
	case out.fatal != nil:
		w.tracef("#%d ends: %v", p.id, out.fatal)
		p.end()
	case !p.everHad && out.err != nil && w.chance(0.2):
		p.giveUp()
	case w.chance(0.1):
		p.stamp()
	}
}

// lastWords stamps what a process may stamp just before its end.
func (p *simProc) lastWords() {
	if p.world.chance(0.5) && p.paused == 0 {
		p.stamp()
	}
}

// gone is the end of this incarnation. Another one follows.
func (p *simProc) gone() {
	p.world.unhold(p)
	p.alive, p.open = false, false
	p.world.after(p.world.upTo(30*time.Second), p.start)
}

func (p *simProc) crash() {
	if p.alive {
		p.lastWords()
		p.world.tracef("#%d crashes", p.id)
		p.gone()
	}
}

func (p *simProc) end() {
	p.lastWords()
	p.gone()
}

// leave is Lease.Close.
func (p *simProc) leave() {
	w := p.world
	if !p.alive || p.paused > 0 || p.machine.step == stepOver {
		return
	}
	if !p.everHad {
		p.giveUp()
		return
	}
	p.lastWords()
	next := max(p.last+1, 0)
	if !w.plan.flaws.afterlife {
		w.unhold(p)
		p.open = false
	}
	p.interrupt()
	q, ok := p.machine.release(uint64(next))
	if w.plan.flaws.shortRetire {
		q.next = p.from
	}
	w.tracef("#%d closes worker %d, next tick %d", p.id, q.worker, q.next)
	p.machine.step = stepOver
	if !ok {
		p.gone()
		return
	}
	w.counts.releases++
	p.finish(q, 3)
}

// interrupt ends a request that is under way: its outcome is unknown.
func (p *simProc) interrupt() {
	if p.waiting {
		p.waiting = false
		p.machine.handle(p.asked, reply{err: context.Canceled}, p.sent.mono, p.read())
	}
	p.serial++
}

// finish sends a last request up to a number of times.
func (p *simProc) finish(q request, tries int) {
	p.await(q, func(r reply, _ int) {
		if r.err == nil || tries == 1 {
			p.gone()
			return
		}
		p.finish(q, tries-1)
	})
}

// giveUp is what Acquire does when its context ends: see Lease.giveUp.
func (p *simProc) giveUp() {
	m := p.machine
	if !p.alive || p.everHad || p.paused > 0 || m.step == stepOver {
		return
	}
	step := m.step
	p.interrupt()
	if m.step == stepUnsure || step == stepTake || step == stepClaim || step == stepConfirm {
		worker, owner := m.bid.worker, m.bid.owner
		m.step = stepOver
		p.await(request{ask: askRow, worker: worker}, func(r reply, _ int) {
			if r.row == nil || r.row.owner != owner || owner == "" {
				p.gone()
				return
			}
			q := request{ask: askRelease, worker: worker, owner: owner, fence: r.row.fence, next: r.row.floor}
			if r.row.state == Claimed {
				q.ask = askAbandon
			}
			p.finish(q, 1)
		})
		return
	}
	q, ok := m.release(0)
	m.step = stepOver
	if !ok {
		p.gone()
		return
	}
	p.finish(q, 1)
}

// pause stops the process: its clock goes on, unless the machine is suspended.
func (p *simProc) pause(d time.Duration, suspend bool) {
	w := p.world
	if !p.alive || p.suspended {
		return
	}
	w.tracef("#%d stops for %v, suspended %v", p.id, d, suspend)
	p.paused++
	if suspend {
		p.mono, p.monoAt, p.suspended = p.read().mono, w.now, true
	}
	id := p.id
	w.after(d, func() {
		if p.id == id && p.alive && p.paused > 0 {
			if suspend {
				p.monoAt, p.suspended = w.now, false
			}
			p.resume()
		}
	})
}

func (p *simProc) resume() {
	w := p.world
	if p.paused--; p.paused > 0 {
		return
	}
	w.tracef("#%d goes on", p.id)
	p.stamp()
	do := p.backlog
	p.backlog = nil
	w.random.Shuffle(len(do), func(i, j int) { do[i], do[j] = do[j], do[i] })
	for _, f := range do {
		p.later(0, f)
	}
}

func (p *simProc) partition(d time.Duration) {
	if p.away {
		return
	}
	p.world.tracef("process %d is cut off for %v", p.name, d)
	p.away = true
	p.world.after(d, func() { p.away = false })
}

func (p *simProc) stepWall() {
	w := p.world
	p.wall = w.symmetric([]time.Duration{time.Second, time.Minute, 24 * time.Hour}[w.random.IntN(3)])
	w.tracef("process %d: wall clock %v off", p.name, p.wall)
}

// recover ends what holds the process up, and corrects its clock.
func (p *simProc) recover() {
	p.away, p.wall = false, p.world.symmetric(time.Second)
	if p.alive && p.paused > 0 {
		if p.suspended {
			p.monoAt, p.suspended = p.world.now, false
		}
		p.paused = 1
		p.resume()
	}
}
