package protocol

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/shardsnow/snow/sqlsnow/internal/dberrors"
)

// A Machine decides what a lease does: which statement to send when, and what
// follows from its reply. It does no I/O and reads no clock, so that the same
// code runs in a lease, in the simulation and under fuzzing. It is not safe for
// concurrent use.
//
// Its user calls Request when the time At has come, sends the request, and
// calls Handle with the reply, until Over.
type Machine struct {
	params  Params
	pinned  bool
	number  int64         // that is pinned
	window  time.Duration // of the number, at most
	holder  string
	random  *rand.Rand
	clock   serverClock
	owner   func() string // a new one for each attempt
	step    step
	at      time.Duration // monotonic time of the next request
	holding *Holding      // the number whose ticks the generator uses, if any
	attempt attempt       // at another number
	parted  *Holding      // the holding that Release gives back
	failed  int           // requests in a row
	crowded int           // attempts in a row that others were faster in
	late    int           // requests without a reply in time, less the others
}

// NewMachine returns a machine that leases a number of a namespace for a
// holder: the number that pinned points to, or any if it is nil.
func NewMachine(p Params, pinned *uint64, holder string, maxSkew time.Duration) *Machine {
	m := &Machine{
		params: p, window: p.Window, holder: holder, owner: NewOwner,
		random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), clock: serverClock{maxSkew: maxSkew},
	}
	if pinned != nil {
		m.pinned, m.number, m.window = true, int64(*pinned), p.Pinned
	}
	return m
}

// At returns the monotonic time from which on the next request may be sent.
func (m *Machine) At() time.Duration { return m.at }

// Over reports whether there is nothing more to ask.
func (m *Machine) Over() bool { return m.step == over }

// Holds reports whether a number is held and its next request is a renewal.
func (m *Machine) Holds() bool { return m.step == renew }

// Holding returns the number that is held, or nil.
func (m *Machine) Holding() *Holding { return m.holding }

// Predict returns the database's time at a monotonic time, in microseconds since 1970.
func (m *Machine) Predict(mono time.Duration) int64 { return m.clock.predict(mono) }

// Skew returns how far the database's clock was ahead of the local one at the last reply.
func (m *Machine) Skew() time.Duration { return m.clock.skew }

const longestTimeout = 5 * time.Second

// Timeout returns how long to wait for a reply while a number is held: a part
// of the time between two renewals, and twice as long after each request that
// took longer. Otherwise a database that is always slower than that would never
// renew anything.
func (m *Machine) Timeout() time.Duration {
	return min(max(RenewEvery(m.window)/2, 500*time.Millisecond)<<m.late, longestTimeout)
}

// Hurry brings the next request forward, unless it is one that must not come
// too soon.
func (m *Machine) Hurry(now time.Duration) {
	if m.step != beginWindow && !m.TooSoon(now) {
		m.at = min(m.at, now)
	}
}

// TooSoon reports whether the next request is a renewal that the database would refuse for coming too soon after the last.
func (m *Machine) TooSoon(now time.Duration) bool {
	return m.step == renew && now < m.holding.renewed+m.params.MinRenew
}

// Request returns what to ask now.
func (m *Machine) Request(now Reading) Request {
	s := &steps[m.step]
	a := &m.attempt
	q := Request{Ask: s.ask, Worker: a.Worker, Owner: a.owner, Fence: a.Fence, Holder: m.holder, Seen: a.seen}
	q.Window = m.params.Ticks(m.window)
	around := m.clock.predict(now.Mono)
	q.Earliest, q.Latest = around-m.clock.maxSkew.Microseconds(), around+m.clock.maxSkew.Microseconds()
	if h := m.holding; h != nil && s.holding {
		q.Worker, q.Owner, q.Fence, q.Acked = h.Worker, h.owner, h.Fence, h.Ceiling
		q.Cap = m.cap(around)
		q.Window += m.lead(now)
	}
	if s.prepare != nil {
		s.prepare(m, &q, now)
	}
	return q
}

// cap returns the highest ceiling that a renewal may ask for. A database clock
// that is ahead can't move the ceiling far into the future with it. And where
// the database may lose what it confirmed, the renewals that are on their way
// at the same time, their outcome unknown, raise the ceiling once.
func (m *Machine) cap(us int64) int64 {
	ceiling := m.params.TickAt(us) + m.params.Ticks(m.window) + m.params.Ticks(m.clock.maxSkew)
	if m.params.Loss > 0 {
		ceiling = min(ceiling, m.holding.Ceiling+m.params.Ticks(m.params.Raise))
	}
	return ceiling
}

// lead returns by how many ticks ids are ahead of the database's clock, which
// went back or was thought to be further than it is. Windows are that much
// longer: they count for ids, not for the database. It stays below the skew that
// Fence allows for, so no window ends later than Fence takes into account.
func (m *Machine) lead(now Reading) int64 {
	ahead := time.Duration(now.Running-m.clock.predict(now.Mono)) * time.Microsecond
	return int64(max(0, min(ahead, m.longestLead())) / m.params.Layout.Tick())
}

func (m *Machine) longestLead() time.Duration { return min(m.clock.maxSkew, DefaultMaxSkew) / 4 * 3 }

// Handle takes the reply to the request q that was sent at the monotonic time sent.
func (m *Machine) Handle(q Request, r Reply, sent time.Duration, now Reading) Outcome {
	var out Outcome
	if limit := m.Timeout(); r.Err == nil || now.Mono-sent < limit {
		m.late = max(m.late-1, 0)
	} else if limit < longestTimeout {
		m.late++
	}
	s := &steps[m.step]
	if r.Changed && s.timed && (r.Now < q.Earliest || r.Now > q.Latest) {
		r = Reply{Err: fmt.Errorf("%w: it was done at %v, though not to be done then", dberrors.ErrBadReply, time.UnixMicro(r.Now).UTC())}
	}
	if r.Err != nil {
		m.outcomeUnknown(r.Err, now, &out)
	} else {
		if r.Now != 0 {
			m.observe(r.Now, sent, now, &out)
		}
		s.handle(m, q, r, now, &out)
	}
	out.Retry = m.isWorthRetrying(r, out.Err)
	return out
}

// observe takes over the database's clock.
func (m *Machine) observe(us int64, sent time.Duration, now Reading, out *Outcome) {
	if out.Err = m.clock.observe(us, sent, now); out.Err != nil {
		return
	}
	out.Now = m.clock.predict(now.Mono)
	// Where ids are further ahead than a longer window can make up for, they wait for the clock.
	if most := out.Now + (m.longestLead() + m.window/2).Microseconds(); now.Running > most {
		out.Retreat = most
	}
}

// outcomeUnknown is what follows where a statement may have been done, or may not.
func (m *Machine) outcomeUnknown(err error, now Reading, out *Outcome) {
	out.Err = err
	m.failed++
	if errors.Is(err, dberrors.ErrNamespaceMismatch) || errors.Is(err, dberrors.ErrNoNamespace) {
		m.abort(err, out)
		return
	}
	m.next(steps[m.step].unknown, now.Mono+m.backoff())
	if m.step == readAttempt {
		if m.attempt.tries++; m.attempt.tries > 8 {
			m.attempt = attempt{}
			m.step = readServer
		}
	}
}

// next makes s the next step, at a monotonic time.
func (m *Machine) next(s step, at time.Duration) { m.step, m.at = s, at }

// abort ends the machine where there is no way back.
func (m *Machine) abort(err error, out *Outcome) { m.step, out.Fatal = over, err }

// isWorthRetrying reports whether an attempt at a number that failed with err,
// if it did, is worth another one while somebody waits for it.
func (m *Machine) isWorthRetrying(r Reply, err error) bool {
	var held *HeldError
	switch {
	case err == nil, errors.As(err, &held):
		return true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case r.Err != nil && r.Failure == Busy:
		return m.failed < 30
	}
	return r.Err != nil && r.Failure == Unclear && m.attempt.owner != "" // it may have the number
}

// restart starts an attempt at a number after a while.
func (m *Machine) restart(now Reading, after time.Duration) { m.next(readServer, now.Mono+after) }

func (m *Machine) interval() time.Duration {
	every := RenewEvery(m.window)
	if m.params.Loss > 0 {
		return m.params.MinRenew + m.jitter(m.params.MinRenew/5) // sooner is refused, and raises are bounded
	}
	return every - every/5 + m.jitter(2*every/5)
}

// jitter returns a random duration below d.
func (m *Machine) jitter(d time.Duration) time.Duration {
	return time.Duration(m.random.Int64N(int64(max(d, 1))))
}

// backoff grows with the failures in a row.
func (m *Machine) backoff() time.Duration {
	longest := min(2*time.Second, max(RenewEvery(m.window)/2, 10*time.Millisecond))
	d := min(50*time.Millisecond<<min(m.failed, 6), longest)
	return d/4 + m.jitter(d)
}
