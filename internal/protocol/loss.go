package protocol

import (
	"math"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
)

// inspect handles the row of the holding, which is read after a renewal had no effect.
func inspect(m *Machine, q Request, r Reply, now Reading, out *Outcome) {
	h, p, got := m.holding, &m.params, r.Row
	switch {
	case !h.has(got):
		lost, safe := p.verdict(h, got)
		if !safe {
			stop(m, out)
		}
		lose(m, lost, now, out)
	case got.Ceiling < h.Ceiling:
		// The database forgot the ceiling that it had confirmed. Until the row has it again, somebody else may take
		// the number.
		if p.others(h, got) < h.Ceiling {
			stop(m, out)
		}
		m.next(reassert, now.Mono)
	case p.Loss > 0 && p.TickAt(r.Now) >= got.Ceiling, got.Floor >= h.Ceiling && p.TickAt(r.Now) >= q.Lapse:
		lose(m, &LostError{Worker: uint64(h.Worker), Reason: Lapsed}, now, out)
	case p.Loss > 0: // it was too soon: an earlier renewal, whose reply was lost, had an effect
		m.next(renew, now.Mono+time.Second)
	default: // the session is not fit to write
		m.failed++
		out.Err = dberrors.ErrRefused
		m.next(renew, now.Mono+max(m.backoff(now), time.Second))
	}
}

// reasserted handles the reply to a request that sets the ceiling of the row again.
func reasserted(m *Machine, _ Request, r Reply, now Reading, out *Outcome) {
	if !r.Changed { // somebody else has the row by now, or the session is not fit to write: look again
		m.next(readHolding, now.Mono)
		if m.failed++; m.failed > 1 {
			m.at, out.Err = now.Mono+m.backoff(now), dberrors.ErrRefused
		}
		return
	}
	// The row is this lease's, and has its ceiling again.
	h := m.holding
	h.renewed = now.Mono
	if h.stopped {
		out.Open = h
	}
	lose(m, &LostError{Worker: uint64(h.Worker), Reason: Regressed}, now, out)
	if m.pinned {
		m.next(renew, now.Mono+m.interval())
		out.Fatal, h.lost = nil, false
	}
}

// lose gives up the holding. The generator may finish the holding's ticks, unless stop suspended it.
func lose(m *Machine, lost *LostError, now Reading, out *Outcome) {
	out.Lost, m.holding.lost = lost, true
	switch {
	case !m.pinned:
		m.restart(now, m.jitter(50*time.Millisecond))
	case lost.Reason == Lapsed:
		m.restart(now, m.backoff(now))
	default:
		m.abort(lost, out)
	}
}

// verdict says why a row is no longer the holding's. safe is true if nobody else can have the holding's ticks all
// the same.
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

// others returns the first tick, from the holding's floor on, that somebody else may have or get. It knows only
// what the row shows.
func (p *Params) others(h *Holding, got *Row) int64 {
	// A claim comes after the grace, and its window after the probation. Times in rows are whole milliseconds.
	claimed := func(wait time.Duration) int64 {
		return max(got.Ceiling, p.TickAt((got.Claimed+wait.Milliseconds())*1000)-1)
	}
	mine := got.Owner == h.owner && got.Fence == h.Fence
	switch {
	case mine && got.State == Granted && p.Loss > 0:
		return got.Ceiling + p.Ticks(p.Grace) + int64(p.Probation/p.Layout.Tick()) - 1
	case mine && got.State == Granted:
		return got.Ceiling
	case mine && got.State == Claimed: // the database forgot its first window
		return claimed(p.Claim + p.Grace + p.Probation)
	case got.Fence <= h.Fence, got.State == Reserved:
		return math.MinInt64
	case got.State == Granted, got.Floor > h.Floor:
		return got.Floor
	case got.State == Claimed: // and nobody has had a window since
		return claimed(p.Probation)
	}
	return got.Ceiling
}
