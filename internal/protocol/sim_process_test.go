package protocol

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// A simProc is a process that leases a number with the machine under test, as
// a Lease does, and uses ticks at the worst of times. After its end another
// incarnation follows.
type simProc struct {
	world  *simWorld
	name   int
	pinned bool
	pin    int64

	id      int // of the incarnation; 0 if there is none
	alive   bool
	machine *Machine
	lastErr error

	// Its clocks. The monotonic one runs at rate and stands still in a suspended machine.
	rate      float64
	mono      time.Duration
	monoAt    time.Duration // true time at which it was mono
	suspended bool
	wall      time.Duration // from true time
	drift     float64       // of the wall clock: how much it gains in a unit of true time
	client    *simClient    // of the store, if there is one in place of the tables

	// Why it can't go on.
	paused  int
	backlog []func()
	away    bool // can't reach the database

	// The request that it waits for.
	serial  int
	waiting bool
	asked   Request
	sent    Reading

	// What its generator may use: see snow.Grant.
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
	resumes int64         // the running time when ids go on after that
	eager   float64       // share of ids that are used as late as the window allows
}

func (p *simProc) start() {
	w := p.world
	w.incarnate++
	w.counts.processes++
	p.id, p.alive, p.lastErr = w.incarnate, true, nil
	p.rate, p.mono, p.monoAt, p.suspended = 1+(w.random.Float64()-0.5)/1000, w.upTo(time.Hour), w.now, false
	p.wall = w.symmetric(2 * time.Second)
	switch sane := w.plan.sane; {
	case !w.calm && sane > 0:
		p.wall = w.symmetric(sane)
	case !w.calm && w.plan.faults.wall > 0 && w.chance(0.02):
		p.wall = w.symmetric(48 * time.Hour)
	}
	p.startClient()
	p.paused, p.backlog, p.waiting = 0, nil, false
	p.open, p.everHad, p.knows, p.last, p.reached, p.resumes = false, false, false, math.MinInt64, 0, 0
	p.eager = []float64{0, 0, 0.1, 1}[w.random.IntN(4)]
	t := w.plan.params
	m := &Machine{
		params: t, window: t.Window, holder: "p", clock: serverClock{maxSkew: w.plan.skew},
		random: rand.New(rand.NewPCG(w.random.Uint64(), 2)),
		owner: func() string {
			if w.plan.flaws.sameOwner {
				return "everybody"
			}
			w.owners++
			return strconv.Itoa(w.owners)
		},
	}
	if p.pinned {
		m.pinned, m.number, m.window = true, p.pin, t.Pinned
	}
	p.machine = m
	w.tracef("process %d starts as #%d, pinned %v", p.name, p.id, p.pinned)
	p.schedule()
	p.later(w.upTo(time.Second), p.keepUsing)
}

func (p *simProc) read() Reading {
	now := p.mono
	if !p.suspended {
		now += time.Duration(float64(p.world.now-p.monoAt) * p.rate)
	}
	r := Reading{Mono: now, Wall: time.UnixMicro(p.us())}
	if p.everHad && !p.world.plan.flaws.databaseTime {
		r.Running = p.running(now)
	}
	return r
}

// us returns the wall clock.
func (p *simProc) us() int64 {
	return simStart + (p.world.now + p.wall + time.Duration(p.drift*float64(p.world.now))).Microseconds()
}

// later does something in this incarnation, as soon as the process runs.
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

// schedule sends the machine's next request when it is due.
func (p *simProc) schedule() {
	if p.machine.Over() {
		return
	}
	p.serial++
	serial := p.serial
	wait := max(0, time.Duration(float64(p.machine.at-p.read().Mono)/p.rate)+time.Nanosecond)
	p.later(wait, func() {
		switch {
		case p.serial != serial || p.waiting:
		case p.read().Mono < p.machine.at: // it was suspended
			p.schedule()
		default:
			p.ask()
		}
	})
}

func (p *simProc) ask() {
	p.sent = p.read()
	p.asked = p.machine.Request(p.sent)
	if p.world.plan.flaws.trustsReads && p.asked.Ask == AskConfirm {
		p.receive(Reply{Changed: true, Now: p.machine.clock.predict(p.sent.Mono)}, 0)
		p.schedule()
		return
	}
	p.await(p.asked, func(r Reply, losses int) {
		p.receive(r, losses)
		if p.alive {
			p.schedule()
		}
	})
}

// await sends a request, and calls done once: with the Reply, or after a time.
func (p *simProc) await(q Request, done func(r Reply, losses int)) {
	p.serial++
	serial := p.serial
	p.waiting = true
	first := func(r Reply, losses int) {
		if p.serial == serial && p.waiting {
			p.waiting = false
			done(r, losses)
		}
	}
	p.world.send(p, q, func(r Reply, losses int) { p.later(0, func() { first(r, losses) }) })
	timeout := 15 * time.Second
	if p.everHad {
		timeout = p.machine.Timeout()
	}
	p.later(timeout, func() { first(Reply{Err: errSimTimeout}, 0) })
}

// receive lets the machine handle a reply, and carries out the outcome: see
// Lease.carryOut in package sqlsnow. losses is how often the database had lost
// history when it replied.
func (p *simProc) receive(r Reply, losses int) {
	w, m := p.world, p.machine
	now := p.read()
	step := m.step
	if r.Err != nil && w.plan.flaws.assumes && step == renew {
		r = Reply{Changed: true, Now: m.clock.predict(now.Mono)}
	}
	shown := r.Row
	if step != readAttempt && step != readHolding && step != readPinned {
		r.Row = nil // a flaw's
	}
	if step == readHolding && r.Err == nil && losses == w.counts.failovers {
		p.look(r.Row)
	}
	out := m.Handle(p.asked, r, p.sent.Mono, now)
	if w.plan.flaws.tellsRow && shown != nil && r.Changed {
		if out.Open != nil {
			out.Open.Floor, out.Open.Ceiling = shown.Floor, shown.Ceiling
		}
		if out.Renewed {
			m.holding.Ceiling, out.Raise = shown.Ceiling, shown.Ceiling
		}
	}
	if w.plan.flaws.unspaced && out.Renewed {
		m.at = now.Mono + time.Second
	}
	if w.plan.flaws.noWait && m.step == beginWindow {
		m.at, m.attempt.ready = min(m.at, now.Mono+500*time.Millisecond), 0
	}
	p.advance(&out, now)
	if w.plan.flaws.follows {
		m.clock.agreed, m.clock.agreedAt = time.UnixMicro(m.clock.us), m.clock.at
	}
	if clock := (now.Mono + p.ahead).Microseconds(); p.everHad {
		if !w.plan.flaws.silent {
			m.Report(&out, now, p.running(now.Mono), clock < p.resumes)
		}
		if p.eager == 0 && out.Renewed && out.Err == nil && p.last > m.params.TickAt(clock)+m.params.Ticks(simMaxAhead)+1 {
			w.fail("L3: #%d is renewed without an error, but ids wait: the last one has tick %d at tick %d", p.id, p.last, m.params.TickAt(clock))
		}
	}
	if out.Raise != 0 && p.open {
		p.raise(out.Raise)
	}
	if out.Lost != nil {
		w.counts.losses++
		w.tracef("#%d lost %d: %v", p.id, p.worker, out.Lost)
	}
	if out.Suspend && !w.plan.flaws.deaf && (m.params.Loss == 0 || !w.plan.flaws.deafToLoss) &&
		(step != readHolding || out.Lost != nil || !w.plan.flaws.hopes) {
		w.tracef("#%d stops using %d", p.id, p.worker)
		w.unhold(p)
		p.open = false
	}
	if out.Open != nil {
		p.begin(out.Open, now)
	}
	if out.Err != nil {
		p.lastErr = out.Err
		switch step {
		case readServer, findFree, takeCensus, readPinned: // how they wait is of no interest
		default:
			w.tracef("#%d: %v, then %v: %v", p.id, step, m.step, out.Err)
		}
	}
	switch {
	case out.Fatal != nil:
		w.tracef("#%d ends: %v", p.id, out.Fatal)
		p.end()
	case !p.everHad && out.Err != nil && w.chance(0.2):
		p.giveUp()
	case w.chance(0.1):
		p.use()
	}
}

// lastWords uses ticks that a process may still use just before its end.
func (p *simProc) lastWords() {
	if p.world.chance(0.5) && p.paused == 0 {
		p.use()
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
	if !p.alive || p.paused > 0 || p.machine.Over() {
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
	q, ok := p.machine.Release(uint64(next))
	if w.plan.flaws.shortRetire {
		q.Next = p.from
	}
	w.tracef("#%d closes worker %d, next tick %d", p.id, q.Worker, q.Next)
	p.machine.step = over
	if !ok {
		p.gone()
		return
	}
	w.counts.releases++
	if w.plan.flaws.goesOn {
		p.await(q, func(r Reply, _ int) { p.goOn(r) })
		return
	}
	p.finish(q, 3)
}

// interrupt ends a request that is under way: its outcome is unknown.
func (p *simProc) interrupt() {
	if p.waiting {
		p.waiting = false
		p.machine.Handle(p.asked, Reply{Err: context.Canceled}, p.sent.Mono, p.read())
	}
	p.serial++
}

// finish sends a last Request up to a number of times.
func (p *simProc) finish(q Request, tries int) {
	p.await(q, func(r Reply, _ int) {
		if r.Err == nil || tries == 1 {
			p.gone()
			return
		}
		p.finish(q, tries-1)
	})
}

// giveUp is what Acquire does when its context ends: see giveUp in package sqlsnow.
func (p *simProc) giveUp() {
	m := p.machine
	if !p.alive || p.everHad || p.paused > 0 || m.step == over {
		return
	}
	p.interrupt()
	q, ok := m.GiveUp()
	switch {
	case !ok:
		p.gone()
	case q.Ask == AskRow:
		p.await(q, func(r Reply, _ int) {
			if q, ok := m.Free(r.Row); ok {
				p.finish(q, 1)
			} else {
				p.gone()
			}
		})
	default:
		p.finish(q, 1)
	}
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
		p.mono, p.monoAt, p.suspended = p.read().Mono, w.now, true
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
	p.use()
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
	if w.plan.sane > 0 {
		p.wall = w.symmetric(w.plan.sane)
	}
	w.tracef("process %d: wall clock %v off", p.name, p.wall)
}

// recover ends what holds the process up, and corrects its clock.
func (p *simProc) recover() {
	p.away, p.wall, p.drift = false, p.world.symmetric(time.Second), 0
	if p.alive && p.paused > 0 {
		if p.suspended {
			p.monoAt, p.suspended = p.world.now, false
		}
		p.paused = 1
		p.resume()
	}
}
