package protocol

import (
	"errors"
	"iter"
	"time"
)

// SimVersions is package versioned, which imports this package.
type SimVersions struct {
	Create func(s SimStore, p Params) error
	Open   func(s SimStore, name string, mono func() time.Duration) (SimLeases, error)
}

// SimStore is what package versioned needs of a store.
type SimStore interface {
	Get(keys ...string) ([]SimEntry, error)
	List(prefix, from string, limit int) ([]SimEntry, error)
	Write(expected, puts []SimEntry) (done bool, err error)
	Now() int64
}

// SimLeases is a registry of package versioned.
type SimLeases interface {
	Params() Params
	Do(q Request) Reply
	Fence(local time.Time) error
}

// A simClient is the store as a process reaches it. Each read and each write is a message to the store and one back.
// Between the two, other messages arrive, and some are lost. The code that calls the client runs as a coroutine: it
// stands still meanwhile.
type simClient struct {
	world  *simWorld
	proc   *simProc // nil for one who is alone with the store
	leases SimLeases
	clock  func() int64

	asked  Request           // by the code that runs
	unsure []SimEntry        // of the last release, whose outcome is unknown
	us     int64             // the clock, as that code read it last
	yield  func(*simOp) bool // gives an operation to the world
	stop   func()            // ends the coroutine, if there is one
}

// A simOp is a read or a write that is under way.
type simOp struct {
	do     func(k *simKeys) simResult
	result simResult
	err    error
}

type simResult struct {
	entries []SimEntry
	done    bool
	version int64
}

var errSimGone = errors.New("the process is gone, or has stopped to wait")

// call carries out an operation. If it returns an error, the operation may have been done, or may be done later.
func (c *simClient) call(op *simOp) (simResult, error) {
	if c.proc == nil {
		return op.do(c.world.keys), nil
	}
	if !c.yield(op) {
		return simResult{}, errSimGone
	}
	return op.result, op.err
}

// lag returns how far the member is behind that serves a request.
func (c *simClient) lag(most time.Duration) time.Duration {
	if most == 0 || c.world.calm {
		return 0
	}
	return c.world.upTo(most)
}

// Get implements SimStore.
func (c *simClient) Get(keys ...string) ([]SimEntry, error) {
	w := c.world
	r, err := c.call(&simOp{do: func(k *simKeys) (r simResult) {
		behind := c.lag(k.flaws.staleReads)
		for _, key := range keys {
			r.entries = append(r.entries, k.get(key, w.now, behind))
		}
		return r
	}})
	return r.entries, err
}

// List implements SimStore.
func (c *simClient) List(prefix, from string, limit int) ([]SimEntry, error) {
	w := c.world
	r, err := c.call(&simOp{do: func(k *simKeys) simResult {
		return simResult{entries: k.list(prefix, from, limit, w.now, c.lag(k.flaws.staleReads))}
	}})
	return r.entries, err
}

// Write implements SimStore.
func (c *simClient) Write(expected, puts []SimEntry) (bool, error) {
	w, q, us, by := c.world, c.asked, c.us, 0
	if q.Ask == AskTake {
		by = c.proc.id
	}
	writer := 0
	if c.proc != nil {
		writer = c.proc.id
	}
	if q.Ask == AskRelease {
		c.unsure = puts
	}
	r, err := c.call(&simOp{do: func(k *simKeys) (r simResult) {
		k.wrote = func(before, after simKey) { w.wroteKey(k, q, writer, before, after, us) }
		r.done = k.write(expected, puts, by, w.now, c.lag(k.flaws.stale))
		r.version = k.revision
		return r
	}})
	if err == nil {
		c.unsure = nil
	}
	for i := range puts {
		puts[i].Version = r.version
	}
	return r.done, err
}

// Now implements SimStore: no clock but the process's own can be read.
func (c *simClient) Now() int64 {
	c.us = c.clock()
	return c.us
}

// open makes the namespace, if nobody has, and opens it.
func (c *simClient) open() error {
	w := c.world
	c.asked = Request{}
	if w.plan.flaws.keys.forgets || w.chance(0.3) { // as sqlsnow.Open does, or a step of a deployment
		if err := w.plan.over.Create(c, w.plan.params); err != nil {
			return err
		}
	}
	var err error
	c.leases, err = w.plan.over.Open(c, w.plan.params.Name, func() time.Duration { return c.proc.read().Mono })
	return err
}

// do carries out a request. The first one opens the namespace.
func (c *simClient) do(q Request) Reply {
	if c.leases == nil {
		if err := c.open(); err != nil {
			return Reply{Err: err, Failure: Unclear}
		}
		c.proc.machine.params.UUID = c.leases.Params().UUID
	}
	c.asked = q
	if again := c.unsure; again != nil && q.Ask == AskRelease && c.world.plan.flaws.keys.repeats {
		done, err := c.Write(nil, again)
		return Reply{Err: err, Changed: done}
	}
	return c.leases.Do(q)
}

// fence carries out Fence.
func (c *simClient) fence() error {
	if c.leases == nil {
		if err := c.open(); err != nil {
			return err
		}
	}
	c.asked = Request{}
	return c.leases.Fence(time.UnixMicro(c.clock()))
}

// abort ends what is under way. Its messages may arrive all the same.
func (c *simClient) abort() {
	if c != nil && c.stop != nil {
		c.stop()
		c.stop = nil
	}
}

// run runs do as a coroutine, and calls done after it, unless the process has stopped to wait meanwhile.
func (c *simClient) run(do func(), done func()) {
	c.abort()
	p, serial := c.proc, c.proc.serial
	next, stop := iter.Pull(func(yield func(*simOp) bool) {
		c.yield = yield
		do()
	})
	c.stop = stop
	var turn func()
	turn = func() {
		op, more := next()
		if !more {
			done()
			return
		}
		c.world.carry(p, op, func() {
			p.later(0, func() {
				if p.serial == serial && p.waiting {
					turn()
				}
			})
		})
	}
	turn()
}

// startClient gives the process a client, as a new incarnation.
func (p *simProc) startClient() {
	w := p.world
	if w.keys == nil {
		return
	}
	p.client.abort()
	p.client = &simClient{world: w, proc: p, clock: p.us}
	p.drift = 0
	if f := &w.plan.faults; !w.calm && w.plan.sane == 0 && f.wall > 0 {
		p.drift = (w.random.Float64() - 0.5) / 50
		if w.chance(0.1) {
			p.wall = w.symmetric(24 * time.Hour)
		}
	}
}

// askKeys sends a request to the store.
func (p *simProc) askKeys(q Request, done func(r Reply, losses int)) {
	var r Reply
	p.client.run(func() { r = p.client.do(q) }, func() { done(r, 0) })
}

// carry carries an operation to the store and its result back, or neither.
func (w *simWorld) carry(p *simProc, op *simOp, resume func()) {
	epoch, by, answered := w.epoch, p.id, false
	answer := func(r simResult, err error) {
		if !answered {
			answered, op.result, op.err = true, r, err
			resume()
		}
	}
	bad := func() bool { return !w.calm && w.chance(w.plan.faults.message) }
	copies := 1
	if bad() {
		copies = w.random.IntN(4)
	}
	var arrive func()
	arrive = func() {
		if w.epoch != epoch {
			return
		}
		// a message that is under way may arrive late
		if w.down || w.fencing && p.name >= 0 || p.away && p.id == by && !w.chance(0.1) {
			if w.chance(0.5) {
				w.after(w.delay(false), func() { answer(simResult{}, errSimDown) })
			}
			if w.down && w.chance(0.3) { // a leader that is none any more has passed it on, and does not know
				w.after(w.delay(true), arrive)
			}
			return
		}
		keys := w.keys
		if !w.calm && p.client.leases != nil && w.chance(w.plan.faults.astray) {
			keys = w.other // the endpoints lead to another store; a namespace that is opened there is another one
		}
		keys.expire(w.now, w.plan.params.TickAt(simStart+w.now.Microseconds()))
		r := op.do(keys)
		if bad() {
			return
		}
		w.after(w.delay(bad()), func() {
			if !p.away && w.epoch == epoch {
				answer(r, nil)
			}
		})
	}
	for range copies {
		w.after(w.delay(bad()), arrive)
	}
}

// wroteKey checks a write of a row, and may have faults follow it.
func (w *simWorld) wroteKey(k *simKeys, q Request, by int, before, after simKey, us int64) {
	worker := workerOf(after.Key)
	if k != w.keys {
		return
	}
	q.Worker = worker
	was, is := before.row(), after.row()
	if q.Ask != 0 {
		w.wrote(q, by, was, is, us)
		return
	}
	w.extend(&is, worker) // Fence, Create
	if is.Ceiling < was.Ceiling {
		w.fail("I3: the ceiling of %d is lowered from %d to %d", worker, was.Ceiling, is.Ceiling)
	}
}
