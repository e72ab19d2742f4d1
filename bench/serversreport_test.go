package main

import (
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/bench/merge"
)

func TestServersReport(t *testing.T) {
	cost := func(took, each time.Duration) merge.Cost {
		return merge.Cost{Took: took, Source: each, Written: each, Program: each, Bytes: 50e6}
	}
	run := cost(15*time.Second, 2*time.Second)
	run.Phases = []merge.Phase{{Name: "copy", Took: 9 * time.Second}}
	report := serversReport(&section[merge.ServersResult]{Result: merge.ServersResult{Version: "10.11.19-MariaDB", Rows: 2_000_000, Work: []merge.Work{
		{Name: "dump", Cost: cost(10*time.Second, time.Second)},
		{Name: "run", Target: 2, Cost: run},
		{Name: "dry run", Target: 0.5, Cost: cost(6*time.Second, time.Second)},
	}}})
	for _, want := range []string{"2,000,000 rows together", "| 1.50× |", "| 2.00× |", "≤ 0.50×", "| yes |", "| **no** |", "- run: copy 9.00 s", "50.0 MB"} {
		if !strings.Contains(strings.Join(strings.Fields(report), " "), want) {
			t.Errorf("the report does not have %q:\n%s", want, report)
		}
	}
}
