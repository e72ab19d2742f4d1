package ids

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"
	"time"
)

// tiny measures next to nothing, of everything.
func tiny() Options {
	return Options{
		Rounds: 1, Speed: time.Microsecond, SpeedBound: time.Microsecond, Latency: time.Microsecond,
		TrickleCalls: 3, EvennessIDs: 3, Text: time.Microsecond,
	}
}

func TestMeasureFillsEveryRow(t *testing.T) {
	r, err := Measure(t.Context(), tiny())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		for _, n := range r.Goroutines {
			if s := row.At(n); len(s.NS) != 1 || s.PerID() <= 0 {
				t.Errorf("%s has speed %+v", row.Name, s)
			}
		}
		timed := row.Kind != Floor || row.Name == FloorEmpty
		if got := row.LatencyAt(64) != nil && row.LatencyAt(1) != nil && row.Trickle != nil; got != timed {
			t.Errorf("%s has latencies %+v and %+v", row.Name, row.Latency, row.Trickle)
		}
		setting := slices.ContainsFunc(peers(), func(g Generator) bool { return g.Name == row.Name && g.Setting != nil })
		if want := row.Kind != Floor && row.PerCall == 1 && !setting; (len(row.Evenness) == len(Moduli)) != want {
			t.Errorf("%s has evenness %+v", row.Name, row.Evenness)
		}
	}
	for _, target := range r.Targets() {
		if target.Measured == "" || target.Measured == "–" {
			t.Errorf("target %+v is not measured", target)
		}
	}

	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Targets(), r.Targets()) {
		t.Error("targets differ after a round trip through JSON")
	}
}

func TestMeasureStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	opts := tiny()
	opts.Progress = func(string) { cancel() }
	if r, err := Measure(ctx, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestTargetsOfAnEmptyResultAreNotMet(t *testing.T) {
	for _, target := range new(Result).Targets() {
		if target.Met {
			t.Errorf("%+v is met", target)
		}
	}
}

func TestTargets(t *testing.T) {
	row := func(name string, perSecond, ns, cpu float64, p999, longest time.Duration) Row {
		r := Row{Name: name, Kind: Peer, PerSecond: perSecond, PerCall: 1}
		for _, n := range []int{1, 2, 64} {
			r.Speed = append(r.Speed, Speed{n, []float64{ns}, []float64{cpu}})
			r.Latency = append(r.Latency, Percentiles{Goroutines: n, P999: p999, Max: longest})
		}
		return r
	}
	base := func() *Result {
		return &Result{Rows: []Row{
			row(SnowNext, 4_096_000, 1e9/4_096_000, 0.04, 2*time.Millisecond, 4*time.Millisecond),
			row(SnowFill64, 4_096_000, 1e9/4_096_000, 0.01, 0, 0),
			row(SnowNextWide, 0, 30, 0.03, 100, 0),
			row(SnowNextLanes, 0, 32, 0.03, 100, 0),
			row(SnowFill1000Wide, 0, 0.8, 0, 0, 0),
			row(FloorID, 0, 28, 0, 0, 0),
			row(FloorWrite, 0, 0.4, 0, 0, 0),
			row(Bwmarrin, 4_096_000, 245, 0.25, 4*time.Millisecond, 0),
			row(BwmarrinWide, 0, 100, 0, 200, 0),
			row(Sonyflake12, 4_096_000, 300, 0, 4*time.Millisecond, 0),
			row(Sonyflake20, 0, 100, 0, 200, 0),
		}}
	}
	unmet := func(r *Result) (n int) {
		for _, target := range r.Targets() {
			if target.Want != "" && !target.Met {
				n++
			}
		}
		return n
	}
	// What a table of rows can't hold: allocations, evenness, texts.
	const missing = 4
	if n := unmet(base()); n != missing {
		t.Errorf("%d targets are not met, want %d: %+v", n, missing, base().Targets())
	}
	for _, c := range []struct {
		why     string
		targets int
		change  func(*Result)
	}{
		{"Next is 20 % over its floor", 2, func(r *Result) { *r.Row(FloorID) = row(FloorID, 0, 25, 0, 0, 0) }},
		{"Next with lanes takes 20 % longer", 2, func(r *Result) { *r.Row(SnowNextLanes) = row(SnowNextLanes, 0, 36, 0, 0, 0) }},
		{"a peer is half as fast", 1, func(r *Result) { r.Row(BwmarrinWide).Speed[2].NS[0] = 60 }},
		{"a peer's p99.9 is the same", 1, func(r *Result) { r.Row(Sonyflake20).Latency[2].P999 = 100 }},
		{"Fill is 0.6 ns over writing", 1, func(r *Result) { r.Row(FloorWrite).Speed[0].NS[0] = 0.2 }},
		{"99.8 % of the rate", 1, func(r *Result) { r.Row(SnowFill64).Speed[2].NS[0] *= 1.002 }},
		{"bwmarrin needs little CPU", 4, func(r *Result) {
			r.Row(Bwmarrin).Speed[0].CPU[0], r.Row(Bwmarrin).Speed[2].CPU[0] = 0.1, 0.1
		}},
		{"a call takes 10 ms", 1, func(r *Result) { r.Row(SnowNext).Latency[2].Max = 10 * time.Millisecond }},
		{"a speed is missing", 1, func(r *Result) { r.Row(SnowNextWide).Speed[1].NS[0] = math.NaN() }},
	} {
		r := base()
		c.change(r)
		if n := unmet(r) - missing; n != c.targets {
			t.Errorf("%s: %d targets more are not met, want %d", c.why, n, c.targets)
		}
	}
}
