package protocol

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
)

// A transition is the request of a step, and the handling of its reply.
type transition struct {
	ask     Ask
	holding bool // the request is about the number that is held, not about an attempt at another one
	timed   bool // a write that has an effect only from Request.Earliest to Request.Latest
	prepare func(m *Machine, q *Request, now Reading)
	handle  func(m *Machine, q Request, r Reply, now Reading, out *Outcome)
	unknown step // the next step if the outcome is unknown
}

// steps has the transition of each step. It is the whole protocol.
var steps = [...]transition{
	readServer: {ask: AskServer, handle: search, unknown: readServer},
	findFree: {ask: AskFree, handle: choose, unknown: readServer, prepare: func(m *Machine, q *Request, _ Reading) {
		q.Start, q.End = m.attempt.start, m.params.Workers
		if m.pinned {
			q.Start, q.End = m.number, m.number+1
		}
	}},
	takeCensus: {ask: AskCensus, handle: reportCensus, unknown: readServer},
	readPinned: {ask: AskRow, handle: awaitPinned, unknown: readServer, prepare: func(m *Machine, q *Request, _ Reading) {
		q.Worker = m.number
	}},
	takeWindow: {ask: AskTake, timed: true, handle: taken, unknown: readAttempt, prepare: func(m *Machine, q *Request, now Reading) {
		lead := m.lead(now)
		q.Window += lead
		// so that the window can't end later than without the lead
		q.Latest -= lead * m.params.Layout.Tick().Microseconds()
	}},
	claimNumber: {ask: AskClaim, timed: true, handle: claimed, unknown: readAttempt},
	readAttempt: {ask: AskRow, handle: resolve, unknown: readAttempt},
	confirmRow: {ask: AskConfirm, handle: rowConfirmed, unknown: readAttempt, prepare: func(m *Machine, q *Request, _ Reading) {
		q.State, q.Seen = m.attempt.state, m.attempt.Ceiling
	}},
	beginWindow: {ask: AskGrant, timed: true, handle: begun, unknown: readAttempt},
	abandon:     {ask: AskAbandon, handle: startOver, unknown: readServer},
	renew:       {ask: AskRenew, holding: true, handle: renewed, unknown: renew},
	readHolding: {ask: AskRow, holding: true, handle: inspect, unknown: renew},
	reassert:    {ask: AskReassert, holding: true, handle: reasserted, unknown: reassert},
	decline: {ask: AskRelease, handle: startOver, unknown: readServer, prepare: func(m *Machine, q *Request, _ Reading) {
		q.Next = m.attempt.Floor
	}},
	over: {handle: func(*Machine, Request, Reply, Reading, *Outcome) {}, unknown: over},
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
		q.Cap, q.Lapse = m.cap(around), m.lapse(now)
		q.Window += m.lead(now)
	}
	if s.prepare != nil {
		s.prepare(m, &q, now)
	}
	return q
}

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
		r = Reply{Err: fmt.Errorf("%w: it was done at %v, outside of the time that it was allowed", dberrors.ErrBadReply, time.UnixMicro(r.Now).UTC())}
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

// observe adopts the database's clock as read at us.
func (m *Machine) observe(us int64, sent time.Duration, now Reading, out *Outcome) {
	if out.Err = m.clock.observe(us, sent, now); out.Err != nil {
		return
	}
	out.Now = m.clock.predict(now.Mono)
	// A longer window makes up for ids that are ahead of the clock. If they are too far ahead for that, they wait
	// for the clock. The lead and the ceiling are whole ticks, which a window of three ticks feels.
	ahead := max(0, m.longestLead()+m.window/2-2*m.params.Layout.Tick())
	if most := out.Now + ahead.Microseconds(); now.Running > most {
		out.Retreat = most
	}
}

// outcomeUnknown handles an error after which the statement may or may not have been done.
func (m *Machine) outcomeUnknown(err error, now Reading, out *Outcome) {
	out.Err = err
	m.failed++
	if errors.Is(err, dberrors.ErrNamespaceMismatch) || errors.Is(err, dberrors.ErrNoNamespace) {
		m.abort(err, out)
		return
	}
	m.next(steps[m.step].unknown, now.Mono+m.backoff(now))
	if m.step == readAttempt {
		if m.attempt.tries++; m.attempt.tries > 8 {
			m.attempt = attempt{}
			m.step = readServer
		}
	}
}

// isWorthRetrying reports whether an Acquire that waits for a number should try
// again. err is the error of the attempt, if it failed.
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
