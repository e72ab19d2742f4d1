package mergecommand

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/report"
)

// The last end, against groups that are played through second by second.
func TestLastEnd(t *testing.T) {
	for _, tt := range []struct {
		running []pending
		waiting []float64
		rate    float64
		places  int
		want    time.Duration
	}{
		{nil, nil, 10, 2, 0},
		{[]pending{{100, 10}}, nil, 10, 2, 10 * time.Second},
		{[]pending{{100, 10}}, []float64{50}, 10, 1, 15 * time.Second},
		{[]pending{{100, 10}}, []float64{50}, 10, 2, 10 * time.Second},
		{[]pending{{100, 10}, {30, 10}}, []float64{50, 50}, 10, 2, 13 * time.Second},
		// one has not handled anything yet
		{[]pending{{100, 0}, {300, 100}}, nil, 10, 2, 10 * time.Second},
		// a long one at the end
		{nil, []float64{10, 10, 10, 100}, 10, 2, 11 * time.Second},
		// more than places at once
		{[]pending{{10, 1}, {10, 1}, {10, 1}}, []float64{10, 10, 10, 10}, 1, 3, 30 * time.Second},
	} {
		if got := lastEnd(tt.running, tt.waiting, tt.rate, tt.places); got != tt.want {
			t.Errorf("%+v: got %v, want %v", tt, got, tt.want)
		}
	}
}

// Rows that an earlier run has handled are no speed of this one.
func TestGroupsProgress(t *testing.T) {
	at := time.Unix(0, 0)
	g := &group{rows: 100, began: at, handled: map[string]int64{}}
	n := &groupsRun{atOnce: 1, now: func() time.Time { return at }, groups: []*group{g, {rows: 100}}}
	if p := n.progress(); p.left != 0 || p.total != 600 || p.running != 1 || p.waiting != 1 {
		t.Errorf("at the beginning: %+v", p)
	}
	for _, e := range []report.Event{
		{Kind: report.EventPhase, Phase: "mint"},
		{Kind: report.EventTable, Phase: "mint", Source: "eu", Table: "t", Rows: 90},
		{Kind: report.EventChunk, Phase: "mint", Source: "eu", Table: "t", Rows: 100},
		{Kind: report.EventEnd, Phase: "mint", Source: "eu", Table: "t", Rows: 100},
		{Kind: report.EventTable, Phase: "copy", Source: "eu", Table: "t", Rows: 0},
		{Kind: report.EventChunk, Phase: "copy", Source: "eu", Table: "t", Rows: 10},
		{Kind: report.EventChunk, Phase: "link", Source: "eu", Table: "t", Rows: 10},
	} {
		g.event(e)
	}
	at = at.Add(2 * time.Second)
	p := n.progress() // 20 rows in 2 s; 190 and 300 are left
	if p.rows != 110 || p.left != 49*time.Second {
		t.Errorf("got %+v", p)
	}
	g.ended, g.err, g.took = true, errors.New("no"), 2*time.Second
	if p := n.progress(); p.failed != 1 || p.waiting != 1 || p.left != 30*time.Second {
		t.Errorf("after it failed: %+v", p)
	}
	g.err = &report.OpenError{}
	if p := n.progress(); p.failed != 0 || p.done != 1 {
		t.Errorf("something was left open: %+v", p)
	}
}

func TestGroupsThatCanNotRun(t *testing.T) {
	var groups []*group
	for _, name := range []string{"a", "b", "c"} {
		c := &Command{sources: []namedDSN{{"s", "no such file.db"}}, product: "sqlite", timeout: time.Second}
		groups = append(groups, &group{Command: c, name: name, handled: map[string]int64{}})
	}
	n := &groupsRun{atOnce: 2, now: time.Now, groups: groups}
	n.run(t.Context(), func(context.Context, *group, *merge.Merge) error { return nil })
	for _, g := range groups {
		if g.err == nil || g.took != 0 {
			t.Errorf("%s: %v after %v", g.name, g.err, g.took)
		}
	}
}

func TestDescribeGroups(t *testing.T) {
	at := time.Date(2026, 5, 1, 2, 0, 0, 0, time.UTC)
	for want, p := range map[string]groupsProgress{
		"groups: 0 done, 0 failed, 2 under way, 36 waiting":                                                      {waiting: 36, running: 2, total: 100},
		"groups: 12 done, 1 failed, 2 under way, 23 waiting; 40 %; the last one ends in about 1h30m0s, at 03:30": {waiting: 23, running: 2, done: 12, failed: 1, total: 1000, rows: 400, left: 90 * time.Minute},
		"groups: 38 done, 0 failed, 0 under way, 0 waiting; 100 %":                                               {done: 38, total: 10, rows: 10},
	} {
		if got := p.describe(at); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
