package verify

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
)

// The report says in words who keeps a name, and what the others get.
func TestHowRenamed(t *testing.T) {
	p := &plan.Plan{Sources: []string{"eu", "us"}}
	for _, test := range []struct {
		unique plan.Unique
		want   string
	}{
		{plan.Unique{}, "the first of eu, us keeps its name; new names end with _ and the name of the source"},
		{plan.Unique{Suffix: "#2"}, `the first of eu, us keeps its name; new names end with "#2"`},
		{plan.Unique{Template: "{name}@{source}"}, "the first of eu, us keeps its name; new names are {name}@{source}"},
		{plan.Unique{Both: true}, "all rows that clash are renamed; new names end with _ and the name of the source"},
		{plan.Unique{Winner: []string{"level", "gold"}}, "the row with the greatest level, then gold keeps its name; among equal ones, the first of eu, us keeps its name; new names end with _ and the name of the source"},
		{plan.Unique{Set: map[string]string{"renamed": "1", "asked": "0"}}, "the first of eu, us keeps its name; new names end with _ and the name of the source; renamed rows have asked = 0; renamed rows have renamed = 1"},
	} {
		table := &plan.Table{Name: "players"}
		u := test.unique
		u.Rule = plan.RuleSuffix
		if got := strings.Join(howRenamed(p, ledger.NewSourceTable(1, "eu", table), &u), "; "); got != test.want {
			t.Errorf("%+v: got %s, want %s", test.unique, got, test.want)
		}
	}
}

// A row is dropped for a reference whose name begins the reason: of two such names the longer one.
func TestDroppedFor(t *testing.T) {
	drops := func(name string) *plan.Column {
		return &plan.Column{Name: name, Role: plan.RoleReference, Orphans: plan.OrphansDrop, Refers: []*plan.Reference{{Table: "players"}}}
	}
	table := &plan.Table{Name: "items", Columns: []*plan.Column{drops("owner"), drops("owner = 1"), drops("maker"), {Name: "other", Role: plan.RolePlain}}}
	for reason, want := range map[string]string{
		"owner = 17": "owner", "maker = 3": "maker", "owner = 1 = 17": "owner = 1", "other = 3": "", "level < 5": "", "owner": "",
	} {
		got := ""
		if c := droppedFor(table, reason); c != nil {
			got = c.Name
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", reason, got, want)
		}
	}
}
