package plan_test

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// An answer with fields does what the sections of the file could say. What it can't have is refused with its line.
func TestAnswerFields(t *testing.T) {
	const questions = `version: 2
dialect: MySQL
sources: [a, b]
new_ids: [a, b]
tables: {world: {new_ids: [a]}}
unique:
- {rule: fail, proposed: true, keys: [players.name, world.id]}
`
	is := &plan.Plan{Version: 1, Dialect: "MySQL", Sources: []string{"a", "b"}, Tables: []*plan.Table{
		{
			Name: "players", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "int", Role: plan.RoleKey}, {Name: "name", Type: "varchar(20)", Role: plan.RolePlain}},
			Unique: []*plan.Unique{{Columns: []string{"name"}, Rule: plan.RuleFail}},
		},
		{Name: "world", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "int", Role: plan.RoleKey}, {Name: "size", Type: "int", Role: plan.RolePlain}}},
	}}
	about := func(columns, answer string) string {
		return "- columns: [" + columns + "]\n  suspects: [why]\n  answer: " + answer + "\n"
	}
	tests := []struct {
		name, questions string
		want            func(p *plan.Plan) bool
		err             string
	}{
		{"it counts more than tables", about("world.id", "{new_ids: [], rule: keep}"), func(p *plan.Plan) bool {
			t := p.Table("world")
			return len(t.NewIDs) == 0 && len(t.Unique) == 1 && t.Unique[0].Rule == plan.RuleKeep && t.Unique[0].Decided && t.Column("id").Decided
		}, ""},
		{"two columns", about("players.name, world.size", "{nullable: true}"), func(p *plan.Plan) bool {
			return p.Table("players").Column("name").Nullable && p.Table("world").Column("size").Nullable && !p.Table("world").Column("id").Nullable
		}, ""},
		{"types", about("world.size", "{types: [CREATE TYPE x]}"), func(p *plan.Plan) bool { return len(p.Types) == 1 && p.Table("world").Column("size").Decided }, ""},
		{
			"whose ids", "- {name: x, columns: [world.size], candidates: [{answer: players, certainty: 0.9}], answer: {without: [size]}}\n",
			func(p *plan.Plan) bool { return p.Table("world").Column("size") == nil }, "",
		},
		{"a unique key", "- {unique: {players.name: why}, proposed: match, answer: {rule: suffix, template: '{name}[{source}]'}}\n", func(p *plan.Plan) bool {
			u := p.Table("players").Unique[0]
			return u.Rule == plan.RuleSuffix && u.Template == "{name}[{source}]" && u.Decided
		}, ""},
		{"no rule", "- {unique: {players.name: why}, answer: {template: '{name}'}}\n", nil, "want a rule"},
		{"of another thing", "- {unique: {players.name: why}, answer: {rule: keep, new_ids: []}}\n", nil, `line 9: "new_ids" is no field of an answer about unique keys`},
		{"an unknown rule", about("world.id", "{new_ids: [], rule: suffix}"), nil, `rule "suffix": want keep, match or fail`},
		{"mixed", about("world.id", "{new_ids: [], to: players}"), nil, `"to" is no field of an answer about columns`},
		{"mixed otherwise", about("world.id", "{to: players, new_ids: []}"), nil, "new_ids"},
		{"another type", about("world.id", "{new_ids: 3}"), nil, "line 11"},
		{"twice", about("world.id", "{new_ids: [], new_ids: []}"), nil, "new_ids"},
		{"no such key", about("world.size", "{rule: keep}"), nil, "world"},
		{"two answers", about("world.id", "{new_ids: []}") + about("world.size", "{new_ids: [b]}"), nil, `new_ids of table "world" has another value by another answer`},
		{"proposed", "- {columns: [world.id], proposed: {new_ids: []}, answer: }\n", nil, "proposed has the keys of a reference"},
		{"of a kind", "- {columns: [world.id], answer: {by: size, kinds: {1: {new_ids: []}}}}\n", nil, `kind "1": want a table`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bare, err := plan.Shorten(is, is)
			if err != nil {
				t.Fatal(err)
			}
			var got *plan.Plan
			d, err := plan.ReadDecisions(strings.NewReader(questions + "questions:\n" + test.questions))
			if err == nil {
				d.Schema = bare.Schema
				got, err = d.Complete(is)
			}
			switch {
			case test.err == "" && err != nil, test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Fatalf("got %v, want %q", err, test.err)
			case test.err != "":
				return
			case !test.want(got):
				t.Errorf("got %+v", got)
			}
			var b strings.Builder
			if err := d.WriteYAML(&b); err != nil {
				t.Fatal(err)
			}
			if again, err := plan.ReadDecisions(strings.NewReader(b.String())); err != nil || again.Questions[0].Answer.IsZero() {
				t.Errorf("%v: written as %s", err, b.String())
			}
			if got.Settle(); got.Check() != nil {
				t.Error(got.Check())
			}
			if _, err := plan.Shorten(got, is); err != nil {
				t.Error(err)
			}
		})
	}
}
