package numbers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardsnow/snow/internal/testkit/testscale"
)

var simSeed = flag.Uint64("sim.seed", 0, "simulate this seed only")

// A simPlan is what happens in a simulation, apart from chance.
type simPlan struct {
	procs    int
	loss     time.Duration
	step     int64
	pause    time.Duration // between two calls of a process, at most
	failover time.Duration // mean time between two
	still    float64       // share of calls after which a process stands still for longer than the loss window
	message  float64       // share of statements that are lost or late
	restart  Restart
	rivals   bool // processes disagree about restart, and the first one decides
	flaws    simFlaws
}

// simFlaws are bugs that the simulation must find. They are built into the harness, and the configuration of Fast.
type simFlaws struct {
	blind  bool // the statement does not look for the claim
	read   bool // a claim is proven by a read, which an old primary answers, too
	hasty  bool // a claim is proven at once
	early  bool // a claim is proven a little before the end of the loss window
	wall   bool // the wait is measured with a clock that somebody sets
	noLoss bool // no loss window at all
	series bool // the configuration is not proven
}

func drawSimPlan(seed uint64) simPlan {
	r := rand.New(rand.NewPCG(seed, 12))
	pick := func(all ...time.Duration) time.Duration { return all[r.IntN(len(all))] }
	loss := pick(time.Second, 5*time.Second, 20*time.Second)
	p := simPlan{
		procs: 2 + r.IntN(4), loss: loss, step: []int64{1, 3, 20, 100}[r.IntN(4)],
		pause: loss * time.Duration(1+r.IntN(20)) / 40, failover: loss * time.Duration(1+r.IntN(12)) / 3,
		still: []float64{0, 0.02, 0.2}[r.IntN(3)], message: []float64{0, 0.03, 0.2}[r.IntN(3)],
		restart: []Restart{Never, Daily}[r.IntN(2)], rivals: r.IntN(4) == 0,
	}
	if p.rivals { // which matters when the first process has just begun
		p.failover, p.step = loss/5, 1
	}
	return p
}

// A simResult is what a simulation did.
type simResult struct {
	failure                string
	given, lost, failovers int
}

// simulate runs processes until some time after the last failover. No text may be given out twice.
func simulate(t *testing.T, seed uint64, plan simPlan) (r simResult) {
	synctest.Test(t, func(t *testing.T) {
		// Midnight is in the middle.
		time.Sleep(24*time.Hour - 10*plan.loss)
		w, e, err := newSimWorld(seed, plan)
		if err != nil {
			t.Fatal(err)
		}
		pattern, err := ParsePattern("{tenant}/{yyMMdd}/{00000000}")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		given := map[string]bool{}
		var all sync.WaitGroup
		for i := range plan.procs {
			all.Go(func() {
				random := rand.New(rand.NewPCG(seed, 100+uint64(i)))
				db := w.open()
				defer db.Close()
				var f *Fast
				for ctx.Err() == nil {
					if f == nil || random.IntN(200) == 0 { // another process
						restart := plan.restart
						if plan.rivals && random.IntN(2) == 0 {
							restart = Daily - restart // or Never
						}
						s := &series{db: db, engine: e, name: "s", pattern: pattern, restart: restart, zone: time.UTC, kind: fast, loss: plan.loss}
						f = newFast(s, plan.step)
						plan.configure(f)
						if random.IntN(2) == 0 && f.wait > 0 {
							_ = f.claimSeries(ctx) // as OpenFast does
						}
					}
					call, end := context.WithTimeout(ctx, plan.loss*time.Duration(1+random.IntN(30))/10)
					texts := make([]string, 1+random.IntN(int(2*plan.step)))
					if random.IntN(3) > 0 {
						texts = texts[:1]
					}
					err := f.Fill(call, texts, string(rune('a'+random.IntN(2))))
					end()
					if errors.As(err, new(*MismatchError)) {
						f = nil
					}
					if random.Float64() < plan.still { // with numbers that nobody has seen
						time.Sleep(time.Duration(random.Int64N(int64(3 * plan.loss))))
					}
					mu.Lock()
					for _, text := range texts {
						if err == nil && given[text] && r.failure == "" {
							r.failure = fmt.Sprintf("%s was given out twice", text)
						}
						given[text] = given[text] || err == nil
					}
					mu.Unlock()
					time.Sleep(time.Duration(random.Int64N(int64(plan.pause))))
				}
			})
		}
		random := rand.New(rand.NewPCG(seed, 13))
		for end := time.Now().Add(20 * plan.loss); time.Now().Before(end); {
			time.Sleep(time.Duration(random.ExpFloat64() * float64(plan.failover)))
			w.failOver()
			r.failovers++
		}
		w.mu.Lock()
		w.calm, r.lost = true, w.lost
		w.mu.Unlock()
		time.Sleep(10 * plan.loss)
		mu.Lock()
		before := len(given)
		mu.Unlock()
		time.Sleep(10 * plan.loss)
		mu.Lock()
		if len(given) == before && r.failure == "" {
			r.failure = "no number was given out in a calm"
		}
		r.given = len(given)
		mu.Unlock()
		cancel()
		all.Wait()
		time.Sleep(time.Hour) // for late statements
	})
	return r
}

// configure sets what openFast sets, and the flaws of a plan.
func (p *simPlan) configure(f *Fast) {
	f.wait = p.loss + eps
	switch {
	case p.flaws.noLoss:
		f.wait = 0
	case p.flaws.hasty:
		f.wait = 1
	case p.flaws.early:
		f.wait = p.loss / 2
	case p.flaws.wall:
		begun := time.Now()
		f.clock = func() time.Time { // somebody sets it forward by an hour, again and again
			now := time.Now()
			return now.Add(time.Hour * (now.Sub(begun) / p.loss))
		}
	}
	f.kept.done = p.flaws.series
}

// TestSimulationOfFailovers runs worlds of random seeds.
func TestSimulationOfFailovers(t *testing.T) {
	budget := testscale.Of(2*time.Second, time.Minute)
	var sum simResult
	seed := max(*simSeed, 1)
	for begin := time.Now(); ; seed++ {
		plan := drawSimPlan(seed)
		r := simulate(t, seed, plan)
		if r.failure != "" {
			t.Fatalf("-sim.seed=%d: %s\n%+v", seed, r.failure, plan)
		}
		sum.given, sum.lost, sum.failovers = sum.given+r.given, sum.lost+r.lost, sum.failovers+r.failovers
		if *simSeed != 0 || time.Since(begin) > budget {
			break
		}
	}
	t.Logf("up to seed %d: %d numbers, %d failovers that lost %d commits", seed, sum.given, sum.failovers, sum.lost)
}

// TestMutantsAreCaughtInFailovers plants bugs, and asserts that the simulation finds each: where tests may not take
// long, it begins with a seed that is known to find it.
func TestMutantsAreCaughtInFailovers(t *testing.T) {
	seeds := map[string]uint64{"the configuration is not proven": 23, "a claim is proven before the loss window ends": 4, "no loss window": 1}
	for name, flaws := range map[string]simFlaws{
		"no loss window":                                {noLoss: true},
		"the configuration is not proven":               {series: true},
		"a claim without a token":                       {blind: true},
		"a claim is proven by a read":                   {read: true},
		"a claim is proven at once":                     {hasty: true},
		"a claim is proven before the loss window ends": {early: true},
		"the wait is measured with the wall clock":      {wall: true},
	} {
		t.Run(name, func(t *testing.T) {
			first := uint64(0)
			if !testscale.Long() {
				first = seeds[name]
			}
			for seed := first; seed < 200; seed++ {
				plan := drawSimPlan(seed)
				plan.flaws = flaws
				if flaws.series {
					plan.rivals, plan.failover, plan.step = true, plan.loss/5, 1
				}
				if r := simulate(t, seed, plan); strings.HasSuffix(r.failure, "twice") {
					t.Logf("seed %d: %s", seed, r.failure)
					return
				}
			}
			t.Error("not caught in 200 seeds")
		})
	}
}
