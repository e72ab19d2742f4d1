package protocol

import (
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// A simKeyMutant is a bug in a store of keys, in its use, or in the way back from a snapshot.
type simKeyMutant struct {
	name  string
	seed  uint64 // that finds it; the test begins with it
	plant func(p *simPlan)
}

var simKeyMutants = []simKeyMutant{
	{"a stale read is taken for a fresh one: a write compares what a member has that lags behind", 15, func(p *simPlan) {
		p.flaws.keys.stale = 20 * time.Second
	}},
	{"a release whose reply is lost counts as failed", 50, func(p *simPlan) { p.flaws.goesOn = true }},
	{"a release whose reply is lost is written again, as if the number were still its own", 349, func(p *simPlan) {
		p.flaws.keys.repeats, p.faults.message, p.faults.leave = true, 0.3, 5*time.Second
	}},
	{"a renewal whose reply is lost counts as done", 1, func(p *simPlan) { p.flaws.assumes = true }},
	{"a number is its holder's as long as its key does not expire", 8, func(p *simPlan) { p.flaws.keys.expires = true }},
	{"a key that has no history any more counts as one that never was", 3, func(p *simPlan) {
		p.flaws.keys.forgets, p.faults.compact = true, 20*time.Second
	}},
	{"a snapshot is put back without Fence", 1, func(p *simPlan) {
		p.flaws.keys.noFence = true
		p.restores()
		p.faults.step = 0
	}},
	{"a write does not compare the namespace's key", 9, func(p *simPlan) {
		p.flaws.keys.unguarded, p.faults.astray = true, 0.1
	}},
	{"a write does not compare the row", 3, func(p *simPlan) { p.flaws.keys.blind = true }},
	{"a write compares versions, which come back with a snapshot, and no values", 31, func(p *simPlan) {
		p.flaws.keys.versionOnly = true
		p.restores()
		p.faults.step = 0
	}},
	{"ids are made after the release was sent", 136, func(p *simPlan) { p.flaws.afterlife = true }},
}

// draw returns the plan of the world of a seed, with the bug.
func (m *simKeyMutant) draw(seed uint64, over *SimVersions) simPlan {
	plan := simDrawVersions(seed, over)
	plan.rests, plan.only = false, "I1"
	if seed%2 == 0 { // few processes, one number and a keen enemy
		plan.procs, plan.pinned, plan.params.Workers = 2+int(seed/2%3), 0, 1
		plan.faults = simFaults{
			message: plan.faults.message, hunt: []float64{0.5, 0.05}[seed/2%2], wall: plan.faults.wall,
			stop: 20 * time.Second, partition: 20 * time.Second, leave: 10 * time.Second, leader: 30 * time.Second,
		}
	}
	m.plant(&plan)
	return plan
}

// CatchKeyMutants plants bugs, and asserts that the simulation finds each: in the world of the seed that is known to
// find it or a later one, and where tests may take long, without that knowledge.
func CatchKeyMutants(t *testing.T, over *SimVersions) {
	for _, mutant := range simKeyMutants {
		t.Run(mutant.name, func(t *testing.T) {
			t.Parallel()
			const most = 5000
			first := uint64(1)
			if !testscale.Long() {
				first = mutant.seed
			}
			for seed := first; seed <= first+most; seed++ {
				if failure := newSimWorld(seed, mutant.draw(seed, over)).run(); failure != "" {
					t.Logf("%s: seed %d: %s", mutant.name, seed, failure)
					return
				}
			}
			t.Errorf("not caught in %d seeds", most)
		})
	}
}
