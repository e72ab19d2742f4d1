package sqlsnow

import (
	"errors"
	"math"
	"time"
)

// opened says that the generator stamps the seat that an outcome told to open.
func (m *machine) opened(s *seat, now reading) {
	s.opened, s.stopped = true, false
	if m.seat != s {
		m.keep(s, now)
	}
}

// keep holds a seat that the generator can't stamp yet: its ids are ahead of the window, which grows.
func (m *machine) keep(s *seat, now reading) {
	if m.seat != s {
		m.seat, m.bid, m.failed = s, bid{}, 0
		m.step, m.at = stepRenew, now.mono+m.interval()
	}
}

// stop ends the ids of the seat where its ticks may be somebody else's.
func (m *machine) stop(out *outcome) {
	if s := m.seat; s.opened && !s.stopped {
		s.stopped, out.suspend = true, true
	}
}

// confirm takes the ceiling of a renewal that was done when the database's clock said us.
func (m *machine) confirm(q request, us int64, now reading, out *outcome) {
	s := m.seat
	out.renewed, m.failed = true, 0
	// What the statement made of the row's ceiling, which was at least the
	// confirmed one: so this is at most what the row has.
	ceiling := min(m.terms.tickAt(us)+q.window, q.cap)
	raised := ceiling > s.ceiling
	s.ceiling, s.renewed = max(s.ceiling, ceiling), now.mono
	switch {
	case !s.opened || s.stopped:
		out.open = s
	case raised:
		out.raise = s.ceiling
	}
	m.step, m.at = stepRenew, now.mono+m.interval()
	if out.now == 0 { // its clock is not believed, and the window ends if that lasts
		return
	}
	// What the statement would have been asked for, had all that is known now been known.
	next := min(m.terms.tickAt(us)+m.terms.ticks(m.window)+m.lead(now), m.cap(us))
	switch running := max(now.running, out.now); {
	case m.terms.loss == 0 && next-s.ceiling > m.terms.ticks(m.window)/4:
		// The cap was too low, or the lead not known: the clock went on without this process, which was
		// suspended, or went back.
		out.again, m.at = true, now.mono+m.jitter(50*time.Millisecond)
	case s.ceiling <= m.terms.tickAt(running):
		out.err = m.ahead(now, running)
	}
}

// ahead says that ids are ahead of their window.
func (m *machine) ahead(now reading, running int64) error {
	return &ClockError{
		Database: time.UnixMicro(m.clock.predict(now.mono)).UTC(), Local: now.wall.Round(0).UTC(), Running: time.UnixMicro(running).UTC(),
		MaxSkew: m.clock.maxSkew,
	}
}

// inspect is what follows from the row where a renewal had no effect.
func (m *machine) inspect(r reply, now reading, out *outcome) {
	s, got := m.seat, r.row
	switch {
	case !s.has(got):
		lost, safe := m.terms.verdict(s, got)
		if !safe {
			m.stop(out)
		}
		m.lose(lost, now, out)
	case got.ceiling < s.ceiling:
		// The database forgot what it had confirmed. Until it knows again, somebody else may take the number.
		if m.terms.others(s, got) < s.ceiling {
			m.stop(out)
		}
		m.step, m.at = stepReassert, now.mono
	case m.terms.loss > 0 && m.terms.tickAt(r.us) >= got.ceiling, got.floor >= s.ceiling && m.terms.tickAt(r.us) >= s.ceiling:
		m.lose(&LostError{Worker: uint64(s.worker), Reason: Lapsed}, now, out)
	case m.terms.loss > 0: // too soon: an earlier attempt, its reply lost, had an effect
		m.step, m.at = stepRenew, now.mono+time.Second
	default: // the session is not fit to write
		m.failed++
		out.err = errRefused
		m.step, m.at = stepRenew, now.mono+max(m.backoff(), time.Second)
	}
}

var errRefused = errors.New("the database changed nothing, its session not being fit to write")

// reasserted is what follows from the attempt to remind the database of the ceiling.
func (m *machine) reasserted(r reply, now reading, out *outcome) {
	if !r.changed { // somebody else has the row by now, or the session is not fit to write: look again
		m.step, m.at = stepInspect, now.mono
		if m.failed++; m.failed > 1 {
			m.at, out.err = now.mono+m.backoff(), errRefused
		}
		return
	}
	// The row is this lease's, and has its ceiling again.
	s := m.seat
	s.renewed = now.mono
	if s.stopped {
		out.open = s
	}
	m.lose(&LostError{Worker: uint64(s.worker), Reason: Regressed}, now, out)
	if m.pinned {
		m.step, m.at, out.fatal, s.lost = stepRenew, now.mono+m.interval(), nil, false
	}
}

// lose gives up the seat. The generator may finish its ticks meanwhile, unless it was told to stop.
func (m *machine) lose(lost *LostError, now reading, out *outcome) {
	out.lost, m.seat.lost = lost, true
	switch {
	case !m.pinned:
		m.seek(now, m.jitter(50*time.Millisecond))
	case lost.Reason == Lapsed:
		m.seek(now, m.backoff())
	default:
		m.abort(lost, out)
	}
}

// verdict says why a row is not the seat's any more, and whether the seat's ticks are nobody else's all the same.
func (t *terms) verdict(s *seat, got *row) (lost *LostError, safe bool) {
	lost = &LostError{Worker: uint64(s.worker), Reason: Vanished}
	if got == nil {
		return lost, false
	}
	lost.Reason, lost.Holder = Regressed, got.holder
	safe = t.others(s, got) >= s.ceiling
	if safe && got.fence > s.fence {
		lost.Reason = Displaced
	}
	return lost, safe
}

// others returns the first tick from the seat's floor on that somebody else may have or get, as far as the row tells.
func (t *terms) others(s *seat, got *row) int64 {
	// A claim waits for the grace, and its window for the probation. Rows have whole milliseconds.
	claimed := func(ms time.Duration) int64 {
		return max(got.ceiling, t.tickAt((got.claimed+ms.Milliseconds())*1000)-1)
	}
	mine := got.owner == s.owner && got.fence == s.fence
	switch {
	case mine && got.state == Granted && t.loss > 0:
		return got.ceiling + t.ticks(t.grace) + int64(t.probation/t.layout.Tick()) - 1
	case mine && got.state == Granted:
		return got.ceiling
	case mine && got.state == Claimed: // its first window is forgotten
		return claimed(t.claim + t.grace + t.probation)
	case got.fence <= s.fence, got.state == Reserved:
		return math.MinInt64
	case got.state == Granted, got.floor > s.floor:
		return got.floor
	case got.state == Claimed: // and nobody had a window since
		return claimed(t.probation)
	}
	return got.ceiling
}

// release returns the request that gives back what the lease has, for Close:
// next is the first tick that was not used. What follows it is in left.
func (m *machine) release(next uint64) (q request, ok bool) {
	q = request{worker: m.bid.worker, owner: m.bid.owner, fence: m.bid.fence, ask: askAbandon}
	held, claimed := m.seat, m.bid.claimed
	if held == nil && m.step == stepSpurn {
		held = &m.bid.seat
	}
	m.step, m.seat, m.bid, m.parted = stepOver, nil, bid{}, held
	if held == nil || held.owner == "" {
		return q, claimed
	}
	q = request{ask: askRelease, worker: held.worker, owner: held.owner, fence: held.fence, next: held.floor}
	if held.opened {
		q.next = max(held.floor, min(int64(next), held.ceiling))
	}
	return q, true
}

// left says what follows from the row where the release q had no effect: whether the number is free for others all the same, or what
// became of it. A release of unknown outcome may have been sent before it.
func (m *machine) left(q request, got *row, unknown bool) (released bool, err error) {
	s, t := m.parted, &m.terms
	switch {
	case q.ask != askRelease, !s.opened, s.lost: // no id was made, or it is told
		return false, nil
	case s.has(got) && got.floor > q.next: // fenced: the row keeps its ceiling
		return false, nil
	case s.has(got):
		return false, errRefused
	case got != nil && got.state == Free && got.fence == s.fence && got.ceiling == q.next:
		return true, nil
	case unknown && got != nil && got.fence > s.fence && t.others(s, got) >= q.next:
		return true, nil
	}
	lost, _ := t.verdict(s, got)
	return false, lost
}
