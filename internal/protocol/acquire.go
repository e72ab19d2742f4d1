package protocol

import (
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
)

// search handles the state of the server. If the server is fit, it starts the search for a free number.
func search(m *Machine, _ Request, r Reply, now Reading, out *Outcome) {
	err := out.Err // of the clocks
	if err == nil {
		err = r.Unfit
	}
	if err == nil && r.UUID != m.params.UUID {
		m.abort(dberrors.ErrNamespaceMismatch, out)
		return
	}
	if epoch := m.params.Layout.Epoch(); err == nil && r.Now*1000 < epoch.UnixNano() {
		err = &snow.FieldError{
			Field: "clock", Value: time.UnixMicro(r.Now).UTC().Format(time.RFC3339Nano),
			Bound: "want the layout's epoch or later, which is " + epoch.Format(time.RFC3339Nano),
		}
	}
	if err == nil && m.params.TickAt(r.Now) > m.params.LastTick() {
		m.abort(snow.ErrTimeExhausted, out)
		return
	}
	if err != nil {
		out.Err = err
		m.failed++
		m.restart(now, m.backoff(now))
		return
	}
	// The search starts at a random number, so that processes that start together do not try the same numbers.
	m.attempt = attempt{start: m.random.Int64N(m.params.Workers)}
	m.next(findFree, now.Mono)
}

// choose handles a list of free numbers: it attempts one of them.
func choose(m *Machine, _ Request, r Reply, now Reading, _ *Outcome) {
	m.at = now.Mono
	m.free, m.listed = r.Free, now.Mono
	switch {
	case m.pick(now):
	case m.pinned:
		m.step = readPinned
	case !m.attempt.wrapped && m.attempt.start > 0:
		m.attempt.wrapped, m.attempt.start = true, 0
	default:
		m.step = takeCensus
	}
}

// pick attempts a number of the last list, and reports whether there is one. The list may be some seconds old: the
// statement itself looks whether the number is as it was read, and may still be taken.
func (m *Machine) pick(now Reading) bool {
	last := len(m.free) - 1
	if last < 0 || now.Mono > m.listed+longestTimeout {
		return false
	}
	i := m.random.IntN(last + 1)
	f := m.free[i]
	m.free[i], m.free = m.free[last], m.free[:last]
	m.attempt.Holding = Holding{Worker: f.Worker, Fence: f.Fence, owner: m.owner()}
	m.attempt.seen = f.Ceiling
	m.next(takeWindow, now.Mono)
	if m.params.Loss > 0 {
		m.step = claimNumber
	}
	return true
}

// reportCensus handles the census that was taken because no number is free.
func reportCensus(m *Machine, _ Request, r Reply, now Reading, out *Outcome) {
	c := r.Census
	none := &NoWorkerError{Live: int(c.Live), Cooling: int(c.All - c.Live)}
	if c.All > 0 {
		none.EarliestFree = m.params.TimeOf(c.Earliest)
	}
	out.Err = none
	// A census reads all rows, so it is taken less often where there are many.
	often := time.Duration(min(max(m.params.Workers/1024, 1), 8)) * 500 * time.Millisecond
	m.restart(now, often+m.jitter(3*often))
}

// awaitPinned handles the row of a pinned number that is not free.
func awaitPinned(m *Machine, _ Request, r Reply, now Reading, out *Outcome) {
	p := &m.params
	if r.Row == nil {
		m.abort(&LostError{Worker: uint64(m.number), Reason: Vanished}, out)
		return
	}
	until := p.Leasable(r.Row.State, r.Row.Ceiling, r.Row.Claimed)
	out.Err = &HeldError{Worker: uint64(m.number), Holder: r.Row.Holder, Until: until.UTC()}
	left := time.UnixMicro(m.clock.predict(now.Mono)).Sub(until).Abs()
	m.restart(now, min(max(left, 10*time.Millisecond), 250*time.Millisecond)+m.jitter(50*time.Millisecond))
}

// taken handles the reply to a request for a window without a claim (LossWindow 0).
func taken(m *Machine, q Request, r Reply, now Reading, out *Outcome) {
	if !r.Changed {
		m.next(readAttempt, now.Mono) // a proxy may have sent it twice
		return
	}
	m.attempt.Fence++
	floor := max(m.attempt.seen, m.params.TickAt(r.Now))
	hold(m, floor, floor+q.Window, now, out)
}

// claimed handles the reply to a claim.
func claimed(m *Machine, _ Request, r Reply, now Reading, _ *Outcome) {
	if !r.Changed {
		m.next(readAttempt, now.Mono)
		return
	}
	m.attempt.Fence++
	awaitProbation(m, now)
}

// awaitProbation waits until the database can't forget the claim any more. The
// wait starts when the claim is confirmed, which is later than the time of the
// claim in the row.
func awaitProbation(m *Machine, now Reading) {
	m.attempt.claimed = true
	m.attempt.ready = now.Mono + m.params.Probation + time.Millisecond
	m.next(beginWindow, m.attempt.ready+m.jitter(50*time.Millisecond))
}

// begun handles the reply to the request for the first window of a claim.
func begun(m *Machine, _ Request, r Reply, now Reading, out *Outcome) {
	if !r.Changed {
		m.next(readAttempt, now.Mono)
		return
	}
	floor := max(m.attempt.seen, m.params.TickAt(r.Now))
	hold(m, floor, floor+m.params.Ticks(m.params.First), now, out)
}

// resolve handles the row of an attempt whose outcome is unknown. The row alone
// proves nothing, because some databases show a commit before it is durable. A
// confirmed write of the same row is proof.
func resolve(m *Machine, _ Request, r Reply, now Reading, _ *Outcome) {
	a, got := &m.attempt, r.Row
	a.tries++
	mine := got != nil && got.Owner == a.owner
	switch {
	case mine && got.State == Granted:
		asked := m.params.Ticks(m.window)
		if m.params.Loss > 0 {
			asked = m.params.Ticks(m.params.First)
		}
		a.Fence, a.state, a.Floor, a.Ceiling = got.Fence, Granted, got.Floor, got.Ceiling
		a.asked = got.Floor + asked
		m.next(confirmRow, now.Mono)
	case mine && got.State == Claimed && (a.tries > 30 || got.Ceiling != a.seen):
		m.next(abandon, now.Mono)
	case mine && got.State == Claimed && a.claimed: // too soon for the database
		m.next(beginWindow, max(a.ready, now.Mono+500*time.Millisecond))
	case mine && got.State == Claimed:
		a.Fence, a.state, a.Ceiling = got.Fence, Claimed, got.Ceiling
		m.next(confirmRow, now.Mono)
	default:
		// Not mine. If a statement of this attempt arrives later, nobody uses the window that it takes.
		m.attempt = attempt{}
		m.crowded++
		if !m.pick(now) {
			m.restart(now, m.jitter(time.Duration(min(m.crowded, 20))*5*time.Millisecond))
		}
	}
}

// rowConfirmed handles the reply to a write that proves that the database remembers the row.
func rowConfirmed(m *Machine, _ Request, r Reply, now Reading, out *Outcome) {
	switch a := &m.attempt; {
	case !r.Changed:
		m.next(readAttempt, now.Mono+m.backoff(now))
	case a.state == Claimed:
		awaitProbation(m, now)
	default:
		hold(m, a.Floor, min(a.Ceiling, a.asked), now, out)
	}
}

// hold turns the attempt into a holding with its first window, and offers it to the generator.
func hold(m *Machine, floor, ceiling int64, now Reading, out *Outcome) {
	h := m.attempt.Holding
	h.Floor, h.Ceiling, h.renewed = floor, ceiling, now.Mono
	m.attempt.Floor, m.attempt.claimed = floor, false
	m.crowded, m.free = 0, nil
	out.Open = &h
	m.next(decline, now.Mono) // Opened and Keep replace this step
}

// startOver handles the reply to a request that ended an attempt.
func startOver(m *Machine, _ Request, _ Reply, now Reading, _ *Outcome) {
	m.attempt = attempt{}
	m.restart(now, time.Second+m.jitter(time.Second))
}
