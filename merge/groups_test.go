package merge

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

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
	g := &groupProgress{result: GroupResult{Rows: 100}, began: at, rows: map[string]int64{}}
	n := &groupsRun{GroupsConfig: GroupsConfig{AtOnce: 1}, now: func() time.Time { return at }, groups: []*groupProgress{g, {result: GroupResult{Rows: 100}}}}
	if p := n.progress(); p.Left != 0 || p.Total != 600 || p.Running != 1 || p.Waiting != 1 {
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
	if p.Rows != 110 || p.Left != 49*time.Second {
		t.Errorf("got %+v", p)
	}
	g.ended, g.result.Err, g.result.Took = true, errors.New("no"), 2*time.Second
	if p := n.progress(); p.Failed != 1 || p.Waiting != 1 || p.Left != 30*time.Second {
		t.Errorf("after it failed: %+v", p)
	}
	g.result.Err = &report.OpenError{}
	if p := n.progress(); p.Failed != 0 || p.Done != 1 {
		t.Errorf("something was left open: %+v", p)
	}
}

func TestGroupsThatCanNotRun(t *testing.T) {
	open := func(context.Context, func(report.Event)) (*Merge, func() error, error) {
		return nil, nil, errors.New("no database")
	}
	for _, groups := range [][]Group{{{Name: "", Open: open}}, {{Name: "a"}}, {{"a", open}, {"a", open}}} {
		if _, err := RunGroups(t.Context(), groups, GroupsConfig{}); err == nil {
			t.Errorf("%v is accepted", groups)
		}
	}
	if _, err := RunGroups(t.Context(), nil, GroupsConfig{AtOnce: -1}); err == nil {
		t.Error("-1 at once is accepted")
	}
	results, err := RunGroups(t.Context(), []Group{{"a", open}, {"b", open}, {"c", open}}, GroupsConfig{})
	if err != nil || len(results) != 3 || slices.ContainsFunc(results, func(r GroupResult) bool { return r.Err == nil || r.Took != 0 }) {
		t.Errorf("got %+v, %v", results, err)
	}
}
