package segments

import (
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// TestMutantsAreCaughtInSegments plants bugs, and asserts that the simulation finds each.
func TestMutantsAreCaughtInSegments(t *testing.T) {
	testscale.NeedLong(t)
	for name, plant := range map[string]func(p *simPlan){
		"a take whose answer is lost is believed in": func(p *simPlan) { p.flaws.trusts, p.message = true, 0.3 },
		"a take is answered before it is durable": func(p *simPlan) {
			p.flaws.early, p.stall, p.power, p.procs, p.databases = true, time.Second/10, time.Second/10, 3, 1
		},
		"numbers are used again after an error":      func(p *simPlan) { p.flaws.again, p.message, p.outage = true, 0.3, time.Second/2 },
		"rows are not compared":                      func(p *simPlan) { p.flaws.unfit, p.overlap, p.databases = true, true, 3 },
		"the number of databases is not compared":    func(p *simPlan) { p.flaws.anyN, p.otherN, p.databases, p.procs = true, true, 2, 2 },
		"the row is not compared with what was seen": func(p *simPlan) { p.flaws.backwards, p.alone, p.procs, p.restore = true, true, 1, time.Second/2 },
		"the row is not compared with the tables": func(p *simPlan) {
			p.flaws.noFloor, p.alone, p.procs, p.restore, p.crash = true, true, 1, time.Second/2, time.Second/2
		},
		"a number past the end of the block is used": func(p *simPlan) { p.flaws.unbound = true },
		"a take is a read and a write":               func(p *simPlan) { p.flaws.split, p.procs = true, 3 },
		"a take moves the row too little":            func(p *simPlan) { p.flaws.short = true },
		"a restored row is raised too little":        func(p *simPlan) { p.flaws.lowRaise, p.procs, p.alone, p.restore = true, 4, false, time.Second/2 },
		"a block is used when another is current":    func(p *simPlan) { p.flaws.stale = true },
		"numbers are given back without comparing":   func(p *simPlan) { p.flaws.blind, p.crash, p.procs = true, time.Second/10, 3 },
		"only the next number is compared": func(p *simPlan) {
			p.flaws.sameEnd, p.crash, p.procs, p.databases, p.message = true, 5*time.Millisecond, 3, 1, 0.3
			p.step, p.maxStep = 7, 7
		},
		"numbers at hand count as used": func(p *simPlan) { p.flaws.hasty = true },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(1000) {
				plan := drawPlan(seed)
				plan.otherN, plan.overlap = false, false
				plant(&plan)
				if failure := newSim(seed, plan).run(); failure != "" {
					t.Logf("seed %d: %s", seed, failure)
					return
				}
			}
			t.Error("not caught in 1000 seeds")
		})
	}
}
