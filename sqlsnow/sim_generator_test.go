package sqlsnow

import (
	"slices"
	"time"
)

// running is what the next id is stamped with, at the earliest: see Lease.running.
func (p *simProc) running(mono time.Duration) int64 {
	return max((mono + p.ahead).Microseconds(), p.reached)
}

// advance is what Lease does with Grant.Advance and Grant.Retreat.
func (p *simProc) advance(out *outcome, now reading) {
	if !p.everHad {
		return
	}
	if out.now != 0 {
		p.ahead = max(p.ahead, time.Duration(out.now)*time.Microsecond-now.mono)
	}
	if back := time.Duration(out.retreat) * time.Microsecond; out.retreat != 0 && p.ahead > back-now.mono && !p.world.plan.flaws.noRetreat {
		p.ahead = back - now.mono
		p.reached = max(p.reached, p.world.plan.terms.timeOf(p.last).UnixMicro())
		p.world.tracef("#%d: running time goes back to tick %d", p.id, p.world.plan.terms.tickAt(out.retreat))
	}
}

// look is what everybody can see in the row: that somebody else's window begins
// before the end of this one, or that it could.
func (p *simProc) look(row *row) {
	t := &p.world.plan.terms
	switch s := p.machine.seat; {
	case row == nil:
		p.knows = true
	case s.has(row):
		p.knows = row.ceiling+t.ticks(t.grace+t.probation) < s.ceiling
	case row.state == Granted:
		p.knows = row.floor < s.ceiling
	}
}

func (p *simProc) raise(ceiling int64) {
	w := p.world
	if ceiling <= p.limit {
		return
	}
	p.limit = ceiling
	w.counts.raises++
	w.tracef("#%d may stamp %d up to %d", p.id, p.worker, p.limit)
	p.granted()
	w.clash(p)
}

// begin is Grant.Open.
func (p *simProc) begin(s *seat, now reading) {
	w := p.world
	floor := s.floor
	if w.plan.flaws.inclusive {
		floor--
	}
	from := max(floor, p.last+1)
	if from >= s.ceiling {
		w.tracef("#%d can't use [%d, %d) of %d", p.id, s.floor, s.ceiling, s.worker)
		if p.everHad {
			p.machine.keep(s, now)
		}
		return
	}
	w.unhold(p)
	p.machine.opened(s, now)
	p.knows = false
	if !p.everHad {
		p.ahead = time.Duration(p.machine.clock.predict(now.mono))*time.Microsecond - now.mono
	}
	p.open, p.everHad, p.worker, p.owner, p.from, p.limit = true, true, s.worker, s.owner, from, s.ceiling
	w.holders[p.worker] = append(w.holders[p.worker], p)
	w.counts.windows++
	w.tracef("#%d opens [%d, %d) of %d", p.id, p.from, p.limit, p.worker)
	p.granted()
	w.clash(p)
}

// granted checks that the database had granted what is used.
func (p *simProc) granted() {
	got := p.world.committed[simClaim{p.owner, p.worker}]
	if got == nil || p.from < got.floor && !p.world.plan.flaws.inclusive || p.limit > got.ceiling {
		p.world.fail("I2: #%d stamps [%d, %d) of worker %d, where the database granted %v", p.id, p.from, p.limit, p.worker, got)
	}
}

func (p *simProc) stampOn() {
	p.stamp()
	p.later(time.Duration(p.world.random.ExpFloat64()*float64(2*time.Second)), p.stampOn)
}

// stamp stamps a tick: the time's, or any other that the window has.
func (p *simProc) stamp() {
	w := p.world
	first := max(p.from, p.last+1)
	if !p.open || first >= p.limit {
		return
	}
	now := w.plan.terms.tickAt((p.read().mono + p.ahead).Microseconds())
	tick := max(first, now)
	if !w.calm && w.chance(p.eager) {
		tick = []int64{first, p.limit - 1, first + w.random.Int64N(p.limit-first)}[w.random.IntN(3)]
	}
	if tick >= p.limit || tick == first && first > now+w.plan.terms.ticks(time.Second) { // see snow.Config.MaxAhead
		return
	}
	i, found := slices.BinarySearch(w.stamped[p.worker], tick)
	if found {
		w.fail("I1: #%d stamps tick %d of worker %d, which was stamped before", p.id, tick, p.worker)
	}
	key := simTick{p.worker, tick}
	if found && (p.knows || w.doubtful[key]) {
		w.fail("I8: #%d stamps tick %d of worker %d, and of the two who did one knew of the loss", p.id, tick, p.worker)
	}
	if p.knows {
		w.doubtful[key] = true
	}
	w.stamped[p.worker] = slices.Insert(w.stamped[p.worker], i, tick)
	if tick <= p.last {
		w.fail("I4: #%d stamps tick %d after %d", p.id, tick, p.last)
	}
	p.last = tick
	w.counts.ids++
}

// clash checks that nobody else may stamp what p may.
func (w *simWorld) clash(p *simProc) {
	from := max(p.from, p.last+1)
	for _, o := range w.holders[p.worker] {
		lo, hi := max(from, o.from, o.last+1), min(p.limit, o.limit)
		if o != p && lo < hi {
			w.fail("I1: both #%d and #%d may stamp the ticks %d to %d of worker %d", p.id, o.id, lo, hi, p.worker)
		}
	}
	ticks := w.stamped[p.worker]
	if i, _ := slices.BinarySearch(ticks, from); i < len(ticks) && ticks[i] < p.limit {
		w.fail("I1: #%d may stamp tick %d of worker %d, which was stamped before", p.id, ticks[i], p.worker)
	}
}

func (w *simWorld) unhold(p *simProc) {
	w.holders[p.worker] = slices.DeleteFunc(w.holders[p.worker], func(o *simProc) bool { return o == p })
}
