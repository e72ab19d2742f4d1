package mergecommand

import (
	"testing"
	"time"

	"github.com/shardsnow/snow/merge"
)

func TestDescribeGroups(t *testing.T) {
	at := time.Date(2026, 5, 1, 2, 0, 0, 0, time.UTC)
	for want, p := range map[string]merge.GroupsProgress{
		"groups: 0 done, 0 failed, 2 under way, 36 waiting":                                                      {Waiting: 36, Running: 2, Total: 100},
		"groups: 12 done, 1 failed, 2 under way, 23 waiting; 40 %; the last one ends in about 1h30m0s, at 03:30": {Waiting: 23, Running: 2, Done: 12, Failed: 1, Total: 1000, Rows: 400, Left: 90 * time.Minute},
		"groups: 38 done, 0 failed, 0 under way, 0 waiting; 100 %":                                               {Done: 38, Total: 10, Rows: 10},
	} {
		if got := describeGroups(p, at); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
