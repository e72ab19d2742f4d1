package protocol

import (
	"flag"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/testscale"
)

var (
	simSeed = flag.Uint64("sim.seed", 0, "simulate this seed only")
	simTime = flag.Duration("sim.time", 0, "how long to simulate; 0 is 2 s, or a minute where tests may take long")
)

// TestSimulation runs worlds of random seeds for a while. A violation prints its
// seed, which -sim.seed replays, and what happened in a small world like it.
func TestSimulation(t *testing.T) {
	budget := testscale.Of(2*time.Second, time.Minute)
	if *simTime != 0 {
		budget = *simTime
	}
	if *simSeed != 0 {
		budget = 0
	}
	var sum simCounts
	seed := max(*simSeed, 1)
	for begin := time.Now(); ; seed++ {
		w := newSimWorld(seed, simDraw(seed, seed%2 == 0))
		w.tracing = *simSeed != 0
		if w.run(); w.failure != "" {
			t.Fatalf("-sim.seed=%d: %s\n%s", seed, w.failure, simSmallest(w, seed).story())
		}
		sum.add(&w.counts)
		if time.Since(begin) >= budget {
			break
		}
	}
	t.Logf("up to seed %d: %+v", seed, sum)
}

// TestSimulationOfLosses runs worlds whose databases lose more than they may. A
// process that has seen it makes no id that somebody else makes.
func TestSimulationOfLosses(t *testing.T) {
	budget := testscale.Of(time.Second, 30*time.Second)
	var sum simCounts
	seed := max(*simSeed, 1)
	for begin := time.Now(); ; seed++ {
		plan := simDraw(seed, seed%2 == 0)
		plan.rests, plan.only = false, "I8"
		plan.forget()
		w := newSimWorld(seed, plan)
		w.tracing = *simSeed != 0
		if w.run(); w.failure != "" {
			t.Fatalf("-sim.seed=%d: %s\n%s", seed, w.failure, simSmallest(w, seed).story())
		}
		sum.add(&w.counts)
		if time.Since(begin) >= budget || *simSeed != 0 {
			break
		}
	}
	t.Logf("up to seed %d: %+v", seed, sum)
}

// TestSimulationOfThousands has thousands of processes in one world.
func TestSimulationOfThousands(t *testing.T) {
	testscale.NeedLong(t)
	const procs = 2000
	for _, loss := range []time.Duration{0, 5 * time.Second} {
		plan := simDraw(*simSeed, loss > 0)
		plan.params = simParams(simLayout(time.Millisecond), procs+100, loss, time.Minute, 30*time.Second)
		plan.procs, plan.pinned, plan.duration = procs, 0, 90*time.Second
		plan.faults = simFaults{
			crash: time.Second / 5, stop: time.Second / 2, leave: time.Second / 2, partition: time.Second, outage: 30 * time.Second,
			message: 0.02, hunt: 0.0002, losing: loss, failover: loss * 4,
		}
		w := newSimWorld(*simSeed+1, plan)
		if w.run(); w.failure != "" {
			t.Fatalf("LossWindow %v: %s", loss, w.failure)
		}
		if w.counts.windows < procs {
			t.Errorf("LossWindow %v: only %d windows for %d processes", loss, w.counts.windows, procs)
		}
		t.Logf("LossWindow %v: %+v", loss, w.counts)
	}
}
