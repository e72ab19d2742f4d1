package sqlsnow

import (
	"time"

	"github.com/shardsnow/snow"
)

// A bid is an attempt at a number.
type bid struct {
	seat
	seen    int64
	start   int64         // of the search
	around  bool          // the search went past the last number
	ready   time.Duration // monotonic time from which the first window may be asked for
	state   WorkerState   // of the row, as it was read
	asked   int64         // the ceiling that was asked for
	claimed bool
	tries   int
}

// search looks for numbers that are free, if the server is fit.
func (m *machine) search(r reply, now reading, out *outcome) {
	err := out.err // of the clocks
	if err == nil {
		err = r.facts.check(m.terms.loss)
	}
	if err == nil && r.uuid != m.terms.uuid {
		m.abort(ErrNamespaceMismatch, out)
		return
	}
	if epoch := m.terms.layout.Epoch(); err == nil && r.us*1000 < epoch.UnixNano() {
		err = &snow.FieldError{Field: "clock", Value: time.UnixMicro(r.us).UTC().Format(time.RFC3339Nano), Bound: "want the layout's epoch or later, which is " + epoch.Format(time.RFC3339Nano)}
	}
	if err == nil && m.terms.tickAt(r.us) > m.terms.lastTick() {
		m.abort(snow.ErrTimeExhausted, out)
		return
	}
	if err != nil {
		out.err = err
		m.failed++
		m.seek(now, m.backoff())
		return
	}
	// From a random number on, so that those who start together do not meet.
	m.bid = bid{start: m.random.Int64N(m.terms.workers)}
	m.step, m.at = stepFree, now.mono
}

// choose bids for one of the numbers that are free.
func (m *machine) choose(r reply, now reading) {
	m.at = now.mono
	switch {
	case len(r.free) > 0:
		f := r.free[m.random.IntN(len(r.free))]
		m.bid.seat = seat{worker: f.worker, fence: f.fence, owner: m.owner()}
		m.bid.seen = f.ceiling
		m.step = stepTake
		if m.terms.loss > 0 {
			m.step = stepClaim
		}
	case m.pinned:
		m.step = stepHolder
	case !m.bid.around && m.bid.start > 0:
		m.bid.around, m.bid.start = true, 0
	default:
		m.step = stepCensus
	}
}

// wait is what follows where the pinned number is not free.
func (m *machine) wait(r reply, now reading, out *outcome) {
	if r.row == nil {
		m.abort(&LostError{Worker: uint64(m.number), Reason: Vanished}, out)
		return
	}
	until := m.terms.timeOf(r.row.ceiling + m.terms.ticks(m.terms.grace))
	switch r.row.state {
	case Free:
		until = m.terms.timeOf(r.row.ceiling - m.terms.ticks(slack))
	case Claimed:
		until = time.UnixMilli(r.row.claimed).Add(m.terms.claim + m.terms.grace)
		if fenced := m.terms.timeOf(r.row.ceiling - m.terms.ticks(slack)); fenced.After(until) {
			until = fenced
		}
	case Reserved:
		until = m.terms.timeOf(m.terms.lastTick())
	}
	out.err = &HeldError{Worker: uint64(m.number), Holder: r.row.holder, Until: until.UTC()}
	left := time.UnixMicro(m.clock.predict(now.mono)).Sub(until).Abs()
	m.seek(now, min(max(left, 10*time.Millisecond), 250*time.Millisecond)+m.jitter(50*time.Millisecond))
}

// stake waits until the claim can't be forgotten by the database any more. The
// wait starts with the confirmation of the claim, which is later than what the
// database has for its time.
func (m *machine) stake(now reading) {
	m.bid.claimed = true
	m.bid.ready = now.mono + m.terms.probation + time.Millisecond
	m.step, m.at = stepGrant, m.bid.ready+m.jitter(50*time.Millisecond)
}

// resolve is what follows from the row of a bid whose outcome is not known. What
// it says is not yet what the database will remember: some show a commit
// before it is durable. A write of the same row that is confirmed is proof.
func (m *machine) resolve(r reply, now reading) {
	got := r.row
	m.bid.tries++
	mine := got != nil && got.owner == m.bid.owner
	switch {
	case mine && got.state == Granted:
		asked := m.terms.ticks(m.window)
		if m.terms.loss > 0 {
			asked = m.terms.ticks(m.terms.first)
		}
		m.bid.fence, m.bid.state, m.bid.floor, m.bid.ceiling = got.fence, Granted, got.floor, got.ceiling
		m.bid.asked = got.floor + asked
		m.step, m.at = stepConfirm, now.mono
	case mine && got.state == Claimed && (m.bid.tries > 30 || got.ceiling != m.bid.seen):
		m.step, m.at = stepAbandon, now.mono
	case mine && got.state == Claimed && m.bid.claimed: // too soon for the database
		m.step, m.at = stepGrant, max(m.bid.ready, now.mono+500*time.Millisecond)
	case mine && got.state == Claimed:
		m.bid.fence, m.bid.state, m.bid.ceiling = got.fence, Claimed, got.ceiling
		m.step, m.at = stepConfirm, now.mono
	default:
		// Not mine. If a statement still arrives, nobody uses what it takes.
		m.bid = bid{}
		m.crowded++
		m.seek(now, m.jitter(time.Duration(min(m.crowded, 20))*5*time.Millisecond))
	}
}

// sit takes the number that was bid for.
func (m *machine) sit(floor, ceiling int64, now reading, out *outcome) {
	s := m.bid.seat
	s.floor, s.ceiling, s.renewed = floor, ceiling, now.mono
	m.bid.floor, m.bid.claimed = floor, false
	m.crowded = 0
	out.open = &s
	m.step, m.at = stepSpurn, now.mono // unless the generator can use it
}
