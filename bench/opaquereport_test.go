package main

import (
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/bench/opaquecost"
)

func TestOpaqueReport(t *testing.T) {
	report := (results{Opaque: &section[opaquecost.Result]{
		Date: time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC), Machine: machine{Kernel: "linux 6", Go: "go1.26"},
		Result: opaquecost.Result{Ways: []opaquecost.Way{
			{Name: "opaque, AES-128", Example: "ord_11m6bp6t15r7nr7", Write: []float64{400, 300, 500}, Read: []float64{300}, WriteAllocs: 1},
			{Name: "opaque, AES-256", Example: "ord_11m6bp6t15r7nr7", Write: []float64{400}, Read: []float64{1600}, WriteAllocs: 1},
			{Name: "sqids, no cipher", Example: "abc", Write: []float64{4000}, Read: []float64{3000}, WriteAllocs: 30, ReadAllocs: 4},
		}},
	}}).report()
	for _, want := range []string{
		"| opaque, AES-128  |  400 ns |  300 ns |             1 |    0 |         19 | ≤ 1.5 µs, 1 |    yes |",
		"| opaque, AES-256  |  400 ns | 1600 ns |             1 |    0 |         19 | ≤ 1.5 µs, 1 | **no** |",
		"| sqids, no cipher | 4000 ns | 3000 ns |            30 |    4 |          3 |           – |      – |",
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
