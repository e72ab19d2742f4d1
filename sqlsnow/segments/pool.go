package segments

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow"
)

// A request asks a database for count numbers.
type request struct {
	counter int
	count   int64
	modulus int64
	least   int64 // the row's next number must not be below
	most    int64 // nor above this
	contact bool  // the first request: residue and space are not known
	residue int64
	space   string
	last    int64 // Config.Last
	mark    int64 // that the take leaves in the row, below takers
}

// A reply is the answer of a database. With an error, numbers may have been taken; nobody uses them.
type reply struct {
	err     error
	busy    bool  // the error says that another statement was in the way
	start   int64 // the first number
	residue int64
	space   string
	room    int64 // with ErrExhausted: how many numbers are left, fewer than were asked for
}

// A counter is the state of a database, as the process knows it.
type counter struct {
	known   bool // its row was seen, and fits the others
	residue int64
	space   string
	least   int64 // one stride above the highest number that this process took
	mark    int64 // of that take
	room    int64 // the most to ask for, near the end; 0 is no limit
	busy    bool  // a request is under way
	since   time.Duration
	turn    uint64 // of the last request: databases take turns
	down    bool
	err     error
	fails   int
	blocked time.Duration // since when other statements are in the way; 0 if none was in the way last time
	retry   time.Duration // the earliest time of the next request

	takes, failures, regressions uint64
}

// A pool holds the numbers that were taken, and decides which database to ask for more. It does no I/O and reads no
// clock. Callers of its methods hold the lock of Segments; only current is read without it.
type pool struct {
	current atomic.Pointer[block]
	_       [128]byte

	counters []counter
	queue    []span // after current
	step     int64
	minStep  int64
	maxStep  int64
	target   time.Duration
	last     int64
	wanted   int64 // by callers that wait
	turn     uint64
	issued   int64         // of blocks that are not current any more
	measured int64         // how many were issued when the step was last compared with the load
	since    time.Duration // when that was
	random   func(time.Duration) time.Duration
}

func (p *pool) open(counters int, c Config) {
	p.counters = make([]counter, counters)
	p.step, p.minStep, p.maxStep, p.target = c.Step, c.Step, c.MaxStep, c.Target
	p.last, p.random = int64(c.Last), rand.N[time.Duration]
	p.current.Store(&block{})
}

// left returns how many numbers are at hand.
func (p *pool) left() int64 {
	n := p.current.Load().left()
	for _, s := range p.queue {
		n += s.count
	}
	return n
}

// swap makes the next span current and reports whether there was one. What is left of the former block goes to the
// front of the queue, so swap is for blocks that are used up or retired.
func (p *pool) swap() bool {
	p.retire()
	if len(p.queue) == 0 {
		return false
	}
	p.current.Store(&block{span: p.queue[0]})
	p.queue = slices.Delete(p.queue, 0, 1)
	return true
}

// retire puts the rest of the current block back into the queue.
func (p *pool) retire() {
	rest, issued := p.current.Load().retire()
	p.current.Store(&block{}) // so that nothing is counted twice
	p.issued += issued
	if rest.count > 0 {
		p.queue = slices.Insert(p.queue, 0, rest)
	}
}

// fill sets ids to numbers that ascend, or reports that there are too few.
func (p *pool) fill(ids []snow.ID) bool {
	if b := p.current.Load(); b.fill(ids) {
		return true
	}
	p.retire()
	if p.left() < int64(len(ids)) {
		p.swap()
		return false
	}
	for rest := ids; len(rest) > 0; {
		s := &p.queue[0]
		n := min(s.count, int64(len(rest)))
		s.write(rest[:n], 0)
		p.issued += n
		rest = rest[n:]
		if *s = s.cut(n); s.count == 0 {
			p.queue = slices.Delete(p.queue, 0, 1)
		}
	}
	p.swap()
	if !slices.IsSorted(ids) { // of several databases
		slices.Sort(ids)
	}
	return true
}

// adapt compares the step with the load, each time that a step of numbers was given out. Numbers that were only
// taken say nothing about the load. Of the times of one target since then, at least one had as many ids as they
// have on average, so the step is at most twice what was given out within a target.
func (p *pool) adapt(now time.Duration) {
	b := p.current.Load()
	issued := p.issued + b.count - b.left()
	used := issued - p.measured
	if used < p.step {
		return
	}
	average := used / (int64((now-p.since)/p.target) + 1)
	switch {
	case p.step <= average:
		for p.step <= average && p.step < p.maxStep {
			p.step = min(2*p.step, p.maxStep)
		}
	case p.step > 2*average+1: // 1 for what the division left out
		p.step = max(p.step/2, p.minStep)
	}
	p.measured, p.since = issued, now
}

// needs reports whether to ask for more.
func (p *pool) needs() bool {
	left := p.left()
	return left <= p.step || left < p.wanted
}

// ask returns the next request, if there is one. If not, it has to be called again at a later time; a time of 0
// means after the next event.
func (p *pool) ask(now time.Duration) (q request, ok bool, again time.Duration) {
	p.adapt(now)
	if !p.needs() {
		return q, false, 0
	}
	again = 1<<63 - 1
	best := -1
	for i := range p.counters {
		c := &p.counters[i]
		switch {
		case c.busy && now < c.since+hedgeAfter:
			return q, false, c.since + hedgeAfter
		case c.busy:
		case now < c.retry:
			again = min(again, c.retry)
		case best < 0 || c.turn < p.counters[best].turn:
			best = i
		}
	}
	if best < 0 {
		if again == 1<<63-1 {
			again = 0
		}
		return q, false, again
	}
	return p.begin(best, now), true, 0
}

// begin records that a request to a counter is under way, and returns the request.
func (p *pool) begin(i int, now time.Duration) request {
	c := &p.counters[i]
	p.turn++
	c.busy, c.since, c.turn = true, now, p.turn
	modulus := int64(len(p.counters))
	count := max(p.step, min(p.wanted-p.left(), p.maxStep))
	if c.room > 0 {
		count = min(count, c.room)
	}
	q := request{
		counter: i, count: count, modulus: modulus, least: max(c.least, 1), most: p.last - (count-1)*modulus,
		contact: !c.known, residue: c.residue, space: c.space, last: p.last, mark: rand.Int64N(takers),
	}
	if q.contact {
		q.residue = -1
	}
	return q
}

// An event is a change of a counter, for the log.
type event int

const (
	noEvent event = iota
	wentDown
	cameUp
	wentBack // its row regressed
)

// handle handles a reply.
func (p *pool) handle(q request, r reply, now time.Duration) event {
	c := &p.counters[q.counter]
	c.busy = false
	p.wanted = 0 // callers that still wait set it again
	if r.err == nil {
		r.err = p.fits(q, r)
	}
	if r.err == nil {
		p.accept(q, r)
		was := c.down
		c.down, c.err, c.fails, c.blocked, c.retry = false, nil, 0, 0, 0
		c.takes++
		if was {
			return cameUp
		}
		return noEvent
	}
	c.failures++
	var back, before *RegressedError
	wasBack := errors.As(c.err, &before)
	c.err = r.err
	switch {
	case !r.busy:
		c.blocked = 0
	case c.blocked == 0:
		c.blocked = max(now, 1)
		fallthrough
	case now-c.blocked < takeTimeout:
		c.retry = now + p.random(firstRetry)
		return noEvent
	}
	if errors.Is(r.err, ErrExhausted) && r.room > 0 {
		c.room = r.room
		return noEvent
	}
	wait := min(firstRetry<<min(c.fails, 10), longestRetry)
	c.retry = now + wait/2 + p.random(wait/2)
	c.fails++
	was := c.down
	c.down = true
	switch {
	case errors.As(r.err, &back):
		back.Database = q.counter
		p.discard(q.counter)
		if !wasBack {
			c.regressions++
			return wentBack
		}
	case !was:
		return wentDown
	}
	return noEvent
}

// fits returns an error if a reply does not fit its request, or the rows of the other databases.
func (p *pool) fits(q request, r reply) error {
	if r.start < q.least || r.start > q.most || r.residue != r.start%q.modulus || !q.contact && r.residue != q.residue {
		return fmt.Errorf("%w: %d of residue %d modulo %d is not what was asked for", ErrMismatch, r.start, r.residue, q.modulus)
	}
	if !q.contact {
		return nil
	}
	for i := range p.counters {
		switch other := &p.counters[i]; {
		case !other.known:
		case other.residue == r.residue:
			return fmt.Errorf("%w: databases %d and %d both have residue %d modulo %d", ErrMismatch, i, q.counter, r.residue, q.modulus)
		case other.space != r.space:
			return fmt.Errorf("%w: database %d is of space %q, database %d of %q", ErrMismatch, i, other.space, q.counter, r.space)
		}
	}
	return nil
}

// accept adds the numbers of a reply to the queue.
func (p *pool) accept(q request, r reply) {
	c := &p.counters[q.counter]
	c.known, c.residue, c.space = true, r.residue, r.space
	c.least, c.mark = r.start+q.count*q.modulus, q.mark
	// In two halves: when the second becomes current, it is time to ask for more.
	whole := span{counter: q.counter, first: r.start, stride: q.modulus, count: q.count}
	if half := q.count / 2; half > 0 {
		first := whole
		first.count = half
		p.queue = append(p.queue, first)
		whole = whole.cut(half)
	}
	p.queue = append(p.queue, whole)
	if p.current.Load().left() == 0 {
		p.swap()
	}
}

// discard drops the numbers of a database that other processes may have been given.
func (p *pool) discard(i int) {
	p.retire()
	p.queue = slices.DeleteFunc(p.queue, func(s span) bool { return s.counter == i })
	p.swap()
}

// hopeless returns an error if all databases are down.
func (p *pool) hopeless() error {
	var all []error
	for i := range p.counters {
		c := &p.counters[i]
		if !c.down {
			return nil
		}
		all = append(all, ofDatabase(i, c.err))
	}
	return fmt.Errorf("%w: %w", ErrEmpty, errors.Join(all...))
}
