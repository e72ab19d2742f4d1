package segments

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

// spend gives out up to n numbers as callers of Next do, and returns how many there were.
func spend(p *pool, n int64) (spent int64) {
	for spent < n {
		b := p.current.Load()
		some := min(n-spent, b.left())
		b.reserved.Add(some)
		if spent += some; spent < n && !p.swap() {
			return spent
		}
	}
	return spent
}

func TestSegmentStep(t *testing.T) {
	const target = time.Second
	p := testPool(1, Config{Step: 10, MaxStep: 640, Target: target})
	now, next := time.Duration(0), int64(1)
	take := func() {
		for q, ok, _ := p.ask(now); ok; q, ok, _ = p.ask(now) {
			p.handle(q, give(q, next), now)
			next += q.count
		}
	}
	for i, test := range []struct {
		used   int64
		lasted time.Duration
		want   int64
	}{
		{9, 0, 10}, // not a step of them yet
		{1, target - 1, 20},
		{20, target, 20},
		{20, 2*target - 1, 20},
		{20, 2 * target, 10},
		{10, time.Hour, 10}, // no fewer than Step
		{9, 0, 10},
		{1, time.Hour, 10}, // most of the time nobody wanted any
		{40, target / 2, 80},
		{79, 0, 80},
		{80, 0, 160},
		{320, 3 * target / 2, 320}, // a step of them within a target
		{640, 3 * target / 2, 640},
		{2000, target, 640}, // no more than MaxStep
		{640, 10 * target, 320},
	} {
		for left := test.used; left > 0; {
			left -= spend(p, left)
			if left > 0 { // more than are at hand, from as many takes as that needs
				q := p.begin(0, now)
				p.handle(q, give(q, next), now)
				next += q.count
			}
		}
		now += test.lasted
		if take(); p.step != test.want {
			t.Errorf("%d: after %d numbers in %v: got a step of %d, want %d", i, test.used, test.lasted, p.step, test.want)
		}
		if most := p.step + max(p.step, 640); p.left() > most {
			t.Errorf("%d: %d numbers are at hand, want %d at most", i, p.left(), most)
		}
	}
}

// A Fill that is longer than a step is one request, and the step does not change before its numbers are given out.
func TestSegmentsOfLongFill(t *testing.T) {
	p := testPool(1, Config{Step: 10, MaxStep: 1000})
	next := int64(1)
	answer := func() (asked []int64) {
		for q, ok, _ := p.ask(0); ok; q, ok, _ = p.ask(0) {
			p.handle(q, give(q, next), 0)
			next += q.count
			asked = append(asked, q.count)
		}
		return asked
	}
	for _, test := range []struct {
		fill int
		want string
	}{{1, "[10 10]"}, {500, "[481]"}, {3000, "[1000 720]"}} {
		ids := make([]snow.ID, test.fill)
		var asked []int64
		for !p.fill(ids) {
			p.wanted = int64(len(ids))
			asked = append(asked, answer()...)
		}
		if got := fmt.Sprint(asked); got != test.want {
			t.Errorf("a Fill of %d: asked for %s, want %s", test.fill, got, test.want)
		}
		answer()
	}
}

// A load is how many ids a process makes in a second, at a time since its start.
type load struct {
	name   string
	rate   func(time.Duration) float64
	steady bool
}

func loads() (all []load) {
	for _, rate := range []float64{1. / 3600, 1. / 60, 1, 10, 1000, 30_000, 1e6} {
		all = append(all,
			load{fmt.Sprintf("%.3g a second", rate), func(time.Duration) float64 { return rate }, true},
			load{fmt.Sprintf("%.3g a second, in bursts", rate), func(now time.Duration) float64 {
				if now%(7*time.Minute) < 3*time.Second {
					return rate
				}
				return 0
			}, false},
			load{fmt.Sprintf("up to %.3g a second", rate), func(now time.Duration) float64 {
				return rate * rand.New(rand.NewPCG(uint64(now/time.Minute), 1)).Float64()
			}, false})
	}
	return all
}

// Whatever the load is, numbers at hand are at most what docs/segments.md says that an end of the process skips:
// two steps, which are at most twice what was given out within one target, but no fewer than Step. At a steady load
// nobody waits, and the numbers at hand last for a target.
func TestSegmentsAtHand(t *testing.T) {
	const answer = 10 * time.Millisecond
	for _, l := range loads() {
		for _, restarts := range []bool{false, true} {
			p := testPool(1, Config{})
			tick := max(p.target/2000, answer) // a reply arrives in the next tick
			if mean := l.rate(0); mean < 1 {
				tick = time.Duration(float64(time.Second) / mean / 3)
			}
			const ticks = 20_000
			random := rand.New(rand.NewPCG(1, 2))
			next, born, rest := int64(1), time.Duration(0), 0.0
			var window []int64 // what was given out in the last ticks, for a target
			var busy, busiest, lives, issued, waits int64
			var under []request
			begin := func(now time.Duration) {
				q := p.begin(0, 0)
				p.handle(q, give(q, next), 0)
				next += q.count
				born, lives, window, busy, busiest, under = now, lives+1, nil, 0, 0, nil
			}
			begin(0)
			for i := range time.Duration(ticks) {
				now := i*tick - born
				for _, q := range under {
					p.handle(q, give(q, next), now)
					next += q.count
				}
				under = under[:0]
				rest += l.rate(now) * tick.Seconds()
				n := int64(rest)
				spent := spend(p, n)
				rest -= float64(spent)
				issued += spent
				late := now > 5*p.target && l.steady
				if spent < n {
					p.wanted, rest = 1, min(rest, 10)
					if waits++; late {
						t.Fatalf("%s: after %v a caller waits", l.name, now)
					}
				}
				window, busy = append(window, spent), busy+spent
				if len(window) > int(p.target/tick)+1 {
					busy, window = busy-window[0], window[1:]
				}
				busiest = max(busiest, busy)
				most := 2 * max(p.minStep, 2*busiest)
				if p.left() > most || p.step > 2*max(p.minStep, busiest) {
					t.Fatalf("%s: after %v %d numbers are at hand in steps of %d, want %d at most: %d in the busiest %v",
						l.name, now, p.left(), p.step, most, busiest, p.target)
				}
				if least := 0.95 * min(l.rate(now)*p.target.Seconds(), float64(p.maxStep)); late && float64(p.left()) < least {
					t.Fatalf("%s: after %v %d numbers are at hand in steps of %d, want %.0f for %v without a database", l.name, now, p.left(), p.step, least, p.target)
				}
				for q, ok, _ := p.ask(now); ok; q, ok, _ = p.ask(now) {
					under = append(under, q)
				}
				if restarts && random.IntN(ticks/70) == 0 {
					p = testPool(1, Config{})
					begin(i * tick)
				}
			}
			if skipped := next - 1 - issued; testing.Verbose() {
				t.Logf("%-28s %2d lives: %9d ids, %9d skipped, at the end %d at hand in steps of %d, %d waits", l.name, lives, issued, skipped, p.left(), p.step, waits)
			}
		}
	}
}
