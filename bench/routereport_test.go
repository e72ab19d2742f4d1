package main

import (
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/bench/routecost"
)

func TestRouteReport(t *testing.T) {
	report := (results{Route: &section[routecost.Result]{
		Date: time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC), Machine: machine{Kernel: "linux 6", Go: "go1.26"},
		Result: routecost.Result{
			Cases: []routecost.Case{
				{Name: "find", Plain: []float64{5000, 6000, 5000}, Routed: []float64{6000, 7000, 6500}, Again: []float64{5010, 6000, 4900}, Allocs: 50, RoutedAllocs: 52},
				{Name: "create", Plain: []float64{5000}, Routed: []float64{7000}, Again: []float64{5000}, Allocs: 50, RoutedAllocs: 57},
			},
			Scatter: routecost.Scatter{Databases: 4, Alone: []float64{6e6}, Asked: []float64{6.4e6}},
		},
	}}).report()
	for _, want := range []string{
		"| find      |  5 µs |              1.00 µs | ≤ 1.50 µs |    yes | 0.00 µs |     50 |  2.0 |    ≤ 6 |    yes |",
		"|              2.00 µs | ≤ 1.50 µs | **no** | 0.00 µs |     50 |  7.0 |    ≤ 6 | **no** |",
		"4 databases that take 3 to 6 ms: the slowest alone takes 6 ms, and all together take\n6.4 ms. Wanted is at most a twentieth and 0.2 ms more, 6.5 ms: yes.",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not have %q", want)
		}
	}
	for line := range strings.Lines(report) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasSuffix(line, " ") || len([]rune(line)) > 120 && !strings.HasPrefix(line, "|") {
			t.Errorf("a line is too long or ends with a space: %q", line)
		}
	}
	if t.Failed() {
		t.Log(report)
	}
}
