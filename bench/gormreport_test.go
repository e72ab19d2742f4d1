package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/bench/gormcost"
)

// gormSection is a section with made-up figures.
func gormSection() *section[gormcost.Result] {
	return &section[gormcost.Result]{
		Date: time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC), Machine: machine{Kernel: "linux 6", Go: "go1.26"},
		Result: gormcost.Result{Version: "10.11.19-MariaDB-0+deb12u1", Cases: []gormcost.Case{
			{
				Rows: 1, ByHand: []float64{1e6, 2e6, 1e6}, Plugin: []float64{1.1e6, 2e6, 1.01e6}, ByHandAgain: []float64{1e6, 2e6, 1e6},
				Allocs: 77, PluginAllocs: 78, Bytes: 6000, PluginBytes: 6032,
			},
			{
				Rows: 1000, ByHand: []float64{1e7}, Plugin: []float64{1.03e7}, ByHandAgain: []float64{9e6},
				Allocs: 11_064, PluginAllocs: 12_064.5,
			},
			{Rows: 1, DryRun: true},
		}},
	}
}

func TestGORMReport(t *testing.T) {
	report := (results{GORM: gormSection()}).report()
	for _, want := range []string{
		"a full run", "10.11.19-MariaDB-0+deb12u1", "over 3 rounds",
		"time of one row over ids set by hand        | ≤ 1.030× |   1.010× |    yes |",
		"time of 1,000 rows over ids set by hand     | ≤ 1.020× |   1.030× | **no** |",
		"allocations of the plugin, one row          |      ≤ 2 |      1.0 |    yes |",
		"allocations of the plugin, 1,000 rows       |      ≤ 2 |   1000.5 | **no** |",
		"| one row          |    1 ms |  1.1 ms | 1.010× | 5.0 % |  1.000× | 0.0 % |     77 |     +1.0 | 6,000 |       32 |",
		"|  0.900× | 0.0 % |",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not have %q", want)
		}
	}
	for _, not := range []string{"NaN", "%!", "\n\n\n", "Primary keys"} {
		if strings.Contains(report, not) {
			t.Errorf("the report has %q", not)
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

func TestGORMResultsAreKept(t *testing.T) {
	dir := t.TempDir()
	want := results{GORM: gormSection()}
	if err := want.write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := readResults(filepath.Join(dir, "results.json"))
	if err != nil || got.report() != want.report() {
		t.Errorf("the report has changed on its way through results.json: %v\n%s", err, got.report())
	}
}
