package protocol

import (
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// A simMutant is a bug in the protocol, or in its use.
type simMutant struct {
	name  string
	lossy bool
	only  string // the invariant that it breaks; I1 if empty
	plant func(p *simPlan)
}

// The first words of a name come from the protocol's model checks.
var simMutants = []simMutant{
	{"B1 a renewal does not compare the owner", false, "", func(p *simPlan) { p.flaws.anyOwner = true }},
	{"B2 a renewal that timed out counts as granted", false, "", func(p *simPlan) { p.flaws.assumes = true }},
	{"B3 the floor is the last tick of the window before", false, "", func(p *simPlan) { p.flaws.inclusive = true }},
	{"B4 ids are made after the release was sent", false, "", func(p *simPlan) { p.flaws.afterlife = true }},
	{"C1 LossWindow 0 where a failover loses history", false, "", func(p *simPlan) {
		p.faults.failover, p.faults.losing = 10*time.Second, 5*time.Second
	}},
	{"C2 the fence instead of the owner", true, "", func(p *simPlan) { p.flaws.sameOwner = true }},
	{"C3 windows start in the future instead of claim and probation", false, "", func(p *simPlan) {
		p.faults.failover, p.faults.losing = 10*time.Second, 5*time.Second
		p.flaws.future, p.flaws.tellsRow = p.params.Ticks(p.params.Window+5*time.Second), true
	}},
	{"D1 the first window starts in the future instead of probation", true, "", func(p *simPlan) {
		p.flaws.future, p.flaws.tellsRow = p.params.Ticks(p.params.Raise+p.params.Loss), true
		p.params.Probation = 0
	}},
	{"C5 the same, and not far enough", false, "", func(p *simPlan) {
		p.faults.failover, p.faults.losing = 10*time.Second, 5*time.Second
		p.flaws.future, p.flaws.tellsRow = p.params.Ticks(p.params.Window), true
	}},
	{"D2 the first window starts in the future, by its length and the loss", true, "", func(p *simPlan) {
		p.flaws.future, p.flaws.tellsRow = p.params.Ticks(p.params.First+p.params.Loss), true
		p.params.Probation = 0
	}},
	{"D3 the same without grace", true, "", func(p *simPlan) {
		p.flaws.future, p.flaws.tellsRow = p.params.Ticks(p.params.First+p.params.Loss), true
		p.params.Probation, p.params.Grace = 0, 0
	}},
	{"D4 the same far in the future, ceilings put back", true, "", func(p *simPlan) {
		p.flaws.future, p.flaws.tellsRow = p.params.Ticks(2*p.params.Window), true
		p.params.Probation = 0
	}},
	{"a row that is read counts as confirmed", false, "", func(p *simPlan) {
		p.flaws.trustsReads, p.faults.stall, p.faults.power = true, 5*time.Second, 10*time.Second
	}},
	{"E2 no probation", true, "", func(p *simPlan) { p.params.Probation = 0 }},
	{"E3 a probation as long as the loss window", true, "", func(p *simPlan) {
		p.params.Probation, p.flaws.noWait = p.params.Loss, true
	}},
	{"E4 a renewal raises by a lot", true, "", func(p *simPlan) {
		p.params.Raise, p.params.Window = 10*time.Minute, 10*time.Minute
	}},
	{"E5b the same, and a lapsed window can be renewed", true, "", func(p *simPlan) {
		p.params.Raise, p.params.Window, p.flaws.lapsedToo = 10*time.Minute, 10*time.Minute, true
	}},
	{"a renewal does not heed the client's clock", false, "I5", func(p *simPlan) { p.flaws.uncapped = true }},
	{"a renewal raises the ceiling that the row has, unspaced", true, "", func(p *simPlan) {
		p.flaws.raiseOnRow, p.flaws.tellsRow, p.flaws.unspaced = true, true, true
	}},
	{"renewals are not spaced", true, "", func(p *simPlan) { p.flaws.unspaced = true }},
	{"the client leaves the probation to the database's clock", true, "", func(p *simPlan) { p.flaws.noWait = true }},
	{"no grace", true, "", func(p *simPlan) { p.params.Grace = 0 }},
	{"a release lowers the ceiling to the floor", false, "", func(p *simPlan) { p.flaws.shortRetire = true }},
	{"an abandoned row is free without grace", true, "", func(p *simPlan) {
		p.flaws.bareAbandon, p.procs, p.params.Workers, p.skew, p.pinned = true, 4, 1, 30*time.Second, 0
		p.faults = simFaults{losing: p.params.Loss, hunt: 0.5, failover: 20 * time.Second, step: 8 * time.Second}
		p.faults.abandon, p.faults.partition, p.duration = 2*time.Second, 10*time.Second, 10*time.Minute
	}},
	{"a claimed row is claimed again though its ceiling is ahead", true, "I5", func(p *simPlan) {
		p.flaws.earlyClaim, p.faults.fence = true, time.Minute
	}},
	{"Fence leaves the floor where it is", false, "", func(p *simPlan) {
		p.flaws.flatFence = true
		p.restores()
	}},
	{"Fence allows for the skew of one clock", false, "", func(p *simPlan) { p.flaws.oneClock = true; p.restores() }},
	{"a fenced row is renewed by the database's clock alone", false, "", func(p *simPlan) {
		p.flaws.oneLapse = true
		p.restores()
		p.procs, p.pinned, p.params.Workers, p.params.Window, p.params.Raise = 4, 0, 1, 10*time.Second, 10*time.Second
		p.params.First, p.faults.stop = 10*time.Second, 5*time.Second
	}},
	{"a lease follows the database's clock in steps", false, "", func(p *simPlan) {
		p.flaws.follows = true
		p.restores()
		p.make(0)
		p.faults, p.duration = simFaults{restore: 4 * time.Minute, walk: time.Minute}, 20*time.Minute
		p.procs, p.pinned, p.params.Workers, p.params.Window = 3, 0, 2, 30*time.Second
		p.params.First, p.params.Raise = p.params.Window, p.params.Window
	}},
	{"Fence does not wait until the database remembers it", true, "", func(p *simPlan) {
		p.flaws.hastyFence = true
		p.restores()
		p.faults.failover = 5 * time.Second
	}},
	{"databases go on with numbers that a restored registry forgot", false, "", func(p *simPlan) {
		p.flaws.unclaimed = true
		p.restores()
		p.make(2)
	}},
	{"databases get any number from a restored registry", false, "", func(p *simPlan) {
		p.flaws.anyNumber = true
		p.restores()
		p.make(2)
	}},
	{"a statement that reaches another registry is executed there", false, "", func(p *simPlan) { p.flaws.unnamed, p.faults.astray = true, 0.1 }},
	{"a renewal succeeds though ids wait", false, "L3", func(p *simPlan) { p.flaws.silent = true; p.excursions() }},
	{"a number is taken though somebody else took it since it was listed", false, "", func(p *simPlan) { p.flaws.blindTake = true }},
	{"grant does not compare the ceiling that was read", true, "I2", func(p *simPlan) {
		p.flaws.blindGrant, p.faults.fence = true, 20*time.Second
	}},
	{"windows follow the database's clock where ids are ahead of it", false, "L1", func(p *simPlan) { p.flaws.databaseTime = true; p.excursions() }},
	{"ids that are far ahead don't wait for the clock", false, "L1", func(p *simPlan) { p.flaws.noRetreat = true; p.excursions() }},
	{"a generator that has to stop goes on", false, "I8", func(p *simPlan) { p.flaws.deaf = true; p.forget() }},
	{"it goes on while the database is reminded of the ceiling", false, "I8", func(p *simPlan) {
		p.flaws.hopes = true
		p.forget()
		p.procs, p.pinned, p.params.Workers, p.params.Window, p.params.Raise = 4, 0, 1, time.Minute, time.Minute
		p.faults = simFaults{failover: 20 * time.Second, losing: time.Minute, partition: 4 * time.Second, message: 0.3, hunt: 0.05}
	}},
	{"with a LossWindow, a generator that has to stop goes on", true, "I8", func(p *simPlan) { p.flaws.deafToLoss = true; p.forget() }},
}

// lateSeeds are where the search for a mutant begins, if the seeds before take minutes.
var lateSeeds = map[string]uint64{"a lease follows the database's clock in steps": 1380}

// TestMutantsAreCaught plants bugs, and asserts that the simulation finds each.
func TestMutantsAreCaught(t *testing.T) {
	testscale.NeedLong(t)
	for _, mutant := range simMutants {
		t.Run(mutant.name, func(t *testing.T) {
			t.Parallel()
			const most = 5000
			for seed := max(1, lateSeeds[mutant.name]); seed <= most; seed++ {
				plan := simDraw(seed, mutant.lossy)
				plan.rests, plan.only = false, mutant.only
				if plan.only == "" {
					plan.only = "I1"
				}
				if seed%2 == 0 { // few processes, one number and a keen enemy
					plan.procs, plan.pinned, plan.params.Workers = 2+int(seed/2%3), 0, 1
					f := &plan.faults
					*f = simFaults{
						losing: f.losing, failover: min(f.losing*10, 20*time.Second), message: f.message, hunt: []float64{0.5, 0.05}[seed/2%2],
						stall: f.stall, power: f.power, step: 20 * time.Second, stop: 20 * time.Second, partition: 20 * time.Second, leave: 10 * time.Second,
					}
				}
				mutant.plant(&plan)
				if failure := newSimWorld(seed, plan).run(); failure != "" {
					t.Logf("seed %d: %s", seed, failure)
					return
				}
			}
			t.Errorf("not caught in %d seeds", most)
		})
	}
}
