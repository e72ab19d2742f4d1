package preflight

import (
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// A foreign key of the target is one of the plan's tables if both of its sides have the same ids, and nothing that the
// plan does to rows changes them.
func TestForeignKey(t *testing.T) {
	key := func(column, table, refers string) *plan.ForeignKey {
		return &plan.ForeignKey{Columns: []string{column}, Table: table, Refers: []string{refers}}
	}
	rule := func(rule plan.Rule) []*plan.Unique { return []*plan.Unique{{Columns: []string{"name"}, Rule: rule}} }
	for _, test := range []struct {
		name   string
		key    *plan.ForeignKey
		change func(guilds, players *plan.Table)
		want   bool
	}{
		{"a reference to the key", key("guild", "guilds", "id"), nil, true},
		{"in other letters", key("GUILD", "Guilds", "ID"), nil, true},
		{"plain values to plain values", key("name", "guilds", "name"), nil, true},
		{"a reference to the key of another table", key("boss", "guilds", "id"), nil, false},
		{"plain values to a key", key("name", "guilds", "id"), nil, false},
		{"a table that the plan does not have", key("guild", "pets", "id"), nil, false},
		{"a column that the plan does not have", key("pet", "guilds", "id"), nil, false},
		{"a column that the plan does not have there", key("guild", "guilds", "code"), nil, false},
		{"sides of different lengths", &plan.ForeignKey{Columns: []string{"guild", "name"}, Table: "guilds", Refers: []string{"id"}}, nil, false},
		{"names that may be changed", key("name", "guilds", "name"), func(_, players *plan.Table) { players.Unique = rule(plan.RuleSuffix) }, false},
		{"names that may be changed there", key("name", "guilds", "name"), func(guilds, _ *plan.Table) { guilds.Unique = rule(plan.RuleSuffix) }, false},
		{"names of rows that are merged", key("name", "guilds", "name"), func(guilds, _ *plan.Table) { guilds.Unique = rule(plan.RuleKeep) }, true},
		{"values that are combined", key("name", "guilds", "name"), func(guilds, _ *plan.Table) { guilds.Column("name").Combine = plan.CombineMax }, false},
		{"values that are set with a new name", key("guild", "guilds", "id"), func(_, players *plan.Table) {
			players.Unique = rule(plan.RuleSuffix)
			players.Unique[0].Set = map[string]string{"guild": "NULL"}
		}, false},
		{"a table that is not merged, whose rows are as they are", key("name", "guilds", "id"), func(guilds, _ *plan.Table) { guilds.Skip = true }, true},
	} {
		p, guilds, players := check(t)
		if test.change != nil {
			test.change(guilds, players)
		}
		got := p.ForeignKey(players, test.key)
		if (got != nil) != test.want {
			t.Errorf("%s: got %+v", test.name, got)
		}
		if got != nil && (got.Parent != guilds || len(got.Columns) != 1 || len(got.Refers) != 1) {
			t.Errorf("%s: got %+v", test.name, got)
		}
	}
}
