package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/bench/fleet"
)

// fleetSection is a section with made-up figures.
func fleetSection() *section[[]fleet.Result] {
	s := &section[[]fleet.Result]{Date: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), Machine: machine{Cores: 2, Kernel: "linux 6", Go: "go1.26"}}
	for i, store := range []string{fleet.MariaDB, fleet.PostgreSQL} {
		r := fleet.Result{
			Store: store, Version: store + " 10.11.19-Debian", Connections: 64, Outage: time.Minute, Bytes: 7900, Goroutines: 1,
			Burst:   fleet.Start{Leases: 1000, All: 900 * time.Millisecond, P50: 400 * time.Millisecond, P99: time.Duration(i+1) * 800 * time.Millisecond},
			Largest: fleet.Start{Leases: 20_000, All: 30 * time.Second, P50: 15 * time.Second, P99: 29 * time.Second, RoundTrips: 180_000, Processor: 40 * time.Second},
			Back:    fleet.Comeback{All: 17 * time.Second, P50: 8 * time.Second, P99: 16 * time.Second, Busiest: 1500, Processor: 5 * time.Second},
		}
		for _, leases := range []int{1000, 5000, 20_000} {
			r.Loads = append(r.Loads, fleet.Load{
				Leases: leases, Every: time.Minute, Took: fleet.Every, Renewals: leases, RoundTrips: int64(4 * leases), Busiest: leases / 25,
				Processor: time.Duration(leases*(i+1)) * 200 * time.Microsecond, Client: time.Second, P50: time.Millisecond, P99: 3 * time.Millisecond,
			})
		}
		s.Result = append(s.Result, r)
	}
	return s
}

func TestFleetReport(t *testing.T) {
	report := fleetReport(fleetSection())
	for _, want := range []string{
		"| MariaDB 10.11.19-Debian    | cores for 20,000 leases             |    ≤ 0.250 |    0.067 |    yes |",
		"| PostgreSQL 10.11.19-Debian | cores for 20,000 leases             |    ≤ 0.250 |    0.133 |    yes |",
		"| PostgreSQL 10.11.19-Debian | p99 of Acquire, 1,000 start at once | ≤ 1,000 ms | 1,600 ms | **no** |",
		"for 100,000 leases: MariaDB 0.333 cores, PostgreSQL 0.667 cores.\nThat is an extrapolation",
		"                     4.00 |     240 |           7,900 bytes |       1.00 |                9.00 |",
		"| PostgreSQL 10.11.19-Debian |      1,667 |        6,667 |                 150,000 leases |               200.00 s |",
		"| MariaDB 10.11.19-Debian    | 20,000 |   1m0s |          17,000 ms | 8,000 ms | 16,000 ms |",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not have %q:\n%s", want, report)
		}
	}
	for _, not := range []string{"NaN", "%!", "\n\n\n"} {
		if strings.Contains(report, not) {
			t.Errorf("the report has %q", not)
		}
	}
	for _, line := range strings.Split(report, "\n") {
		if strings.HasSuffix(line, " ") || len([]rune(line)) > 120 && !strings.HasPrefix(line, "|") {
			t.Errorf("a line is too long or ends with a space: %q", line)
		}
	}
}

func TestFleetChart(t *testing.T) {
	dir := t.TempDir()
	if err := (results{Fleet: fleetSection()}).write(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "charts", "fleet.svg")
	checkChart(t, path, "2 cores", "2026-03-02", "MariaDB 10.11.19", "20,000 leases are extrapolated")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "stroke-dasharray:3"); n != 2 {
		t.Errorf("%d dashed lines, want one for each store", n)
	}
}
