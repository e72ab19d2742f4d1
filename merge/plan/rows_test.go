package plan_test

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

func TestConditions(t *testing.T) {
	const file = `references:
- {to: characters, columns: [mail.sender], none: [0], gone: null}
- {to: characters, columns: [character_spell.guid], gone: drop}
- {to: characters, columns: [mail.receiver]}
tables:
  characters:
    without_rows:
    - {where: level < 10, except: 'level = 5', sources: [eu]}
    - where: born < 7
  trash: {empty: true}
`
	p, err := complete(t, file)
	if err != nil {
		t.Fatal(err)
	}
	characters := p.Table("characters")
	if n := len(characters.ConditionsOf("us")); n != 1 || len(characters.ConditionsOf("eu")) != 2 {
		t.Errorf("source us has %d conditions", n)
	}
	if got, want := characters.WithoutRows[0].SQL(), "(level < 10\n) AND NOT (level = 5\n)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, tt := range []struct {
		table, column string
		gone          plan.Orphans
		drops         bool
	}{
		{"mail", "sender", plan.OrphansNull, false}, {"mail", "receiver", "", false}, {"character_spell", "guid", plan.OrphansDrop, true},
	} {
		c := p.Table(tt.table).Column(tt.column)
		if c.Gone != tt.gone || c.DropsRows() != tt.drops {
			t.Errorf("%s.%s: gone %q, drops rows: %v", tt.table, tt.column, c.Gone, c.DropsRows())
		}
	}
	for name, loses := range map[string]bool{"characters": true, "character_spell": true, "trash": true, "mail": false} {
		if got := p.Table(name).LosesRows(); got != loses {
			t.Errorf("table %s loses rows: %v", name, got)
		}
	}
	order, err := p.MintOrder()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, table := range order {
		names = append(names, table.Name)
	}
	if text := strings.Join(names, " "); strings.Index(text, "characters") > strings.Index(text, "character_spell") {
		t.Errorf("rows that follow others come first: %s", text)
	}
	d, err := plan.Shorten(p, gameSchema())
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Complete(gameSchema())
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Table("characters").WithoutRows; len(got) != 2 || got[0].Except != "level = 5" || got[1].Where != "born < 7" {
		t.Errorf("the conditions are lost: %v", got)
	}
}

func TestConditionsAreChecked(t *testing.T) {
	table := func(p *plan.Plan, name string) *plan.Table { return p.Table(name) }
	for _, tt := range []struct {
		want string // part of the error, or none
		edit func(p *plan.Plan)
	}{
		{"", func(p *plan.Plan) {
			table(p, "a").WithoutRows = []*plan.Condition{{Where: "v = 1", Sources: []string{"s"}}}
		}},
		{"a condition has no where", func(p *plan.Plan) { table(p, "a").WithoutRows = []*plan.Condition{{Where: " "}} }},
		{"which is no source", func(p *plan.Plan) {
			table(p, "a").WithoutRows = []*plan.Condition{{Where: "v = 1", Sources: []string{"x"}}}
		}},
		{"an entry of without_rows is empty", func(p *plan.Plan) { table(p, "a").WithoutRows = []*plan.Condition{nil} }},
		{"left empty, and has conditions", func(p *plan.Plan) {
			table(p, "a").Empty, table(p, "a").WithoutRows = true, []*plan.Condition{{Where: "v = 1"}}
		}},
		{`gone "x"`, func(p *plan.Plan) { table(p, "b").Column("a_id").Gone = "x" }},
		{"it is not nullable, and none has no value", func(p *plan.Plan) { table(p, "b").Column("a_id").Gone = plan.OrphansNull }},
		{"", func(p *plan.Plan) {
			table(p, "b").Column("a_id").Gone, table(p, "b").Column("a_id").None = plan.OrphansNull, []string{"0"}
		}},
		{"by something else than its key", func(p *plan.Plan) { table(p, "b").WithoutRows = []*plan.Condition{{Where: "n = 1"}} }},
		{"", func(p *plan.Plan) {
			table(p, "b").Column("a_id").Gone, table(p, "c").Column("a_id").Gone = plan.OrphansDrop, plan.OrphansDrop
		}},
	} {
		column := func(name string, role plan.Role, refers ...*plan.Reference) *plan.Column {
			return &plan.Column{Name: name, Type: "bigint", Role: role, Refers: refers, Decided: true}
		}
		p := &plan.Plan{Version: 1, Dialect: "MySQL", Sources: []string{"s"}, Tables: []*plan.Table{
			{Name: "a", PrimaryKey: []string{"id"}, Columns: []*plan.Column{column("id", plan.RoleKey), column("v", plan.RolePlain)}},
			{Name: "b", PrimaryKey: []string{"a_id", "n"}, Columns: []*plan.Column{column("a_id", plan.RoleReference, &plan.Reference{Table: "a"}), column("n", plan.RolePlain)}},
			{
				Name: "c", PrimaryKey: []string{"id"}, Columns: []*plan.Column{column("id", plan.RoleKey), column("a_id", plan.RoleReference, &plan.Reference{Table: "a"}), column("n", plan.RolePlain)},
				ForeignKeys: []*plan.ForeignKey{{Columns: []string{"a_id", "n"}, Table: "b", Refers: []string{"a_id", "n"}}},
			},
		}}
		tt.edit(p)
		err := p.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}
