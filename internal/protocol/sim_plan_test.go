package protocol

import (
	"math/rand/v2"
	"time"

	"github.com/shardsnow/snow"
)

// A simPlan is the plan of a simulation: everything but chance.
type simPlan struct {
	params   Params
	procs    int
	pinned   int // of the processes, that many
	makers   int // databases that make ids in SQL
	skew     time.Duration
	sane     time.Duration // how far the clocks of processes may be off; 0 if that does not matter
	duration time.Duration // with faults
	rests    bool          // then comes a calm
	faults   simFaults
	flaws    simFlaws
	only     string       // the invariant that is checked; all of them if empty
	over     *SimVersions // the registry, over a store of keys with versions; nil for the tables
}

// simFaults says how often each fault happens: its mean time between two, for
// the whole world. Zero is never.
type simFaults struct {
	// a process: dies, pauses, sleeps with its clock, closes, gives up
	crash, stop, suspend, leave, abandon time.Duration
	partition, outage                    time.Duration // of one process, of all
	// clocks: a process's, the database's within and beyond the skew and in steps, all alike
	wall, step, walk, jump, all time.Duration
	failover                    time.Duration // that loses up to losing
	losing                      time.Duration
	restore, fence              time.Duration // of a backup, followed by Fence; Fence alone
	stall, power                time.Duration // the database shows writes that are not durable; it loses them
	message                     float64       // share of messages that are lost, late or doubled
	astray                      float64       // share of messages that reach another registry
	hunt                        float64       // share of writes that faults follow at once
	leader, compact             time.Duration // a store's leader changes; it forgets its history
}

// simFlaws are bugs that the simulation must find. Each is built into the
// registry, the harness or the params; the code under test has none of them.
type simFlaws struct {
	anyOwner     bool  // a renewal does not compare the owner
	sameOwner    bool  // owners are not random: only the fence distinguishes attempts
	blindTake    bool  // take and claim do not look whether the row is still as it was listed
	blindGrant   bool  // grant does not compare the ceiling that was read
	lapsedToo    bool  // a lapsed window can be renewed with LossWindow > 0
	unspaced     bool  // renewals are not spaced, by neither side
	raiseOnRow   bool  // a renewal raises the row's ceiling, not the confirmed one
	uncapped     bool  // a renewal is not bounded by what the client expects of the clock
	tellsRow     bool  // writes return the row, and the client trusts it
	future       int64 // ticks by which a first window starts in the future
	earlyClaim   bool  // a claimed row is claimed again though Fence moved its ceiling
	bareAbandon  bool  // an abandoned row has no grace
	flatFence    bool  // Fence does not move the floor
	oneClock     bool  // Fence allows for the skew of one clock only
	oneLapse     bool  // a fenced row is renewed while the new database's clock says that its window lasts
	hastyFence   bool  // Fence does not wait until the database remembers it
	follows      bool  // a lease follows the database's clock in steps, however far
	silent       bool  // a renewal succeeds though ids wait for the clock
	unnamed      bool  // statements don't name the registry
	unclaimed    bool  // after a restore, databases that make ids go on with the numbers that they have
	anyNumber    bool  // after a restore, they get any number that was never leased
	assumes      bool  // a renewal that timed out counts as granted
	inclusive    bool  // the floor is the ceiling before, less one tick
	afterlife    bool  // ids are made after the release was sent
	shortRetire  bool  // a release lowers the ceiling to the floor
	noWait       bool  // the client leaves the probation to the database
	trustsReads  bool  // a row that is read counts as confirmed
	databaseTime bool  // windows follow the database's clock, not the clock of ids
	noRetreat    bool  // running time never goes back
	deaf         bool  // a generator that has to stop goes on
	deafToLoss   bool  // the same with LossWindow > 0
	hopes        bool  // a generator goes on while the ceiling is set again
	keys         simKeyFlaws
	goesOn       bool // a release whose reply is lost counts as failed, and ids go on
}

// simDraw draws a world from a seed. Its database may lose history.
func simDraw(seed uint64, lossy bool) simPlan {
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(all ...time.Duration) time.Duration { return all[r.IntN(len(all))] }
	p := simPlan{
		procs: 2 + r.IntN(6), skew: pick(2*time.Second, 30*time.Second, 30*time.Second), rests: r.IntN(4) == 0,
		duration: pick(time.Minute, 3*time.Minute, 10*time.Minute),
	}
	if r.IntN(8) == 0 {
		p.procs = 30
	}
	if r.IntN(3) == 0 {
		p.pinned = r.IntN(p.procs + 1)
	}
	tick := pick(time.Millisecond, time.Millisecond, 10*time.Millisecond, 100*time.Millisecond, time.Second)
	workers, loss := 1+r.IntN(p.procs), time.Duration(0)
	window := pick(3*time.Second, 10*time.Second, 30*time.Second, time.Minute, time.Minute, 10*time.Minute)
	pinned := min(window, pick(3*time.Second, 30*time.Second))
	if r.IntN(3) == 0 {
		workers = 2 * p.procs
	}
	if lossy {
		loss = pick(time.Second, 5*time.Second, 5*time.Second, 12*time.Second, 25*time.Second)
		window, pinned = max(window, 30*time.Second), 30*time.Second
	}
	p.params = simParams(simLayout(tick), workers, loss, window, pinned)
	// A world has only some of the faults: all of them at once would hide one another.
	every := func(d time.Duration) time.Duration {
		if r.IntN(2) == 0 {
			return 0
		}
		return d * time.Duration(1+r.IntN(8)) / 2
	}
	p.faults = simFaults{
		crash: every(20 * time.Second), stop: every(20 * time.Second), suspend: every(time.Minute), leave: every(20 * time.Second),
		abandon: every(30 * time.Second), partition: every(20 * time.Second), outage: every(2 * time.Minute),
		wall: every(time.Minute), step: every(30 * time.Second), jump: every(5 * time.Minute),
		restore: every(2 * time.Minute), fence: every(4 * time.Minute),
		message: []float64{0, 0.02, 0.1, 0.3}[r.IntN(4)], hunt: []float64{0, 0.05, 0.3}[r.IntN(3)],
	}
	p.faults.stall, p.faults.power = every(20*time.Second), every(20*time.Second)
	p.faults.walk = every(time.Minute)
	if p.faults.restore > 0 {
		p.sane = DefaultMaxSkew // see Params.LongestWindow
	} else {
		p.faults.all = every(2 * time.Minute)
	}
	if lossy {
		p.faults.failover, p.faults.losing = every(20*time.Second), loss
	}
	p.faults.astray = []float64{0, 0, 0.1}[r.IntN(3)]
	p.make([]int{0, 0, 2}[r.IntN(3)])
	return p
}

// excursions makes clocks go forward and back, within the skew and far beyond it.
func (p *simPlan) excursions() {
	p.faults = simFaults{step: 5 * time.Second, all: 20 * time.Second}
	p.rests, p.skew = true, 30*time.Second
	p.params.Window, p.params.Pinned = 10*time.Second, 10*time.Second
	p.params.First, p.params.Raise = 10*time.Second, 10*time.Second
}

// make adds databases that make ids in SQL, and numbers for them.
func (p *simPlan) make(makers int) {
	p.params.Workers += int64(makers - p.makers)
	p.makers = makers
}

// restores puts back backups often, where all clocks are as wrong as Fence allows for.
func (p *simPlan) restores() {
	p.faults.restore, p.faults.fence, p.faults.all = 20*time.Second, 0, 0
	p.faults.step, p.sane, p.skew = 10*time.Second, DefaultMaxSkew, DefaultMaxSkew
}

// forget makes failovers lose more than they may.
func (p *simPlan) forget() {
	p.faults.failover, p.faults.losing = 20*time.Second, p.params.Loss+p.params.Grace+time.Minute
	p.faults.restore, p.faults.fence = 0, 0
}

// simParams returns the constants of a namespace.
func simParams(layout snow.Layout, workers int, loss, window, pinned time.Duration) Params {
	p := NewParams(loss, window, pinned, layout.Tick())
	p.Name, p.Layout, p.Workers = "n", layout, int64(workers)
	return p
}

// simLayout has room for thousands of workers, whatever its tick is.
func simLayout(tick time.Duration) snow.Layout {
	l, err := snow.NewLayout(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), tick, snow.Bits{Timestamp: 41, Worker: 12, Sequence: 10})
	if err != nil {
		panic(err)
	}
	return l
}
