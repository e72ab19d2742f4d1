package segments

// stop is Close: the process has ended before its statements arrive, and they may arrive late, twice or never.
func (w *sim) stop(p *simProc) {
	for _, r := range p.pool.close() {
		d := w.databases[r.counter]
		epoch := d.epoch
		arrive := func(do func()) {
			copies := 1
			if w.bad() {
				copies = w.random.IntN(3)
			}
			for range copies {
				w.after(w.delay(), func() {
					if d.epoch == epoch && !d.down {
						do()
					}
				})
			}
		}
		arrive(func() { // selectEnd
			takes := d.takes
			if w.plan.flaws.blind || w.plan.flaws.sameEnd || d.returns(r, takes) && takes%takers == r.mark {
				arrive(func() { w.giveBack(d, r, takes) })
			}
		})
	}
}

// returns reports whether updateGiveBack changes the row.
func (d *simDatabase) returns(r remainder, takes int64) bool {
	return d.state == stateOpen && d.modulus == r.modulus && d.next == r.end && d.takes == takes
}

func (w *sim) giveBack(d *simDatabase, r remainder, takes int64) {
	f := &w.plan.flaws
	if f.sameEnd && d.next == r.end || f.blind || d.returns(r, takes) {
		d.durable = max(d.durable, d.stalled, w.now)
		d.log = append(d.log, simUndo{d.durable, d.next, d.takes})
		d.next, d.takes = r.unused, d.takes+1
		w.returned++
	}
}
