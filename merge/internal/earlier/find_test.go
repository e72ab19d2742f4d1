package earlier

import (
	"testing"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
)

// The tables of earlier merges get numbers of their own, and each leads to the one that has its new ids: to a table of
// the run, or to another earlier one by its number in the target, which differs from its number in the source.
func TestNumber(t *testing.T) {
	r := &ledger.Run{Tables: []*ledger.SourceTable{
		{ID: 11, Source: "eu", Table: &plan.Table{Name: "guilds"}}, {ID: 12, Source: "eu", Table: &plan.Table{Name: "players"}}, {ID: 13, Source: "us", Table: &plan.Table{Name: "players"}},
	}}
	found := []Table{
		{Earlier: &ledger.Earlier{Path: "eu/s1", Table: "players", From: 2}, next: "players"},
		{Earlier: &ledger.Earlier{Path: "eu/s2", Table: "guilds", From: 3}, next: "guilds"},
		{Earlier: &ledger.Earlier{Path: "eu/s1/old", Table: "players", From: 7}, after: 2},
		{Earlier: &ledger.Earlier{Path: "eu/s1/old/older", Table: "players", From: 5}, after: 7},
	}
	want := map[string][2]int64{"eu/s1": {21, 12}, "eu/s2": {22, 11}, "eu/s1/old": {23, 21}, "eu/s1/old/older": {24, 23}}
	all := number(found, r, "eu", 21)
	if len(all) != len(want) {
		t.Fatalf("got %d, want %d", len(all), len(want))
	}
	for _, e := range all {
		if got := [2]int64{e.ID, e.Next}; got != want[e.Path] {
			t.Errorf("%s: got number and next %v, want %v", e.Path, got, want[e.Path])
		}
	}
}

// A table that an earlier merge has filled is the plan's table of that name, or of that name in another database.
func TestTableOf(t *testing.T) {
	merged := func(names ...string) (all []*plan.Table) {
		for _, name := range names {
			all = append(all, &plan.Table{Name: name})
		}
		return all
	}
	for _, test := range []struct {
		name   string
		tables []*plan.Table
		table  string
		want   string
		fails  bool
	}{
		{"the same name", merged("guilds", "players"), "players", "players", false},
		{"not in the plan", merged("guilds"), "players", "", false},
		{"not merged", []*plan.Table{{Name: "players", Skip: true}}, "players", "", false},
		{"of other sources", []*plan.Table{{Name: "players", Sources: []string{"us"}}}, "players", "", false},
		{"now in one of several databases", merged("game.players"), "players", "game.players", false},
		{"now in the only database", merged("players"), "game.players", "players", false},
		{"in another one of several databases", merged("world.players"), "game.players", "", false},
		{"the same name is not merged, and another one is no substitute", []*plan.Table{{Name: "players", Skip: true}, {Name: "game.players"}}, "players", "", false},
		{"any of two databases", merged("game.players", "world.players"), "players", "", true},
		{"of two databases one is not merged", []*plan.Table{{Name: "game.players", Skip: true}, {Name: "world.players"}}, "players", "world.players", false},
	} {
		j := &work.Job{Plan: &plan.Plan{Sources: []string{"eu", "us"}, Tables: test.tables}}
		got, err := tableOf(j, "eu", test.table)
		if got != test.want || (err != nil) != test.fails {
			t.Errorf("%s: got %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}
