package segments

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/eventqueue"
	"github.com/shardsnow/snow/internal/testkit/testscale"
)

var (
	simSeed = flag.Uint64("sim.seed", 0, "simulate this seed only")
	simTime = flag.Duration("sim.time", 0, "how long to simulate; 0 is a second, or longer where tests may take long")
)

var (
	errSimDown    = errors.New("connection refused")
	errSimTimeout = errors.New("timeout")
)

// A simDatabase is a row, with the semantics of updateTake.
type simDatabase struct {
	modulus, residue, state, next, takes int64
	down                                 bool
	epoch                                int           // of the server: messages to and from former ones are lost
	stalled, durable                     time.Duration // until when no write becomes durable; when the last one is
	log                                  []simUndo
	backup, backupTakes                  int64
	highest                              int64 // that was ever taken
}

type simUndo struct {
	durable     time.Duration
	next, takes int64
}

type simProc struct {
	pool     *pool
	life     int
	short    bool // is given one database less
	lastTake map[int]reply
	lastAsk  map[int]request
	old      []*block
	issuedOf map[int64]snow.ID // the last of each residue
	most     int64             // the highest step
	wanted   int64
	given    []simGiven // within the last target
	busiest  int64      // the most that were given out within a target
	came     time.Duration
}

type simGiven struct {
	at time.Duration
	n  int
}

type sim struct {
	plan      simPlan
	random    *rand.Rand
	now       time.Duration
	queue     eventqueue.Queue
	databases []*simDatabase
	procs     []*simProc
	issued    map[snow.ID]bool
	highest   []int64 // of them, by residue
	calm      bool
	failure   string
	takes     int
	mostLeft  float64 // in steps
	restored  bool
	returned  int // how often numbers were given back
}

func newSim(seed uint64, plan simPlan) *sim {
	w := &sim{plan: plan, random: rand.New(rand.NewPCG(seed, 8)), issued: map[snow.ID]bool{}, highest: make([]int64, plan.databases)}
	for i := range plan.databases {
		d := &simDatabase{modulus: int64(plan.databases), residue: int64(i), state: stateOpen}
		if plan.overlap && i == 1 {
			d.residue = 0
		}
		if plan.overlap && !plan.flaws.unfit {
			d.state = stateNew // as prepare leaves them
		}
		d.next = d.modulus + d.residue
		d.backup = d.next
		w.databases = append(w.databases, d)
	}
	for i := range plan.procs {
		p := &simProc{short: plan.otherN && i == 0}
		w.procs = append(w.procs, p)
		w.start(p)
	}
	return w
}

func (w *sim) after(d time.Duration, do func()) {
	w.queue.Add(w.now+d, do)
}

func (w *sim) upTo(d time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(d) + 1))
}
func (w *sim) bad() bool { return !w.calm && w.random.Float64() < w.plan.message }

func (w *sim) repeat(every time.Duration, do func()) {
	if every == 0 {
		return
	}
	w.after(time.Duration(w.random.ExpFloat64()*float64(every)), func() {
		if !w.calm {
			do()
			w.repeat(every, do)
		}
	})
}

// start begins a process with nothing in its memory, which asks all databases first.
func (w *sim) start(p *simProc) {
	p.life++
	n := w.plan.databases
	if p.short {
		n--
	}
	p.pool = &pool{}
	p.pool.open(n, Config{Step: w.plan.step, MaxStep: w.plan.maxStep, Target: w.plan.target, Last: highestID})
	p.pool.random = func(d time.Duration) time.Duration { return w.upTo(d) }
	p.lastTake, p.lastAsk, p.issuedOf = map[int]reply{}, map[int]request{}, map[int64]snow.ID{}
	p.old, p.most, p.wanted, p.given, p.busiest, p.came = nil, 0, 0, nil, 0, w.now
	life := p.life
	for i := range n {
		w.send(p, p.pool.begin(i, w.now), true)
	}
	var use func()
	use = func() {
		if p.life != life {
			return
		}
		w.use(p)
		w.after(w.upTo(10*time.Millisecond), use)
	}
	w.after(0, use)
}

// use gives out some ids, one at a time or many.
func (w *sim) use(p *simProc) {
	before := p.pool.current.Load()
	ids := make([]snow.ID, 1+w.random.IntN(12))
	if w.random.IntN(2) == 0 {
		ids = ids[:1]
		b := before
		if w.plan.flaws.stale && len(p.old) > 0 && w.random.IntN(2) == 0 {
			b = p.old[len(p.old)-1] // as a goroutine that loaded it a while ago
		}
		if i := b.reserved.Add(1) - 1; i < b.count || w.plan.flaws.unbound && b.count > 0 && i < b.count+3 {
			w.issue(p, snow.ID(b.first+i*b.stride))
			return
		}
	}
	if p.pool.fill(ids) {
		w.issue(p, ids...)
	} else {
		p.pool.wanted = max(p.pool.wanted, int64(len(ids)))
		p.wanted = max(p.wanted, int64(len(ids)))
	}
	if now := p.pool.current.Load(); w.plan.flaws.stale && now != before && before.count > 0 {
		kept := &block{span: before.span}
		kept.reserved.Store(before.count / 2)
		p.old = append(p.old, kept)
	}
	w.pump(p)
}

func (w *sim) issue(p *simProc, ids ...snow.ID) {
	if !slices.IsSorted(ids) {
		w.fail("S2: a Fill does not ascend: %d", ids)
	}
	p.given = append(p.given, simGiven{w.now, len(ids)})
	for w.now-p.given[0].at > w.plan.target {
		p.given = p.given[1:]
	}
	within := int64(0)
	for _, g := range p.given {
		within += int64(g.n)
	}
	p.busiest = max(p.busiest, within)
	for _, id := range ids {
		if w.issued[id] {
			w.fail("S1: %d was made twice", id)
		}
		w.issued[id] = true
		high := &w.highest[int64(id)%int64(len(w.highest))]
		*high = max(*high, int64(id))
		residue := int64(id) % int64(len(p.pool.counters))
		if id <= p.issuedOf[residue] {
			w.fail("S2: %d after %d in one process", id, p.issuedOf[residue])
		}
		p.issuedOf[residue] = id
	}
}

// pump lets a process send its requests.
func (w *sim) pump(p *simProc) {
	p.most = max(p.most, p.pool.step)
	// A crash skips at most two steps, the first blocks, and the blocks on their way from slow databases, also to a
	// Fill that waits.
	left, bound := p.pool.left(), 2*p.most+int64(len(p.pool.counters))*(p.most+w.plan.step+p.wanted)
	w.mostLeft = max(w.mostLeft, float64(left)/float64(p.most))
	if left > bound {
		w.fail("S3: %d numbers are at hand, want %d at most", left, bound)
	}
	if most := max(w.plan.step, 2*p.busiest); p.pool.step > most {
		w.fail("S5: the step is %d, want %d at most: %d were given out in the busiest %v", p.pool.step, most, p.busiest, w.plan.target)
	}
	for {
		q, ok, again := p.pool.ask(w.now)
		if !ok {
			if life := p.life; again > w.now {
				w.after(again-w.now, func() {
					if p.life == life {
						w.pump(p)
					}
				})
			}
			return
		}
		w.send(p, q, false)
	}
}

// send carries a question to a database, and an answer back or an error after a while.
func (w *sim) send(p *simProc, q request, opening bool) {
	d, life := w.databases[q.counter], p.life
	if q.contact && !w.plan.flaws.noFloor { // the tables have all ids that were given out
		if q.modulus == d.modulus {
			q.least = max(q.least, w.highest[d.residue]+1)
		}
	}
	answered := false
	answer := func(r reply) {
		if answered || p.life != life {
			return
		}
		answered = true
		w.heard(p, q, r, opening)
	}
	w.after(takeTimeout, func() {
		r := reply{err: errSimTimeout}
		if w.plan.flaws.trusts && !d.down {
			r = reply{start: d.next - q.count*q.modulus, residue: d.residue}
		}
		answer(r)
	})
	copies := 1
	if w.bad() {
		copies = w.random.IntN(3)
	}
	epoch := d.epoch
	for range copies {
		w.after(w.delay(), func() {
			if d.epoch != epoch {
				return
			}
			if d.down {
				w.after(w.delay(), func() { answer(reply{err: errSimDown}) })
				return
			}
			r, durable := w.take(d, q)
			if w.bad() {
				return
			}
			w.after(max(durable-w.now, 0)+w.delay(), func() {
				if d.epoch == epoch {
					answer(r)
				}
			})
		})
	}
}

func (w *sim) delay() time.Duration {
	if w.bad() {
		return w.upTo(7 * time.Second)
	}
	return w.upTo(time.Millisecond)
}

// take is updateTake, and what follows if it changes nothing.
func (w *sim) take(d *simDatabase, q request) (reply, time.Duration) {
	f := &w.plan.flaws
	back := &RegressedError{Next: snow.ID(d.next)}
	switch {
	case d.modulus != q.modulus && !f.anyN || !q.contact && d.residue != q.residue && !f.anyN:
		return reply{err: ErrMismatch}, 0
	case d.state == stateNew:
		return reply{err: errNotSealed}, 0
	case d.state != stateOpen:
		return reply{err: back}, 0
	case d.next < q.least && !f.backwards:
		if d.state, d.takes = stateFenced, d.takes+1; !w.restored {
			w.fail("S6: the row is at %d, below %d, though no database was restored", d.next, q.least)
		}
		return reply{err: back}, 0
	}
	start := d.next
	span := q.count * q.modulus
	if f.short {
		span -= q.modulus
	}
	d.durable = max(d.durable, d.stalled, w.now)
	d.log = append(d.log, simUndo{d.durable, d.next, d.takes})
	if len(d.log) > 1000 {
		d.log = d.log[500:]
	}
	if f.split {
		w.after(w.upTo(2*time.Millisecond), func() { d.next = max(d.next, start+span) })
	} else {
		d.next = start + span
	}
	d.takes += takers - d.takes%takers + q.mark
	d.highest = max(d.highest, start+q.count*q.modulus)
	w.takes++
	durable := d.durable
	if f.early {
		durable = 0
	}
	residue := d.residue
	if f.anyN {
		residue = start % q.modulus
	}
	return reply{start: start, residue: residue}, durable
}

// heard lets a process handle an answer.
func (w *sim) heard(p *simProc, q request, r reply, opening bool) {
	f := &w.plan.flaws
	if r.err == nil {
		if f.anyN && !q.contact {
			r.residue = q.residue
		}
		p.lastTake[q.counter], p.lastAsk[q.counter] = r, q
		if f.hasty && !opening && w.now-p.came < w.plan.target {
			p.pool.step = min(2*p.pool.step, p.pool.maxStep)
		}
		p.came = w.now
	} else if last, ok := p.lastTake[q.counter]; f.again && ok {
		p.pool.counters[q.counter].busy = false
		p.pool.accept(p.lastAsk[q.counter], last)
		w.pump(p)
		return
	}
	if r.err == nil && (f.unfit || f.backwards || f.trusts || f.anyN) {
		p.pool.counters[q.counter].busy = false
		p.pool.accept(q, r)
	} else {
		p.pool.handle(q, r, w.now)
	}
	if !opening {
		w.pump(p)
	}
}

func (w *sim) fail(format string, args ...any) {
	if w.failure == "" {
		w.failure = fmt.Sprintf(format, args...)
	}
}

func (w *sim) until(end time.Duration) {
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

func (w *sim) run() string {
	any := func() *simDatabase { return w.databases[w.random.IntN(len(w.databases))] }
	f := &w.plan
	w.repeat(f.crash, func() {
		p := w.procs[w.random.IntN(len(w.procs))]
		if w.random.IntN(2) == 0 {
			w.stop(p)
		}
		w.start(p)
	})
	w.repeat(f.outage, func() {
		d := any()
		d.down = true
		w.after(w.upTo(8*time.Second), func() { d.down = false })
	})
	w.repeat(f.stall, func() { d := any(); d.stalled = w.now + w.upTo(time.Second) })
	w.repeat(f.power, func() { // what is not durable is lost, and with it the answers
		d := any()
		d.epoch++
		for len(d.log) > 0 && d.log[len(d.log)-1].durable > w.now {
			d.next, d.takes = d.log[len(d.log)-1].next, d.log[len(d.log)-1].takes
			d.log = d.log[:len(d.log)-1]
		}
		d.stalled, d.durable = 0, 0
	})
	w.repeat(f.restore, func() {
		d := any()
		d.epoch++
		d.log, d.stalled, d.durable = nil, 0, 0
		w.restored = true
		if d.backup < d.next {
			d.next, d.backup, d.takes, d.backupTakes = d.backup, d.next, d.backupTakes, d.takes
		}
		if !w.plan.alone {
			w.raise(d)
		}
	})
	w.until(5 * time.Second)
	w.calm = true
	for _, d := range w.databases {
		d.down = false
		if d.state != stateNew { // it may have gone back, and nobody may have found out yet
			w.raise(d)
		}
	}
	w.until(w.now + 10*time.Second)
	before := len(w.issued)
	w.until(w.now + time.Second)
	if w.failure == "" && len(w.issued) == before && !f.otherN && !f.overlap {
		w.fail("S4: no ids in a calm: %v", w.procs[0].pool.hopeless())
	}
	return w.failure
}

// raise is Raise.
func (w *sim) raise(d *simDatabase) {
	above := d.highest
	if w.plan.flaws.lowRaise {
		above = slices.Max(w.highest)
	}
	d.next = max(d.next, above+1+((d.residue-(above+1))%d.modulus+d.modulus)%d.modulus)
	d.takes++
	if d.state == stateFenced {
		d.state = stateOpen
	}
}

// TestSimulationOfSegments runs worlds of random seeds.
func TestSimulationOfSegments(t *testing.T) {
	budget := testscale.Of(time.Second, 30*time.Second)
	if *simTime != 0 {
		budget = *simTime
	}
	seed, issued, takes, most := max(*simSeed, 1), 0, 0, 0.0
	for begin := time.Now(); ; seed++ {
		w := newSim(seed, drawPlan(seed))
		if failure := w.run(); failure != "" {
			t.Fatalf("-sim.seed=%d: %s\n%+v", seed, failure, w.plan)
		}
		issued, takes, most = issued+len(w.issued), takes+w.takes, max(most, w.mostLeft)
		if *simSeed != 0 || time.Since(begin) > budget {
			break
		}
	}
	t.Logf("up to seed %d: %d ids, %d takes, at most %.1f steps at hand", seed, issued, takes, most)
}
