package protocol

import (
	"time"
)

// stop suspends the generator, because the holding's ticks may be somebody else's.
func stop(m *Machine, out *Outcome) {
	if h := m.holding; h.opened && !h.stopped {
		h.stopped, out.Suspend = true, true
	}
}

// renewed handles the reply to a renewal.
func renewed(m *Machine, q Request, r Reply, now Reading, out *Outcome) {
	if !r.Changed {
		m.next(readHolding, now.Mono)
		return
	}
	h, p := m.holding, &m.params
	out.Renewed, m.failed = true, 0
	// The statement set the row's ceiling to this or left a higher one, so this is at most what the row has.
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
	if out.Now == 0 { // the database's clock was refused; if that lasts, the window ends
		return
	}
	// The ceiling to ask for, given the clock in the reply.
	want := min(p.TickAt(r.Now)+p.Ticks(m.window)+m.lead(now), m.cap(r.Now))
	switch running := max(now.Running, out.Now); {
	case p.Loss == 0 && want-h.Ceiling > p.Ticks(m.window)/4:
		// The request had too low a cap or lead, because this process was suspended or the clock went back.
		out.Again, m.at = true, now.Mono+m.jitter(50*time.Millisecond)
	case h.Ceiling <= p.TickAt(running):
		out.Err = m.Ahead(now, running)
	}
}

// Ahead returns a [*ClockError] which says that ids are ahead of their window.
func (m *Machine) Ahead(now Reading, running int64) error {
	return &ClockError{
		Database: time.UnixMicro(m.clock.predict(now.Mono)).UTC(), Local: now.Wall.Round(0).UTC(), Running: time.UnixMicro(running).UTC(),
		MaxSkew: m.clock.maxSkew,
	}
}

// Report makes a renewal an error if ids wait all the same: the user of the machine calls it after it has set
// running time as the outcome says. running is the earliest time that the next id can have, and waits says that it
// is not made yet.
func (m *Machine) Report(out *Outcome, now Reading, running int64, waits bool) {
	if out.Renewed && out.Err == nil && waits {
		out.Err = m.Ahead(now, running)
	}
}
