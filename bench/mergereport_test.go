package main

import (
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/bench/merge"
)

func TestMergeReport(t *testing.T) {
	s := &section[merge.Result]{Machine: machine{CPU: "Some CPU", OS: "Some system", Kernel: "1", Go: "go1"}, Result: merge.Result{
		Version: "10.11.19-MariaDB-0+deb12u1-log",
		Cases: []merge.CaseResult{
			{Name: "quick", Rows: 1_000_000, Floor: 3 * time.Second, Run: 5 * time.Second, Target: 0.5, Phases: []merge.Phase{
				{Name: "mint", Took: time.Second}, {Name: "copy", Took: 3 * time.Second}, {Name: "verify", Took: time.Second},
			}},
			{Name: "slow", Rows: 1000, Floor: time.Second, Run: 5 * time.Second, Target: 0.25, Phases: []merge.Phase{{Name: "copy", Took: 5 * time.Second}}},
		},
		Memory: []merge.Peak{{Rows: 1_000_000, Bytes: 50e6}, {Rows: 4_000_000, Bytes: 57e6}},
	}}
	report := mergeReport(s)
	for _, want := range []string{
		"MariaDB 10.11.19", "1,000,000", "| 200,000 |", "0.60×", "≥ 0.50×", "0.20×", "0.75×", "| **no** |", "mint 1.00 s, copy 3.00 s, verify 1.00 s",
		"Measured: **+14.0 %: not met**", "57.0 MB",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not have %q", want)
		}
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
