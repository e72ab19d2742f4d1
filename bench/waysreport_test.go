package main

import (
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/bench/merge"
)

func TestWaysReport(t *testing.T) {
	seconds := func(n ...time.Duration) (all []time.Duration) {
		for _, each := range n {
			all = append(all, each*time.Second)
		}
		return all
	}
	s := &section[merge.Ways]{Machine: machine{CPU: "Some CPU", OS: "Some system", Kernel: "1", Go: "go1"}, Result: merge.Ways{
		Version: "10.11.19-MariaDB", Shapes: []string{"plain", "rich"}, Runs: []merge.WaysRun{
			{Server: true, Rows: 1000, Counts: true, Floor: seconds(1, 2), Run: seconds(2, 8)},
			{Rows: 1000, Others: 0.5, Counts: true, Floor: seconds(2, 2), Run: seconds(6, 10), Note: "on a busy disk"},
			{Rows: 1000, Others: 2, Floor: seconds(2, 2), Run: seconds(60, 100)},
			{Rows: 2000, Counts: true, Floor: seconds(2, 2), Run: seconds(60, 100)},
		},
	}}
	report := waysReport(s)
	for _, want := range []string{"MariaDB 10.11.19", "server, 1,000 ", "Go, 1,000, on a busy disk", "0.50 cores", "2.00 (1.00)", "3.00× (1.50×)", "1.25× (1.25×)", "1.60×"} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not have %q", want)
		}
	}
	if n := strings.Count(report, "× ("); n != 2 {
		t.Errorf("%d ratios of shapes, want 2", n)
	}
	for line := range strings.Lines(report) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasSuffix(line, " ") || len([]rune(line)) > 120 && !strings.HasPrefix(line, "|") {
			t.Errorf("a line is too long or ends with a space: %q", line)
		}
	}
	if t.Failed() {
		t.Log(report)
	}
}
