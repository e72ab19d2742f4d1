package sqlsnow

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// A machine decides what a lease does: which statement to send when, and what
// follows from its reply. It does no I/O and reads no clock, so that the same
// code runs in a Lease, in the simulation and under fuzzing. It is not safe for
// concurrent use.
type machine struct {
	terms   terms
	pinned  bool
	number  int64         // that is pinned
	window  time.Duration // of the number, at most
	holder  string
	random  *rand.Rand
	clock   vote
	owner   func() string // a new one for each attempt
	step    step
	at      time.Duration // monotonic time of the next request
	seat    *seat         // the number whose ticks the generator stamps, if any
	bid     bid           // the attempt at another one
	parted  *seat         // that release gives back
	failed  int           // requests in a row
	crowded int           // attempts in a row that others were faster in
}

// A step is what the machine is about to ask.
type step int

const (
	stepFacts    step = iota // is the server fit, and what time is it
	stepFree                 // which numbers are free
	stepCensus               // why is none
	stepHolder               // who has the pinned one
	stepTake                 // may I have it: LossWindow 0
	stepClaim                // the same: LossWindow > 0
	stepUnsure               // did I get it
	stepConfirm              // will the database remember that I have
	stepGrant                // may I have its first window
	stepAbandon              // nothing came of the claim
	stepRenew                // may I go on
	stepInspect              // why not
	stepReassert             // the database forgot, remind it
	stepSpurn                // give back a window that is of no use
	stepOver                 // nothing more
)

// A seat is a number that this lease holds.
type seat struct {
	worker  int64
	owner   string
	fence   int64
	floor   int64
	ceiling int64 // that the database has confirmed; exclusive
	opened  bool  // the generator has it, or had
	stopped bool  // and must not stamp it until the next open
	lost    bool  // and that is told
	renewed time.Duration
}

// has says whether a row is the seat's, with a window.
func (s *seat) has(got *row) bool {
	return got != nil && got.owner == s.owner && got.fence == s.fence && got.state == Granted
}

// An outcome is what follows from a reply, for the lease to carry out.
type outcome struct {
	open    *seat // let the generator stamp it, then tell opened; keep if it can't and has another one
	suspend bool  // the generator must stop until the next open: somebody else may have its ticks
	raise   int64 // let the generator go up to this ceiling
	now     int64 // the database's time, to be taken over; 0 if unknown
	retreat int64 // running time is to go back to this one; 0 if not
	again   bool  // another renewal, at once, gets more
	lost    *LostError
	err     error // the attempt failed with it; another one follows
	fatal   error // no attempt follows
	renewed bool  // the seat
}

// renewEvery returns the time from one renewal to the next, without jitter.
func renewEvery(window time.Duration) time.Duration { return min(30*time.Second, window/3) }

func (m *machine) interval() time.Duration {
	every := renewEvery(m.window)
	if m.terms.loss > 0 {
		return m.terms.minRenew + m.jitter(m.terms.minRenew/5) // sooner is refused, and raises are bounded
	}
	return every - every/5 + m.jitter(2*every/5)
}

// jitter returns a random duration below d.
func (m *machine) jitter(d time.Duration) time.Duration {
	return time.Duration(m.random.Int64N(int64(max(d, 1))))
}

// backoff grows with the failures in a row.
func (m *machine) backoff() time.Duration {
	longest := min(2*time.Second, max(renewEvery(m.window)/2, 10*time.Millisecond))
	d := min(50*time.Millisecond<<min(m.failed, 6), longest)
	return d/4 + m.jitter(d)
}

// hurry brings the next request forward, unless it is one that must not come
// too soon.
func (m *machine) hurry(now time.Duration) {
	switch {
	case m.step == stepGrant, m.step == stepRenew && now < m.seat.renewed+m.terms.minRenew:
	default:
		m.at = min(m.at, now)
	}
}

// request returns what to ask now.
func (m *machine) request(now reading) request {
	q := request{worker: m.bid.worker, owner: m.bid.owner, fence: m.bid.fence, holder: m.holder, seen: m.bid.seen}
	q.window = m.terms.ticks(m.window)
	around := m.clock.predict(now.mono)
	q.earliest, q.latest = around-m.clock.maxSkew.Microseconds(), around+m.clock.maxSkew.Microseconds()
	if s := m.seat; s != nil && m.step >= stepRenew && m.step < stepSpurn {
		q.worker, q.owner, q.fence, q.acked = s.worker, s.owner, s.fence, s.ceiling
		q.cap = m.cap(around)
		q.window += m.lead(now)
	}
	switch m.step {
	case stepFacts:
		q.ask = askFacts
	case stepFree:
		q.ask, q.start, q.end = askFree, m.bid.start, m.terms.workers
		if m.pinned {
			q.start, q.end = m.number, m.number+1
		}
	case stepCensus:
		q.ask = askCensus
	case stepHolder:
		q.ask, q.worker = askRow, m.number
	case stepTake:
		q.ask = askTake
		q.window += m.lead(now)
		q.latest -= m.lead(now) * m.terms.layout.Tick().Microseconds() // the end of the window is as far away as ever
	case stepClaim:
		q.ask = askClaim
	case stepUnsure, stepInspect:
		q.ask = askRow
	case stepConfirm:
		q.ask, q.state, q.seen = askConfirm, m.bid.state, m.bid.ceiling
	case stepGrant:
		q.ask = askGrant
	case stepAbandon:
		q.ask = askAbandon
	case stepRenew:
		q.ask = askRenew
	case stepReassert:
		q.ask = askReassert
	case stepSpurn:
		q.ask, q.next = askRelease, m.bid.floor
	}
	return q
}

// cap returns the highest ceiling that a renewal may ask for. A database clock
// that is ahead can't move the ceiling far into the future with it. And where
// the database may lose what it confirmed, the renewals that are on their way
// at the same time, their outcome unknown, raise the ceiling once.
func (m *machine) cap(us int64) int64 {
	ceiling := m.terms.tickAt(us) + m.terms.ticks(m.window) + m.terms.ticks(m.clock.maxSkew)
	if m.terms.loss > 0 {
		ceiling = min(ceiling, m.seat.ceiling+m.terms.ticks(m.terms.raise))
	}
	return ceiling
}

// lead returns by how many ticks ids are ahead of the database's clock, which
// went back or was thought to be further than it is. Windows are that much
// longer: they count for ids, not for the database. It stays below the skew that
// Fence allows for, so no window ends later than Fence takes into account.
func (m *machine) lead(now reading) int64 {
	ahead := time.Duration(now.running-m.clock.predict(now.mono)) * time.Microsecond
	return int64(max(0, min(ahead, m.longestLead())) / m.terms.layout.Tick())
}

func (m *machine) longestLead() time.Duration { return min(m.clock.maxSkew, defaultMaxSkew) / 4 * 3 }

// handle takes the reply to the request q that was sent at the monotonic time sent.
func (m *machine) handle(q request, r reply, sent time.Duration, now reading) outcome {
	var out outcome
	if r.changed && q.ask >= askTake && q.ask <= askGrant && (r.us < q.earliest || r.us > q.latest) {
		r.err = fmt.Errorf("%w: it was done at %v, though not to be done then", ErrBadReply, time.UnixMicro(r.us).UTC())
	}
	if r.err != nil {
		m.unknown(r.err, now, &out)
		return out
	}
	if r.us != 0 {
		if err := m.clock.take(r.us, sent, now); err != nil {
			out.err = err
		} else {
			out.now = m.clock.predict(now.mono)
			// Where ids are further ahead than a longer window can make up for, they wait for the clock.
			if most := out.now + (m.longestLead() + m.window/2).Microseconds(); now.running > most {
				out.retreat = most
			}
		}
	}
	switch m.step {
	case stepFacts:
		m.search(r, now, &out)
	case stepFree:
		m.choose(r, now)
	case stepCensus:
		out.err = &NoWorkerError{
			Live: int(r.census.live), Cooling: int(r.census.all - r.census.live), EarliestFree: m.terms.timeOf(r.census.earliest),
		}
		m.seek(now, 500*time.Millisecond+m.jitter(1500*time.Millisecond))
	case stepHolder:
		m.wait(r, now, &out)
	case stepTake:
		if !r.changed {
			m.step, m.at = stepUnsure, now.mono // a proxy may have sent it twice
			break
		}
		m.bid.fence++
		floor := max(m.bid.seen, m.terms.tickAt(r.us))
		m.sit(floor, floor+q.window, now, &out)
	case stepClaim:
		if !r.changed {
			m.step, m.at = stepUnsure, now.mono
			break
		}
		m.bid.fence++
		m.stake(now)
	case stepUnsure:
		m.resolve(r, now)
	case stepConfirm:
		switch {
		case !r.changed:
			m.step, m.at = stepUnsure, now.mono+m.backoff()
		case m.bid.state == Claimed:
			m.stake(now)
		default:
			m.sit(m.bid.floor, min(m.bid.ceiling, m.bid.asked), now, &out)
		}
	case stepGrant:
		if !r.changed {
			m.step, m.at = stepUnsure, now.mono
			break
		}
		floor := max(m.bid.seen, m.terms.tickAt(r.us))
		m.sit(floor, floor+m.terms.ticks(m.terms.first), now, &out)
	case stepAbandon, stepSpurn:
		m.bid = bid{}
		m.seek(now, time.Second+m.jitter(time.Second))
	case stepRenew:
		if !r.changed {
			m.step, m.at = stepInspect, now.mono
			break
		}
		m.confirm(q, r.us, now, &out)
	case stepInspect:
		m.inspect(r, now, &out)
	case stepReassert:
		m.reasserted(r, now, &out)
	}
	return out
}

// unknown is what follows where a statement may have been done, or may not.
func (m *machine) unknown(err error, now reading, out *outcome) {
	out.err = err
	m.failed++
	if errors.Is(err, ErrNamespaceMismatch) || errors.Is(err, ErrNoNamespace) {
		m.abort(err, out)
		return
	}
	m.at = now.mono + m.backoff()
	switch m.step {
	case stepTake, stepClaim, stepGrant, stepUnsure, stepConfirm:
		m.step = stepUnsure
		if m.bid.tries++; m.bid.tries > 8 {
			m.bid = bid{}
			m.step = stepFacts
		}
	case stepFacts, stepFree, stepCensus, stepHolder, stepAbandon, stepSpurn:
		m.step = stepFacts
	case stepRenew, stepInspect, stepReassert: // again
		if m.step == stepInspect {
			m.step = stepRenew
		}
	}
}

// abort ends the machine where there is no way back.
func (m *machine) abort(err error, out *outcome) {
	m.step, out.fatal = stepOver, err
}

// seek starts an attempt at a number after a while.
func (m *machine) seek(now reading, after time.Duration) {
	m.step, m.at = stepFacts, now.mono+after
}

// temporary reports whether an attempt at a number that failed with err is
// worth another one while somebody waits for it in Acquire.
func (m *machine) temporary(e *engine, err error) bool {
	var held *HeldError
	var failed *DatabaseError
	switch {
	case err == nil, errors.As(err, &held):
		return true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.Is(err, ErrReadOnly), errors.Is(err, ErrBadReply):
		return false // giveUp looks whether it has the number
	case e.isBusy(err):
		return m.failed < 30
	case m.bid.owner != "" && errors.As(err, &failed):
		return true // it may have the number
	}
	return false
}
