package segments

import (
	"math/rand/v2"
	"time"
)

// A simPlan is what happens in a simulation of segments, apart from chance.
type simPlan struct {
	procs, databases       int
	step, maxStep          int64
	target                 time.Duration
	crash, outage, restore time.Duration // mean times between two; 0 is never
	stall, power           time.Duration // a database shows writes that are not durable; it loses them
	message                float64       // share of messages that are lost, late or doubled
	overlap                bool          // rows were set by hand, and two have one residue
	otherN                 bool          // a process that is given one database less
	alone                  bool          // restores are not followed by a raise, which one process can bear
	flaws                  simFlaws
}

// simFlaws are bugs that the simulation must find. They are built into the harness; the code under test has none.
type simFlaws struct {
	trusts    bool // a take whose answer was lost counts if the row shows it
	early     bool // a take is answered before it is durable
	again     bool // after an error the last numbers are used again
	unfit     bool // rows are not compared
	anyN      bool // the statement does not compare the number of databases
	backwards bool // the statement does not compare the row with what was seen
	noFloor   bool // nor with what the tables have
	unbound   bool // numbers are reserved without a check of the end of the block
	split     bool // a take is a read, and a write later
	short     bool // a take moves the row by one number too few
	lowRaise  bool // a restored row is raised above what was given out, not above what was taken
	stale     bool // a block is not retired when another one becomes current
	blind     bool // numbers are given back whatever the row has
	sameEnd   bool // numbers are given back if the row has the same next number
	hasty     bool // the step doubles when numbers come soon after others, used or not
}

func drawPlan(seed uint64) simPlan {
	r := rand.New(rand.NewPCG(seed, 7))
	every := func(d time.Duration) time.Duration {
		if r.IntN(2) == 0 {
			return 0
		}
		return d * time.Duration(1+r.IntN(8)) / 4
	}
	p := simPlan{
		procs: 1 + r.IntN(5), databases: 1 + r.IntN(3), step: []int64{1, 2, 7, 100}[r.IntN(4)],
		target: []time.Duration{time.Millisecond, 50 * time.Millisecond, time.Second}[r.IntN(3)],
		crash:  every(500 * time.Millisecond), outage: every(time.Second), restore: every(2 * time.Second),
		stall: every(500 * time.Millisecond), power: every(500 * time.Millisecond),
		message: []float64{0, 0.05, 0.3}[r.IntN(3)],
	}
	p.maxStep = p.step << r.IntN(6)
	p.alone = p.procs == 1
	p.overlap = p.databases > 1 && r.IntN(6) == 0
	p.otherN = p.databases > 1 && r.IntN(6) == 0
	return p
}
