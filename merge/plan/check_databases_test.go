package plan_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// severalDatabases is the schema of two databases. One of the tables has a dot in its own name.
func severalDatabases(dialect string) *plan.Plan {
	id := func() *plan.Column { return &plan.Column{Name: "id", Type: "bigint", Role: plan.RoleKey} }
	plain := func(name string) *plan.Column { return &plan.Column{Name: name, Type: "bigint", Role: plan.RolePlain} }
	return &plan.Plan{
		Version: 1, Dialect: dialect, Sources: []string{"eu"}, Databases: []string{"auth", "game-1"},
		Tables: []*plan.Table{
			{
				Name: "auth.account", PrimaryKey: []string{"id"}, Columns: []*plan.Column{id(), plain("kind")},
				Indexes: []*plan.Index{{Name: "k", Columns: []string{"kind"}}, {Name: "f", Statement: "ALTER TABLE `auth.account` ADD FULLTEXT KEY `f` (`kind`)"}},
			},
			{Name: "auth.game.account", PrimaryKey: []string{"id"}, Columns: []*plan.Column{id()}},
			{Name: "game-1.guild", PrimaryKey: []string{"id"}, Columns: []*plan.Column{id(), plain("owner")}},
			{
				Name: "game-1.hero", PrimaryKey: []string{"id"}, Columns: []*plan.Column{id(), plain("owner"), plain("guild")},
				ForeignKeys: []*plan.ForeignKey{{Name: "g", Columns: []string{"guild"}, Table: "game-1.guild", Refers: []string{"id"}}},
				Unique:      []*plan.Unique{{Name: "u", Columns: []string{"owner", "guild"}, Rule: plan.RuleFail}},
			},
			{Name: "game-1.pet", PrimaryKey: []string{"id"}, Columns: []*plan.Column{id(), plain("owner")}},
		},
	}
}

// Decisions name tables with their databases, and complete to the plan that they were made of.
func TestSeveralDatabases(t *testing.T) {
	p, schema := severalDatabases("MySQL"), severalDatabases("MySQL")
	refer := func(table, column, to string) {
		c := p.Table(table).Column(column)
		c.Role, c.Refers, c.Decided = plan.RoleReference, []*plan.Reference{{Table: to}}, true
	}
	for _, table := range []string{"game-1.guild", "game-1.hero", "game-1.pet"} {
		refer(table, "owner", "auth.account")
		p.Table(table).NewIDs = p.Sources
	}
	refer("game-1.hero", "guild", "game-1.guild")
	refer("auth.account", "kind", "auth.game.account")
	schema.Table("game-1.hero").Column("guild").Role, schema.Table("game-1.hero").Column("guild").Refers = plan.RoleReference, []*plan.Reference{{Table: "game-1.guild"}}
	for _, name := range []string{"auth.account", "auth.game.account"} {
		p.Table(name).Unique = []*plan.Unique{{Columns: []string{"id"}, Rule: plan.RuleFail}}
	}
	p.Table("game-1.hero").Unique[0].Rule, p.Table("game-1.hero").Unique[0].Decided = plan.RuleKeep, true
	p.Questions = []*plan.Question{{Name: "owner", Text: "?", Columns: []string{"game-1.guild.owner", "game-1.hero.owner", "game-1.pet.owner"}, Answer: "auth.account"}}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	d, err := plan.Shorten(p, schema)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := d.WriteYAML(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"databases: [auth, game-1]", "'*.*.owner'", "to: auth.game.account", "columns: [auth.account.kind]", "keep_ids: [auth.account, auth.game\\.account]", "game-1.hero(owner, guild)", "answer: auth.account",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the file lacks %s:\n%s", want, b.String())
		}
	}
	if d, err = plan.ReadDecisions(&b); err != nil {
		t.Fatal(err)
	}
	again, err := d.Complete(schema)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, p) {
		t.Errorf("got\n%+v\nwant\n%+v", again, p)
	}
	for _, other := range [][]string{nil, {"auth"}, {"game-1", "auth"}} {
		of := *schema
		of.Databases = other
		if _, err := d.Complete(&of); err == nil || !strings.Contains(err.Error(), "databases") {
			t.Errorf("a schema of the databases %q: got %v", other, err)
		}
	}
}

// A template for one database is one for a database of several.
func TestTemplateOfDatabase(t *testing.T) {
	const file = `version: 2
dialect: MySQL
%s
questions:
- {name: q, columns: [%[2]shero.guild], proposed: %[2]sguild, candidates: [{answer: %[2]sguild, certainty: 1}, {answer: plain, certainty: 0}], answer: {list: %[2]sguild}}
- {unique: {'%[2]shero(owner, guild)': 3 clashes}, answer: keep}
keep_ids: ['%[2]s*_kind']
created: [%[2]shero.at]
skip: [%[2]slog]
references:
- {to: %[2]shero, columns: ['%[2]s*.owner', '%[2]spet.of']}
- {by: type, kinds: {a: %[2]shero, b: plain}, columns: [%[2]smail.who]}
- {json: {$.id: %[2]shero}, columns: [%[2]smail.body]}
keys: ['%[2]smy\.table.id']
plain: [%[2]shero.level]
unique:
- {rule: keep, keys: [%[2]shero.name]}
tables: {%[2]shero: {created: at, foreign_keys: [{columns: [guild], table: %[2]sguild, refers: [id]}], columns: {table: {refers: [{table: %[2]sguild}], type: int}}}}
`
	read := func(databases, prefix string) *plan.Decisions {
		d, err := plan.ReadDecisions(strings.NewReader(fmt.Sprintf(file, databases, prefix)))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	text := func(d *plan.Decisions) string {
		var b bytes.Buffer
		if err := d.WriteYAML(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	one := read("", "")
	before := text(one)
	got, err := one.In("game-1")
	if err != nil {
		t.Fatal(err)
	}
	if want := text(read("databases: [game-1]", "game-1.")); text(got) != want {
		t.Errorf("got\n%s\nwant\n%s", text(got), want)
	}
	if after := text(one); after != before {
		t.Errorf("In changed its receiver:\n%s", after)
	}
	for _, name := range []string{"a.b", ""} {
		if _, err := one.In(name); !errors.As(err, new(*plan.Error)) {
			t.Errorf("%q: got %v", name, err)
		}
	}
	if _, err := got.In("auth"); !errors.As(err, new(*plan.Error)) {
		t.Errorf("of several: got %v", err)
	}
}

// Names in files.
func TestNamesInDatabases(t *testing.T) {
	for name, want := range map[string]string{
		"game-1.hero.owner":      "game-1.hero.owner",
		"game-1.*.owner":         "game-1.guild.owner game-1.hero.owner game-1.pet.owner",
		"*.hero.owner":           "game-1.hero.owner",
		"*.*.kind":               "auth.account.kind",
		`auth.*\.account.id`:     "auth.game.account.id",
		"*.owner":                "want table.column",
		"hero":                   "want the name of a database",
		"game-1.hero.owner.name": "wrong place",
		`game-1\.hero.owner`:     "want table.column",
		"game-1.hero(owner)":     "game-1.hero.owner",
		"auth.hero.owner":        "names no table",
		".hero.owner":            "names no table",
	} {
		p := severalDatabases("MySQL")
		left, err := (&plan.Decisions{Version: plan.DecisionsVersion, Databases: p.Databases, Plain: []plan.Name{{Text: name}}}).Apply(p)
		var got []string
		for _, table := range p.Tables {
			for _, c := range table.Columns {
				if c.Decided {
					got = append(got, table.Name+"."+c.Name)
				}
			}
		}
		switch text := strings.Join(got, " "); {
		case err != nil && want != "" && strings.Contains(err.Error(), want):
		case err == nil && len(left) > 0 && want == "names no table":
		case err != nil && want != "" || text != want:
			t.Errorf("%s: got %q, %v, %v; want %q", name, text, left, err, want)
		}
	}
	p := severalDatabases("MySQL")
	for _, d := range []*plan.Decisions{{Version: plan.DecisionsVersion}, {Version: plan.DecisionsVersion, Databases: p.Databases}} {
		of := severalDatabases("MySQL")
		if len(d.Databases) > 0 {
			of.Databases = nil
		}
		if _, err := d.Apply(of); !errors.As(err, new(*plan.Error)) {
			t.Errorf("a template of %q for databases %q: got %v", d.Databases, of.Databases, err)
		}
	}
}

func TestSchemaInDatabases(t *testing.T) {
	p := severalDatabases("MySQL")
	for _, table := range p.Tables {
		for _, u := range table.Unique {
			u.Decided = true
		}
	}
	p.Table("game-1.hero").Column("guild").Role, p.Table("game-1.hero").Column("guild").Refers = plan.RoleReference, []*plan.Reference{{Table: "game-1.guild"}}
	statements, err := p.SchemaIn(map[string]string{"auth": "all`auth", "game-1": "all.game"})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(statements, ";\n")
	for _, want := range []string{
		"CREATE TABLE `all``auth`.`account` (", "CREATE TABLE `all``auth`.`game.account` (", "CREATE INDEX `k` ON `all``auth`.`account` (`kind`)",
		"ALTER TABLE `all``auth`.`account` ADD FULLTEXT KEY `f` (`kind`)", "ALTER TABLE `all.game`.`hero`\n  ADD CONSTRAINT `g` FOREIGN KEY (`guild`) REFERENCES `all.game`.`guild` (`id`)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the statements lack %s:\n%s", want, text)
		}
	}
	if statements, err = p.Schema(); err != nil || !strings.Contains(strings.Join(statements, ";"), "CREATE TABLE `game-1`.`pet`") {
		t.Errorf("got %v and %v", statements, err)
	}
}

func TestCheckDatabases(t *testing.T) {
	for _, test := range []struct {
		dialect   string
		databases map[string]string
		want      string
	}{
		{"MySQL", map[string]string{"auth": "a", "game-1": "b"}, ""},
		{"PostgreSQL", map[string]string{"auth": "auth", "game-1": "game-1"}, ""},
		{"PostgreSQL", map[string]string{"auth": "auth", "game-1": "b"}, `source "eu": database "game-1" is schema "b"`},
		{"MySQL", map[string]string{"auth": "a", "game-1": "a"}, `databases "auth" and "game-1" are both "a"`},
		{"MySQL", map[string]string{"auth": "a", "game-1": ""}, `database "game-1" has no name there`},
		{"MySQL", map[string]string{"auth": "a"}, "its databases are auth, and those of the plan are auth, game-1"},
		{"MySQL", nil, "its databases are , and those of the plan are auth, game-1"},
		{"SQLite", map[string]string{"auth": "auth", "game-1": "game-1"}, "a database of SQLite is a file"},
	} {
		err := severalDatabases(test.dialect).CheckDatabases(`source "eu"`, test.databases)
		if test.want == "" && err != nil || test.want != "" && (!errors.As(err, new(*plan.Error)) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s, %v: got %v, want %q", test.dialect, test.databases, err, test.want)
		}
	}
	for want, edit := range map[string]func(*plan.Plan){
		"a database of SQLite is a file":                                     func(p *plan.Plan) { p.Dialect = "SQLite" },
		`database "a.b": want letters`:                                       func(p *plan.Plan) { p.Databases = append(p.Databases, "a.b") },
		`database "auth" is there twice`:                                     func(p *plan.Plan) { p.Databases = append(p.Databases, "auth") },
		`table "account": its name does not begin with one of the databases`: func(p *plan.Plan) { p.Tables[1].Name = "account" },
		`table "auth.": its name does not begin`:                             func(p *plan.Plan) { p.Tables[1].Name = "auth." },
	} {
		p := severalDatabases("MySQL")
		if edit(p); p.Check() == nil || !strings.Contains(p.Check().Error(), want) {
			t.Errorf("got %v, want %q", p.Check(), want)
		}
	}
}
