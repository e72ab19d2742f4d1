package protocol

import "time"

func (w *simWorld) outage(d time.Duration) {
	w.tracef("database down for %v", d)
	w.down = true
	w.after(d, func() {
		w.down = false
		w.tracef("database up")
	})
}

func (w *simWorld) stepTo(step time.Duration) {
	if w.calm {
		return
	}
	w.tracef("database clock from %v to %v", w.step, step)
	w.step = step
}

// stepAside moves the database's clock by less than the skew that processes accept, for a while.
func (w *simWorld) stepAside() {
	was := w.step
	w.stepTo(w.symmetric(w.plan.skew))
	if w.chance(0.7) {
		w.after(w.upTo(15*time.Second), func() { w.stepTo(was) })
	}
}

// stepAll moves all clocks alike, as if everything ran on one machine.
func (w *simWorld) stepAll() {
	d := w.symmetric(3 * time.Minute)
	shift := func(d time.Duration) {
		if w.calm {
			return
		}
		w.stepTo(w.step + d)
		for _, p := range w.procs {
			p.wall += d
		}
	}
	shift(d)
	w.after(w.long(), func() { shift(-d) })
}

func (w *simWorld) failover() {
	if w.calm {
		return
	}
	lost := w.plan.faults.losing
	if w.chance(0.5) {
		lost = w.upTo(lost)
	}
	n := w.registry.lose(w.now - lost - 1)
	w.counts.failovers++
	for _, p := range w.procs { // their knowledge is from before the loss
		p.knows = false
	}
	clear(w.doubtful)
	w.counts.undone += n
	w.off = w.symmetric(eps / 2)
	w.tracef("FAILOVER loses %d writes of the last %v; its clock is %v off", n, lost, w.off)
}

// stall makes writes visible but not durable, for a while.
func (w *simWorld) stall() {
	d := w.upTo(10 * time.Second)
	w.tracef("writes are not durable for %v", d)
	w.registry.stalled = w.now + d
}

// powerCut loses the writes that are not durable. None of them was confirmed.
func (w *simWorld) powerCut() {
	if w.calm {
		return
	}
	n := w.registry.lose(w.now)
	w.registry.stalled, w.registry.durable = w.now, w.now
	w.epoch++
	w.tracef("POWER CUT undoes %d writes", n)
}

// restore puts back a backup, on another server with another clock. Nobody reaches the database before Fence has
// returned.
func (w *simWorld) restore() {
	if w.calm || w.fencing {
		return
	}
	age := w.long()
	if w.keys != nil {
		w.restoreKeys(age)
		return
	}
	n := w.registry.lose(w.now - age)
	w.epoch++
	w.stepTo(w.symmetric(w.plan.sane))
	w.tracef("RESTORE undoes %d writes of the last %v", n, age)
	w.fencing = true
	w.fence(func() {
		w.fencing = false
		for _, i := range w.random.Perm(len(w.makers)) {
			if w.plan.flaws.unclaimed {
				continue
			}
			w.after(w.upTo(10*time.Second), w.makers[i].install)
		}
	})
}

// fence is Fence, in a process whose clock is as right as any other's.
func (w *simWorld) fence(done func()) {
	if w.keys != nil {
		w.fenceKeys(done)
		return
	}
	local := w.symmetric(w.plan.sane)
	us := simStart + (w.now + local).Microseconds()
	if skew := time.Duration(w.us()-us) * time.Microsecond; skew.Abs() > DefaultMaxSkew {
		w.step = local - w.off // the error says so, and somebody corrects the clock
	}
	w.registry.Fence(w.us(), us, w.now)
	for i := range w.registry.Rows {
		w.extend(&w.registry.Rows[i], int64(i))
	}
	w.tracef("Fence at tick %d, and %d by the clock of its process", w.plan.params.TickAt(w.us()), w.plan.params.TickAt(us))
	if w.plan.params.Loss == 0 || w.plan.flaws.hastyFence {
		done()
		return
	}
	w.after(w.plan.params.Probation, func() {
		if !w.registry.Fenced(us) {
			w.fence(done)
			return
		}
		done()
	})
}

// walk moves the database's clock on by less than the skew that processes accept, time and again, and back in the end.
func (w *simWorld) walk() {
	d := w.symmetric(w.plan.skew)
	n := 1 + w.random.IntN(6)
	for i := range n {
		w.after(time.Duration(i)*w.upTo(20*time.Second), func() { w.stepTo(w.step + d) })
	}
	w.after(time.Duration(n)*20*time.Second+w.long(), func() { w.stepTo(w.symmetric(time.Second)) })
}

// hunt causes the faults that an enemy would choose right after a write.
func (w *simWorld) hunt(p *simProc) {
	f := &w.plan.faults
	attacks := []func(){
		func() { p.partition(w.long()) }, func() { p.pause(w.long(), false) }, p.leave, p.giveUp, p.crash,
	}
	if f.failover > 0 {
		attacks = append(attacks, w.failover, w.failover)
	}
	if f.step > 0 {
		attacks = append(attacks, w.stepAside)
	}
	if f.leader > 0 {
		attacks = append(attacks, w.changeLeader)
	}
	for range 1 + w.random.IntN(3) {
		var when time.Duration
		if w.chance(0.7) {
			when = w.upTo(f.losing + 200*time.Millisecond)
		}
		do := attacks[w.random.IntN(len(attacks))]
		w.after(when, func() {
			if !w.calm {
				do()
			}
		})
	}
}

// rest ends all faults and checks that the processes recover.
func (w *simWorld) rest() {
	w.calm, w.down, w.step = true, false, 0
	t := &w.plan.params
	w.tracef("CALM")
	for _, p := range w.procs {
		p.recover()
	}
	settle := t.Window + t.Grace + t.Claim + t.Probation + 2*w.plan.skew + time.Minute
	if w.plan.faults.restore > 0 || w.plan.faults.fence > 0 {
		settle += 2 * DefaultMaxSkew // of the three waits, each has a third of what Fence allows for
	}
	w.until(w.now + 3*settle)
	if w.failure != "" {
		return
	}
	losses := w.counts.losses
	w.until(w.now + settle)
	if n := w.counts.losses - losses; n > 0 && w.failure == "" {
		w.fail("L2: %d numbers were lost in calm", n)
	}
	if w.keys != nil {
		w.restKeys()
		return
	}
	for i, row := range w.registry.Rows {
		if !w.registry.eligible(row, w.us()) {
			continue
		}
		for _, p := range w.procs {
			if p.alive && (!p.pinned || p.pin == int64(i)) && (!p.open || p.limit <= t.TickAt(w.us())) {
				w.fail("L1: process %d has no window while worker %d is free; it is at step %q with %v", p.name, i, p.machine.step, p.lastErr)
			}
			if s := p.machine.holding; p.alive && s != nil && !s.lost && p.limit <= max(p.last, t.TickAt(p.running(p.read().Mono))) {
				w.fail("L1: process %d is ahead of its window, which ends at %d; it is at step %q with %v", p.name, p.limit, p.machine.step, p.lastErr)
			}
		}
	}
}
