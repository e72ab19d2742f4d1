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
	if c := characters.WithoutRows; len(c) != 2 || c[0].In("us") || !c[0].In("eu") || !c[1].In("us") {
		t.Errorf("got conditions %v", c)
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

// How rows are renamed and what is combined is checked before any database is asked.
func TestDecisionsOnRowsAreChecked(t *testing.T) {
	type broken struct {
		want string // part of the error, or none
		edit func(u *plan.Unique, c *plan.Column)
	}
	renaming := func(u *plan.Unique) { u.Rule = plan.RuleSuffix }
	set := func(column, text string) func(u *plan.Unique, c *plan.Column) {
		return func(u *plan.Unique, _ *plan.Column) {
			renaming(u)
			u.Set = map[string]string{column: text}
		}
	}
	named := func(edit func(u *plan.Unique)) func(u *plan.Unique, c *plan.Column) {
		return func(u *plan.Unique, _ *plan.Column) {
			renaming(u)
			edit(u)
		}
	}
	combine := func(how plan.Combine) func(u *plan.Unique, c *plan.Column) {
		return func(u *plan.Unique, c *plan.Column) { u.Rule, c.Combine = plan.RuleKeep, how }
	}
	typed := func(typ string, how plan.Combine) func(u *plan.Unique, c *plan.Column) {
		return func(u *plan.Unique, c *plan.Column) {
			combine(how)(u, c)
			c.Type = typ
		}
	}
	for _, tt := range []broken{
		{"", set("flags", "flags | 1")},
		{"an expression is empty", set("flags", " ")},
		{`"NOW" gives another value each time`, set("flags", "NOW()")},
		{"which is no column", set("nothing", "1")},
		{"in no unique key and no foreign key", set("id", "1")},
		{"in no unique key and no foreign key", set("name", "'x'")},
		{"in no unique key and no foreign key", set("country", "'x'")},
		{"in no unique key and no foreign key", set("at", "'x'")},
		{"", named(func(u *plan.Unique) { u.Template, u.Winner = "{name}[{n}]", []string{"level", "-id"} })},
		{"two ways to say the same", named(func(u *plan.Unique) { u.Template, u.Suffix = "{name}[{n}]", "x" })},
		{"{who}: want {name}, {source} or {n}", named(func(u *plan.Unique) { u.Template = "{name}{who}" })},
		{"want {name} once", named(func(u *plan.Unique) { u.Template = "S{source}" })},
		{"pattern: ", named(func(u *plan.Unique) { u.Pattern = "(" })},
		{"contradict each other", named(func(u *plan.Unique) { u.Both, u.Winner = true, []string{"level"} })},
		{`"rand" gives another value each time`, named(func(u *plan.Unique) { u.Winner = []string{"rand()"} })},
		{"", combine(plan.CombineSum)},
		{"", combine("LEAST({a} + {b}, 1000)")},
		{"want sum, max, min, first, last", combine("average")},
		{"gives another value each time", combine("{a} + {b} + RAND()")},
		{"", typed("decimal(9,2)", plan.CombineMax)},
		{"", typed("datetime(3)", plan.CombineMin)},
		{"have another order", typed("time", plan.CombineMax)},
		{"", typed("time", plan.CombineLast)},
		{"is no number", typed("varchar(9)", plan.CombineSum)},
		{"can't be combined", typed("blob", plan.CombineFirst)},
		{"can't be combined", typed("bit(4)", "{a} | {b}")},
		{"", typed("set('a','b')", "CONCAT_WS(',', {a}, {b})")},
		{"combine: some sources do not have it", func(u *plan.Unique, c *plan.Column) {
			combine(plan.CombineFirst)(u, c)
			c.Nullable, c.Sources = true, []string{"us"}
		}},
		{"no unique key of the table has rule keep or match", func(u *plan.Unique, c *plan.Column) {
			combine(plan.CombineSum)(u, c)
			u.Rule = plan.RuleFail
		}},
		{"in no unique key and no foreign key", func(u *plan.Unique, c *plan.Column) {
			combine(plan.CombineMax)(u, c)
			u.Columns = append(u.Columns, c.Name)
		}},
	} {
		u, level := &plan.Unique{Columns: []string{"name"}, Rule: plan.RuleFail}, &plan.Column{Name: "level", Type: "int", Role: plan.RolePlain}
		players := &plan.Table{
			Name: "players", PrimaryKey: []string{"id"}, Unique: []*plan.Unique{u},
			Columns: []*plan.Column{
				{Name: "id", Type: "int", Role: plan.RoleKey},
				{Name: "name", Type: "varchar(20)", Role: plan.RolePlain},
				{Name: "country", Type: "varchar(2)", Role: plan.RolePlain},
				{Name: "flags", Type: "int", Role: plan.RolePlain},
				{Name: "at", Type: "datetime", Role: plan.RolePlain},
				level,
			},
			ForeignKeys: []*plan.ForeignKey{{Columns: []string{"country"}, Table: "countries", Refers: []string{"code"}}},
		}
		p := &plan.Plan{Version: 1, Dialect: "MySQL", Sources: []string{"eu", "us"}, Tables: []*plan.Table{
			players,
			{Name: "countries", PrimaryKey: []string{"code"}, Columns: []*plan.Column{{Name: "code", Type: "varchar(2)", Role: plan.RolePlain}}},
		}}
		tt.edit(u, level)
		err := p.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

func TestRenumberingIsChecked(t *testing.T) {
	for _, tt := range []struct {
		want string // part of the error, or none
		edit func(p *plan.Plan, t *plan.Table, u *plan.Unique)
	}{
		{"", func(*plan.Plan, *plan.Table, *plan.Unique) {}},
		{"", func(_ *plan.Plan, t *plan.Table, u *plan.Unique) {
			t.PrimaryKey, t.Columns[0].Role = u.Columns, plan.RolePlain
		}},
		{"", func(_ *plan.Plan, t *plan.Table, u *plan.Unique) {
			u.Least, u.Most, t.Column("owner").Gone = -128, 127, plan.OrphansDrop
		}},
		{"does not fit in tinyint", func(_ *plan.Plan, _ *plan.Table, u *plan.Unique) { u.Most = 128 }},
		{"least 5 is above most 4", func(_ *plan.Plan, _ *plan.Table, u *plan.Unique) { u.Least, u.Most = 5, 4 }},
		{"are for rule suffix", func(_ *plan.Plan, _ *plan.Table, u *plan.Unique) { u.Template = "{name}" }},
		{"least and most are for rule renumber", func(p *plan.Plan, _ *plan.Table, _ *plan.Unique) { p.Tables[0].Unique[0].Most = 4 }},
		{"want one of its columns that is an integer", func(_ *plan.Plan, t *plan.Table, _ *plan.Unique) { t.Column("slot").Type = "text" }},
		{"it is no plain integer of the key", func(_ *plan.Plan, _ *plan.Table, u *plan.Unique) { u.Rename = "owner" }},
		{"want other columns in the key", func(_ *plan.Plan, _ *plan.Table, u *plan.Unique) { u.Columns = []string{"slot"} }},
		{"it is in another unique key too", func(_ *plan.Plan, t *plan.Table, _ *plan.Unique) {
			t.Unique = append(t.Unique, &plan.Unique{Columns: []string{"slot", "v"}, Rule: plan.RuleFail, Decided: true})
		}},
		{"choose one of both", func(_ *plan.Plan, t *plan.Table, _ *plan.Unique) {
			t.Unique = append(t.Unique, &plan.Unique{Columns: []string{"v"}, Rule: plan.RuleKeep, Decided: true})
		}},
		{"do not become one with others", func(p *plan.Plan, _ *plan.Table, _ *plan.Unique) { p.Tables[0].Unique[0].Rule = plan.RuleFail }},
		{"want references and plain integers", func(_ *plan.Plan, t *plan.Table, u *plan.Unique) {
			t.Column("v").Type, u.Columns = "varchar(9)", []string{"owner", "v", "slot"}
		}},
		{"an id may become NULL", func(_ *plan.Plan, t *plan.Table, _ *plan.Unique) {
			t.Column("owner").Nullable, t.Column("owner").Orphans = true, plan.OrphansNull
		}},
		{"only columns of the key may do that", func(_ *plan.Plan, t *plan.Table, _ *plan.Unique) {
			v := t.Column("v")
			v.Role, v.Refers, v.Orphans = plan.RoleReference, []*plan.Reference{{Table: "accounts"}}, plan.OrphansDrop
		}},
		{"foreign keys tie skills.slot to it", func(p *plan.Plan, _ *plan.Table, _ *plan.Unique) {
			p.Tables = append(p.Tables, &plan.Table{
				Name: "skills", PrimaryKey: []string{"owner", "slot"},
				Columns: []*plan.Column{
					{Name: "owner", Type: "bigint", Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "accounts"}}, Decided: true},
					{Name: "slot", Type: "tinyint", Role: plan.RolePlain, Decided: true},
				},
				ForeignKeys: []*plan.ForeignKey{{Columns: []string{"owner", "slot"}, Table: "heroes", Refers: []string{"owner", "slot"}}},
			})
		}},
	} {
		heroes := &plan.Table{
			Name: "heroes", PrimaryKey: []string{"id"},
			Columns: []*plan.Column{
				{Name: "id", Type: "bigint", Role: plan.RoleKey, Decided: true},
				{Name: "v", Type: "bigint", Role: plan.RolePlain, Decided: true},
				{Name: "owner", Type: "bigint", Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "accounts"}}, Decided: true},
				{Name: "slot", Type: "tinyint", Role: plan.RolePlain, Decided: true},
			},
			Unique: []*plan.Unique{{Columns: []string{"owner", "slot"}, Rule: plan.RuleRenumber, Decided: true}},
		}
		p := &plan.Plan{Version: 1, Dialect: "MySQL", Sources: []string{"s"}, Tables: []*plan.Table{{
			Name: "accounts", PrimaryKey: []string{"id"},
			Columns: []*plan.Column{{Name: "id", Type: "bigint", Role: plan.RoleKey, Decided: true}, {Name: "name", Type: "varchar(9)", Role: plan.RolePlain, Decided: true}},
			Unique:  []*plan.Unique{{Columns: []string{"name"}, Rule: plan.RuleKeep, Decided: true}},
		}, heroes}}
		tt.edit(p, heroes, heroes.Unique[0])
		err := p.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}
