package fleet

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if IsMember() {
		if err := Serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestMeasure(t *testing.T) {
	all, err := Measure(t.Context(), Options{
		Sizes: []int{20, 40}, Burst: 10, Window: 3 * time.Second, Steady: 3 * time.Second, Outage: 10 * time.Millisecond,
		Progress: func(line string) { t.Log(line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 4 {
		t.Errorf("got %d stores", len(all))
	}
	for _, r := range all {
		if r.Version == "" || r.Burst.Leases != 10 || r.Largest.Leases != 40 || r.Burst.P99 <= 0 || r.Burst.RoundTrips == 0 || r.Back.All <= 0 || r.Back.P50 <= 0 {
			t.Errorf("got %+v", r)
		}
		if r.Goroutines < 0.5 { // a lease whose window ended on a busy machine has none
			t.Errorf("%s: %v goroutines a lease", r.Store, r.Goroutines)
		}
		for i, l := range r.Loads {
			if l.Leases != []int{20, 40}[i] || l.Renewals == 0 || l.RoundTrips == 0 || l.P99 < l.P50 || l.Busiest == 0 {
				t.Errorf("%s: got %+v", r.Store, l)
			}
		}
	}
}

func TestCoresAt(t *testing.T) {
	load := func(leases int, cores float64) Load {
		return Load{Leases: leases, Renewals: leases, Processor: time.Duration(cores * float64(Every))}
	}
	for _, test := range []struct {
		loads []Load
		want  float64 // for 100,000
	}{
		{[]Load{load(1000, 0.02), load(5000, 0.06), load(20_000, 0.21)}, 1.01},
		{[]Load{load(1000, 0.01)}, 1},
		{[]Load{load(1000, 0.2), load(20_000, 0.01)}, 0}, // not less than nothing
		{nil, 0},
	} {
		if got := (Result{Loads: test.loads}).CoresAt(100_000); math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%+v: got %v cores, want %v", test.loads, got, test.want)
		}
	}
}

func TestTimes(t *testing.T) {
	times := newTimes()
	if n, p50, p99 := times.percentiles(); n != 0 || p50 != 0 || p99 != 0 {
		t.Errorf("of nothing: %d, %v, %v", n, p50, p99)
	}
	for i := range 1000 {
		times.add(time.Duration(999-i) * time.Millisecond)
	}
	if n, p50, p99 := times.percentiles(); n != 1000 || p50 != 500*time.Millisecond || p99 != 990*time.Millisecond {
		t.Errorf("got %d, %v, %v", n, p50, p99)
	}
}
