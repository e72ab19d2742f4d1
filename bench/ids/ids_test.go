package ids

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestGeneratorsMakeUniqueIDs(t *testing.T) {
	names := map[string]bool{}
	for _, g := range slices.Concat(snowGenerators(t.Context()), peers()) {
		if names[g.Name] {
			t.Errorf("two generators are called %q", g.Name)
		}
		names[g.Name] = true
		t.Run(g.Name, func(t *testing.T) {
			defer g.Setting.use()()
			start, err := g.New()
			if err != nil {
				t.Fatal(err)
			}
			// Two goroutines' Runs share one generator.
			runs := []Run{start(), start()}
			seen := map[uint64]bool{}
			for i := range 1000 {
				id, err := g.number(runs[i%2])
				if err != nil {
					t.Fatal(err)
				}
				if id == 0 || seen[id] {
					t.Fatalf("id %d is %d, which is zero or was there before", i, id)
				}
				seen[id] = true
			}
		})
	}
}

func TestRunReturnsTheLastOfItsIDs(t *testing.T) {
	for _, g := range snowGenerators(t.Context()) {
		start, err := g.New()
		if err != nil {
			t.Fatal(err)
		}
		run := start()
		first, err := run(1)
		if err != nil {
			t.Fatal(err)
		}
		// Layouts differ in where the sequence is, but all of them ascend, or take turns over 16 lanes.
		last, err := run(3)
		after := last >= first+3*uint64(max(g.PerCall, 1))
		if g.Name == SnowNextLanes {
			after = last>>38&15 == (first>>38+3)&15
		}
		if err != nil || !after {
			t.Errorf("%s: three calls after %d end with %d, %v", g.Name, first, last, err)
		}
	}
}

func TestFloorsRun(t *testing.T) {
	for _, g := range floors() {
		start, err := g.New()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := start()(2); err != nil {
			t.Errorf("%s: %v", g.Name, err)
		}
	}
}

func TestTextsReadWhatTheyWrite(t *testing.T) {
	b, err := newTextBench(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{"": true}
	for _, c := range b.calls() {
		sink.id = 0
		if _, err := c.run(textIDs); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if last := b.ids[textIDs-1]; strings.Contains(c.name, "arse") && c.against != "" && sink.id != last {
			t.Errorf("%s read %d, want %d", c.name, sink.id, last)
		}
		if !names[c.against] {
			t.Errorf("%s is compared with %q, which is not measured before", c.name, c.against)
		}
		names[c.name] = true
	}
}

func TestHistogram(t *testing.T) {
	if got := len(new(histogram).counts) - 1; got != bucketOf(math.MaxInt64) {
		t.Errorf("the longest duration goes to bucket %d, the last is %d", bucketOf(math.MaxInt64), got)
	}
	for _, d := range []time.Duration{0, 1, 63, 64, 65, 127, 128, 1000, 123_456_789, time.Hour, math.MaxInt64} {
		b := bucketOf(d)
		if upper(b) < d || b > 0 && upper(b-1) >= d {
			t.Errorf("%d is in bucket %d, which ends at %d after %d", d, b, upper(b), upper(max(b-1, 0)))
		}
		if wide := upper(b) - d; wide > d/32 {
			t.Errorf("bucket %d holds %d and %d", b, d, upper(b))
		}
	}

	var a, b histogram
	for d := range time.Duration(1000) {
		a.add(d + 1)
	}
	b.add(time.Second)
	a.merge(&b)
	got := a.percentiles(2)
	if got.Calls != 1001 || got.Max != time.Second || got.P9999 != time.Second || got.Goroutines != 2 {
		t.Errorf("got %+v", got)
	}
	for _, c := range []struct{ got, want time.Duration }{{got.P50, 501}, {got.P99, 991}, {got.P999, 1000}} {
		if c.got < c.want || c.got > c.want+c.want/32 {
			t.Errorf("got %d, want %d to %d", c.got, c.want, c.want+c.want/32)
		}
	}
	if p := new(histogram).percentiles(1); p.P50 != 0 || p.Calls != 0 {
		t.Errorf("an empty histogram has %+v", p)
	}
}

func TestEvenness(t *testing.T) {
	var counting, lopsided []uint64
	for i := range uint64(6400) {
		counting, lopsided = append(counting, i), append(lopsided, i<<20)
	}
	for _, m := range Moduli {
		if e := evennessOf(counting, m); !e.Passes() || len(e.Counts) != m {
			t.Errorf("numbers in a row fail modulo %d: %+v", m, e)
		}
	}
	e := evennessOf(lopsided, 64)
	if e.Passes() || e.Largest() != 1 || e.ChiSquare != 6400*63 {
		t.Errorf("all in residue 0 is %v, chi-square %v, largest %v", e.Passes(), e.ChiSquare, e.Largest())
	}
	// The critical value of one degree of freedom at 0.01 is 6.635.
	for _, c := range []struct {
		zeros  int
		passes bool
	}{{5000, true}, {5128, true}, {5129, false}} {
		ids := make([]uint64, 10_000)
		for i := range ids[c.zeros:] {
			ids[i] = 1
		}
		if e := evennessOf(ids, 2); e.Passes() != c.passes {
			t.Errorf("%d of 10,000 pass is %v, p = %v", c.zeros, e.Passes(), e.P)
		}
	}
}

func TestMedianAndSpread(t *testing.T) {
	for _, c := range []struct {
		x              []float64
		median, spread float64
	}{
		{[]float64{3}, 3, 0},
		{[]float64{4, 2}, 3, 1.0 / 3},
		{[]float64{9, 1, 4}, 4, 1},
	} {
		if m, s := median(c.x), spread(c.x); m != c.median || math.Abs(s-c.spread) > 1e-15 {
			t.Errorf("median and spread of %v are %v and %v", c.x, m, s)
		}
	}
	if !math.IsNaN(median(nil)) || !math.IsNaN(spread(nil)) {
		t.Error("nothing has a median or a spread")
	}
}

func TestLoopCountsEveryCall(t *testing.T) {
	counts := make([]int64, 3)
	runs := make([]Run, len(counts))
	for i := range runs {
		runs[i] = func(n int) (uint64, error) { counts[i] += int64(n); return 0, nil }
	}
	s, err := loop(runs, 7, time.Millisecond)
	if err != nil || s.calls == 0 || s.calls != counts[0]+counts[1]+counts[2] || s.wall < time.Millisecond {
		t.Errorf("got %+v, %v, want calls %v", s, err, counts)
	}
}

func TestBase62(t *testing.T) {
	if got := base62("10Az"); got != 1*62*62*62+10*62+61 {
		t.Errorf("got %d", got)
	}
}
