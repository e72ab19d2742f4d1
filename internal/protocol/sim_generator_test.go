package protocol

import (
	"slices"
	"time"
)

const simMaxAhead = time.Second // see snow.Config.MaxAhead

// running is the earliest time that the next id can have: see Lease.running in package sqlsnow.
func (p *simProc) running(mono time.Duration) int64 {
	return max((mono + p.ahead).Microseconds(), p.reached)
}

// advance is what Lease does with Grant.Advance and Grant.Retreat.
func (p *simProc) advance(out *Outcome, now Reading) {
	if !p.everHad {
		return
	}
	if out.Now != 0 {
		p.ahead = max(p.ahead, time.Duration(out.Now)*time.Microsecond-now.Mono)
	}
	if back := time.Duration(out.Retreat) * time.Microsecond; out.Retreat != 0 && p.ahead > back-now.Mono && !p.world.plan.flaws.noRetreat {
		p.ahead = back - now.Mono
		p.reached = max(p.reached, p.world.plan.params.TimeOf(p.last).UnixMicro())
		p.resumes = p.world.plan.params.TimeOf(p.last).Add(-simMaxAhead).UnixMicro()
		p.world.tracef("#%d: running time goes back to tick %d", p.id, p.world.plan.params.TickAt(out.Retreat))
	}
}

// look checks what the row shows: that somebody else's window begins before the
// end of this one, or that it could.
func (p *simProc) look(row *Row) {
	t := &p.world.plan.params
	switch s := p.machine.holding; {
	case row == nil:
		p.knows = true
	case s.has(row):
		p.knows = row.Ceiling+t.Ticks(t.Grace+t.Probation) < s.Ceiling
	case row.State == Granted:
		p.knows = row.Floor < s.Ceiling
	}
}

func (p *simProc) raise(ceiling int64) {
	w := p.world
	if ceiling <= p.limit {
		return
	}
	p.limit = ceiling
	w.counts.raises++
	w.tracef("#%d may use %d up to %d", p.id, p.worker, p.limit)
	p.granted()
	w.clash(p)
}

// begin is Grant.Open.
func (p *simProc) begin(s *Holding, now Reading) {
	w := p.world
	floor := s.Floor
	if w.plan.flaws.inclusive {
		floor--
	}
	from := max(floor, p.last+1)
	if from >= s.Ceiling {
		w.tracef("#%d can't use [%d, %d) of %d", p.id, s.Floor, s.Ceiling, s.Worker)
		if p.everHad {
			p.machine.Keep(s, now)
		}
		return
	}
	w.unhold(p)
	p.machine.Opened(s, now)
	p.knows = false
	if !p.everHad {
		p.ahead = time.Duration(p.machine.clock.predict(now.Mono))*time.Microsecond - now.Mono
	}
	p.open, p.everHad, p.worker, p.owner, p.from, p.limit = true, true, s.Worker, s.owner, from, s.Ceiling
	w.holders[p.worker] = append(w.holders[p.worker], p)
	w.counts.windows++
	w.tracef("#%d opens [%d, %d) of %d", p.id, p.from, p.limit, p.worker)
	p.granted()
	w.clash(p)
}

// granted checks that the database had granted the ticks that are used.
func (p *simProc) granted() {
	got := p.world.committed[simClaim{p.owner, p.worker}]
	if got == nil || p.from < got.floor && !p.world.plan.flaws.inclusive || p.limit > got.ceiling {
		p.world.fail("I2: #%d uses [%d, %d) of worker %d, where the database granted %v", p.id, p.from, p.limit, p.worker, got)
	}
}

func (p *simProc) keepUsing() {
	p.use()
	p.later(time.Duration(p.world.random.ExpFloat64()*float64(2*time.Second)), p.keepUsing)
}

// use uses a tick of the window: the present one, or any other.
func (p *simProc) use() {
	w := p.world
	first := max(p.from, p.last+1)
	if !p.open || first >= p.limit {
		return
	}
	now := w.plan.params.TickAt((p.read().Mono + p.ahead).Microseconds())
	tick := max(first, now)
	if !w.calm && w.chance(p.eager) {
		tick = []int64{first, p.limit - 1, first + w.random.Int64N(p.limit-first)}[w.random.IntN(3)]
	}
	if tick >= p.limit || tick == first && first > now+w.plan.params.Ticks(simMaxAhead) {
		return
	}
	i, found := slices.BinarySearch(w.used[p.worker], tick)
	if found {
		w.fail("I1: #%d uses tick %d of worker %d, which was used before", p.id, tick, p.worker)
	}
	key := simTick{p.worker, tick}
	if found && (p.knows || w.doubtful[key]) {
		w.fail("I8: #%d uses tick %d of worker %d, and of the two who did one knew of the loss", p.id, tick, p.worker)
	}
	if p.knows {
		w.doubtful[key] = true
	}
	w.used[p.worker] = slices.Insert(w.used[p.worker], i, tick)
	if tick <= p.last {
		w.fail("I4: #%d uses tick %d after %d", p.id, tick, p.last)
	}
	p.last = tick
	w.counts.ids++
}

// clash checks that nobody else may use the ticks that p may use.
func (w *simWorld) clash(p *simProc) {
	from := max(p.from, p.last+1)
	for _, o := range w.holders[p.worker] {
		lo, hi := max(from, o.from, o.last+1), min(p.limit, o.limit)
		if o != p && lo < hi {
			w.fail("I1: both #%d and #%d may use the ticks %d to %d of worker %d", p.id, o.id, lo, hi, p.worker)
		}
	}
	ticks := w.used[p.worker]
	if i, _ := slices.BinarySearch(ticks, from); i < len(ticks) && ticks[i] < p.limit {
		w.fail("I1: #%d may use tick %d of worker %d, which was used before", p.id, ticks[i], p.worker)
	}
}

func (w *simWorld) unhold(p *simProc) {
	w.holders[p.worker] = slices.DeleteFunc(w.holders[p.worker], func(o *simProc) bool { return o == p })
}
