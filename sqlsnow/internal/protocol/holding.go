package protocol

import (
	"math"
	"time"

	"github.com/shardsnow/snow/sqlsnow/internal/dberrors"
)

// A Holding is a number that a lease holds.
type Holding struct {
	Worker  int64
	Fence   int64
	Floor   int64
	Ceiling int64 // that the database has confirmed; exclusive

	owner   string
	opened  bool // the generator has it, or had
	stopped bool // the generator must not use it until the next Open
	lost    bool // it is lost, and an Outcome has said so
	renewed time.Duration
}

// IsOpen reports whether the generator has the number, or had it.
func (h *Holding) IsOpen() bool { return h.opened }

// IsLost reports whether the number is lost.
func (h *Holding) IsLost() bool { return h.lost }

// has reports whether a row is the holding's, with a window.
func (h *Holding) has(got *Row) bool {
	return got != nil && got.Owner == h.owner && got.Fence == h.Fence && got.State == Granted
}

// Opened says that the generator uses the holding that an Outcome said to open.
func (m *Machine) Opened(h *Holding, now Reading) {
	h.opened, h.stopped = true, false
	if m.holding != h {
		m.Keep(h, now)
	}
}

// Keep holds a number that the generator can't use yet: its ids are ahead of the window, which grows.
func (m *Machine) Keep(h *Holding, now Reading) {
	if m.holding != h {
		m.holding, m.attempt, m.failed = h, attempt{}, 0
		m.next(renew, now.Mono+m.interval())
	}
}

// stop ends the ids of the holding where its ticks may be somebody else's.
func (m *Machine) stop(out *Outcome) {
	if h := m.holding; h.opened && !h.stopped {
		h.stopped, out.Suspend = true, true
	}
}

// renewed is what follows from a renewal.
func (m *Machine) renewed(q Request, r Reply, now Reading, out *Outcome) {
	if !r.Changed {
		m.next(readHolding, now.Mono)
		return
	}
	h, p := m.holding, &m.params
	out.Renewed, m.failed = true, 0
	// What the statement made of the row's ceiling, which was at least the
	// confirmed one: so this is at most what the row has.
	ceiling := min(p.TickAt(r.Now)+q.Window, q.Cap)
	raised := ceiling > h.Ceiling
	h.Ceiling, h.renewed = max(h.Ceiling, ceiling), now.Mono
	switch {
	case !h.opened || h.stopped:
		out.Open = h
	case raised:
		out.Raise = h.Ceiling
	}
	m.next(renew, now.Mono+m.interval())
	if out.Now == 0 { // its clock is not believed, and the window ends if that lasts
		return
	}
	// What the statement would have been asked for, had all that is known now been known.
	want := min(p.TickAt(r.Now)+p.Ticks(m.window)+m.lead(now), m.cap(r.Now))
	switch running := max(now.Running, out.Now); {
	case p.Loss == 0 && want-h.Ceiling > p.Ticks(m.window)/4:
		// The cap was too low, or the lead not known: the clock went on without this process, which was
		// suspended, or went back.
		out.Again, m.at = true, now.Mono+m.jitter(50*time.Millisecond)
	case h.Ceiling <= p.TickAt(running):
		out.Err = m.Ahead(now, running)
	}
}

// Ahead returns an error which says that ids are ahead of their window.
func (m *Machine) Ahead(now Reading, running int64) error {
	return &ClockError{
		Database: time.UnixMicro(m.clock.predict(now.Mono)).UTC(), Local: now.Wall.Round(0).UTC(), Running: time.UnixMicro(running).UTC(),
		MaxSkew: m.clock.maxSkew,
	}
}

// inspect is what follows from the row where a renewal had no effect.
func (m *Machine) inspect(_ Request, r Reply, now Reading, out *Outcome) {
	h, p, got := m.holding, &m.params, r.Row
	switch {
	case !h.has(got):
		lost, safe := p.verdict(h, got)
		if !safe {
			m.stop(out)
		}
		m.lose(lost, now, out)
	case got.Ceiling < h.Ceiling:
		// The database forgot what it had confirmed. Until it knows again, somebody else may take the number.
		if p.others(h, got) < h.Ceiling {
			m.stop(out)
		}
		m.next(reassert, now.Mono)
	case p.Loss > 0 && p.TickAt(r.Now) >= got.Ceiling, got.Floor >= h.Ceiling && p.TickAt(r.Now) >= h.Ceiling:
		m.lose(&LostError{Worker: uint64(h.Worker), Reason: Lapsed}, now, out)
	case p.Loss > 0: // too soon: an earlier attempt, its reply lost, had an effect
		m.next(renew, now.Mono+time.Second)
	default: // the session is not fit to write
		m.failed++
		out.Err = dberrors.ErrRefused
		m.next(renew, now.Mono+max(m.backoff(), time.Second))
	}
}

// reasserted is what follows from the attempt to remind the database of the ceiling.
func (m *Machine) reasserted(_ Request, r Reply, now Reading, out *Outcome) {
	if !r.Changed { // somebody else has the row by now, or the session is not fit to write: look again
		m.next(readHolding, now.Mono)
		if m.failed++; m.failed > 1 {
			m.at, out.Err = now.Mono+m.backoff(), dberrors.ErrRefused
		}
		return
	}
	// The row is this lease's, and has its ceiling again.
	h := m.holding
	h.renewed = now.Mono
	if h.stopped {
		out.Open = h
	}
	m.lose(&LostError{Worker: uint64(h.Worker), Reason: Regressed}, now, out)
	if m.pinned {
		m.next(renew, now.Mono+m.interval())
		out.Fatal, h.lost = nil, false
	}
}

// lose gives up the holding. The generator may finish its ticks meanwhile, unless it had to stop.
func (m *Machine) lose(lost *LostError, now Reading, out *Outcome) {
	out.Lost, m.holding.lost = lost, true
	switch {
	case !m.pinned:
		m.restart(now, m.jitter(50*time.Millisecond))
	case lost.Reason == Lapsed:
		m.restart(now, m.backoff())
	default:
		m.abort(lost, out)
	}
}

// verdict says why a row is not the holding's any more, and whether the holding's ticks are nobody else's all the same.
func (p *Params) verdict(h *Holding, got *Row) (lost *LostError, safe bool) {
	lost = &LostError{Worker: uint64(h.Worker), Reason: Vanished}
	if got == nil {
		return lost, false
	}
	lost.Reason, lost.Holder = Regressed, got.Holder
	safe = p.others(h, got) >= h.Ceiling
	if safe && got.Fence > h.Fence {
		lost.Reason = Displaced
	}
	return lost, safe
}

// others returns the first tick from the holding's floor on that somebody else may have or get, as far as the row shows.
func (p *Params) others(h *Holding, got *Row) int64 {
	// A claim waits for the grace, and its window for the probation. Rows have whole milliseconds.
	claimed := func(wait time.Duration) int64 {
		return max(got.Ceiling, p.TickAt((got.Claimed+wait.Milliseconds())*1000)-1)
	}
	mine := got.Owner == h.owner && got.Fence == h.Fence
	switch {
	case mine && got.State == Granted && p.Loss > 0:
		return got.Ceiling + p.Ticks(p.Grace) + int64(p.Probation/p.Layout.Tick()) - 1
	case mine && got.State == Granted:
		return got.Ceiling
	case mine && got.State == Claimed: // its first window is forgotten
		return claimed(p.Claim + p.Grace + p.Probation)
	case got.Fence <= h.Fence, got.State == Reserved:
		return math.MinInt64
	case got.State == Granted, got.Floor > h.Floor:
		return got.Floor
	case got.State == Claimed: // and nobody had a window since
		return claimed(p.Probation)
	}
	return got.Ceiling
}

// Release ends the machine and returns the request that gives back what the
// lease has, if it has something. next is the first tick that was not used.
// Released says what follows where the request had no effect.
func (m *Machine) Release(next uint64) (q Request, ok bool) {
	a, held := m.attempt, m.holding
	if held == nil && m.step == decline {
		held = &a.Holding
	}
	m.step, m.holding, m.attempt, m.parted = over, nil, attempt{}, held
	if held == nil || held.owner == "" {
		return Request{Ask: AskAbandon, Worker: a.Worker, Owner: a.owner, Fence: a.Fence}, a.claimed
	}
	q = Request{Ask: AskRelease, Worker: held.Worker, Owner: held.owner, Fence: held.Fence, Next: held.Floor}
	if held.opened {
		q.Next = max(held.Floor, min(int64(next), held.Ceiling))
	}
	return q, true
}

// Released says what follows from the row where the release q had no effect: whether the number is free for others all the
// same, or what became of it. repeated is true if a release of unknown outcome was sent before it.
func (m *Machine) Released(q Request, got *Row, repeated bool) (released bool, err error) {
	h, p := m.parted, &m.params
	switch {
	case q.Ask != AskRelease, !h.opened, h.lost: // no id was made, or it is known to be lost
		return false, nil
	case h.has(got) && got.Floor > q.Next: // fenced: the row keeps its ceiling
		return false, nil
	case h.has(got):
		return false, dberrors.ErrRefused
	case got != nil && got.State == Free && got.Fence == h.Fence && got.Ceiling == q.Next:
		return true, nil
	case repeated && got != nil && got.Fence > h.Fence && p.others(h, got) >= q.Next:
		return true, nil
	}
	lost, _ := p.verdict(h, got)
	return false, lost
}
