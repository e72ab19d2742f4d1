package mergetest

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A bound is a merge of two small worlds. One thing about it is not as it should be.
type bound struct {
	name   string
	only   sqlsnow.Dialect                   // 0 for all
	before func(p *plan.Plan)                // the plan for which the target's tables are made
	plan   func(p *plan.Plan)                // what is changed in it then
	eu, us []string                          // statements in the sources
	target []string                          // in the target
	stops  string                            // what the dry run says of a run that is refused, or nothing
	counts func(r report.TableForecast) bool // of a table of a source; nil for all
}

// boundSchema is the schema of both worlds. All references are without a foreign key.
var boundSchema = []string{
	"CREATE TABLE countries (code VARCHAR(10) NOT NULL PRIMARY KEY)",
	"CREATE TABLE players (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, country VARCHAR(10), title VARCHAR(10))",
	"CREATE TABLE rooms (house VARCHAR(10) NOT NULL, room INTEGER NOT NULL, PRIMARY KEY (house, room))",
	"CREATE TABLE items (id INTEGER NOT NULL PRIMARY KEY, owner_id INTEGER, house VARCHAR(10), room INTEGER)",
	"CREATE TABLE enchants (id INTEGER NOT NULL PRIMARY KEY, item_id INTEGER)",
	"CREATE TABLE scores (id INTEGER NOT NULL PRIMARY KEY, player_id INTEGER NOT NULL, label VARCHAR(10))",
	"CREATE TABLE teams (id INTEGER NOT NULL PRIMARY KEY, members VARCHAR(60) NOT NULL UNIQUE)",
	"INSERT INTO countries VALUES ('EU'), ('US')",
	"INSERT INTO rooms VALUES ('inn', 1), ('inn', 2)",
	"INSERT INTO items VALUES (1, 1, 'inn', 1), (2, 2, 'inn', 2), (3, NULL, NULL, 1)",
	"INSERT INTO enchants VALUES (1, 1), (2, 2), (3, NULL)",
	"INSERT INTO scores VALUES (1, 1, '1'), (2, 2, '2')",
}

// refers makes a column a reference.
func refers(p *plan.Plan, table, column, to string) *plan.Column {
	c := p.Table(table).Column(column)
	c.Role, c.Refers = plan.RoleReference, []*plan.Reference{{Table: to}}
	return c
}

// foreignKeyTo adds a foreign key to a plan.
func foreignKeyTo(table, columns, to, refers string) func(p *plan.Plan) {
	return func(p *plan.Plan) {
		t := p.Table(table)
		t.ForeignKeys = append(t.ForeignKeys, &plan.ForeignKey{Columns: strings.Fields(columns), Table: to, Refers: strings.Fields(refers)})
	}
}

// nullForNoRow makes references to no row NULL, in a plan that does not know that the target's column takes none.
func nullForNoRow(table, column string) func(p *plan.Plan) {
	return func(p *plan.Plan) {
		c := p.Table(table).Column(column)
		c.Orphans, c.Nullable = plan.OrphansNull, true
	}
}

// suffixed renames players.
func suffixed(p *plan.Plan) {
	for _, u := range p.Table("players").Unique {
		if u.Columns[0] == "name" {
			u.Rule = plan.RuleSuffix
		}
	}
}

var withoutForeignKeys = func(p *plan.Plan) {
	for _, t := range p.Tables {
		t.ForeignKeys = nil
	}
}

var bounds = []bound{
	{name: "nothing"},
	{
		name: "a reference to a row that is dropped", eu: []string{"UPDATE items SET owner_id = 99 WHERE id = 1"},
		plan: func(p *plan.Plan) { p.Table("items").Column("owner_id").Orphans = plan.OrphansDrop }, stops: `"enchants.item_id" of row [1] of source "eu" refers to "1"`,
	},
	{
		name: "a row that is dropped for one that is", eu: []string{"UPDATE items SET owner_id = 99 WHERE id = 1"},
		plan: func(p *plan.Plan) {
			p.Table("items").Column("owner_id").Orphans = plan.OrphansDrop
			p.Table("enchants").Column("item_id").Orphans = plan.OrphansDrop
		},
		counts: func(r report.TableForecast) bool {
			return r.Dropped == map[string]int64{"items eu": 1, "enchants eu": 1}[r.Table+" "+r.Source]
		},
	},
	{
		name: "NULL for a row that is dropped", eu: []string{"UPDATE items SET owner_id = 99 WHERE id = 1", "DELETE FROM enchants WHERE id = 3"},
		before: func(p *plan.Plan) { p.Table("enchants").Column("item_id").Nullable = false },
		plan: func(p *plan.Plan) {
			p.Table("items").Column("owner_id").Orphans = plan.OrphansDrop
			nullForNoRow("enchants", "item_id")(p)
		},
		us: []string{"DELETE FROM enchants WHERE id = 3"}, stops: `column "item_id": NULL`,
	},
	{
		name: "NULL for no row", eu: []string{"UPDATE scores SET player_id = 99 WHERE id = 1"},
		plan: nullForNoRow("scores", "player_id"), stops: `column "player_id": NULL`,
	},
	{
		name: "no NULL where there might be one",
		plan: nullForNoRow("scores", "player_id"),
	},
	{
		name: "a foreign key over a text", eu: []string{"UPDATE players SET country = 'XX' WHERE id = 1"}, before: foreignKeyTo("players", "country", "countries", "code"),
		stops: `a foreign key to table "countries"`,
	},
	{
		name: "a foreign key over a text, to a row of the target", eu: []string{"UPDATE players SET country = 'XX' WHERE id = 1"},
		before: foreignKeyTo("players", "country", "countries", "code"), target: []string{"INSERT INTO countries VALUES ('XX')"},
	},
	{
		name: "a foreign key over a text, to a row of another source", eu: []string{"UPDATE players SET country = 'XX' WHERE id = 1"},
		before: foreignKeyTo("players", "country", "countries", "code"), us: []string{"INSERT INTO countries VALUES ('XX')"},
	},
	{
		name: "a foreign key over two columns", eu: []string{"UPDATE items SET room = 3 WHERE id = 1"}, before: foreignKeyTo("items", "house room", "rooms", "house room"),
		stops: `a foreign key to table "rooms"`,
	},
	{
		name: "a foreign key over a reference and a text", eu: []string{"UPDATE items SET house = 'eu2' WHERE id IN (1, 2)"},
		before: func(p *plan.Plan) {
			p.Table("players").Unique = append(p.Table("players").Unique, &plan.Unique{Columns: []string{"id", "name"}, Rule: plan.RuleFail, Decided: true})
			foreignKeyTo("items", "owner_id house", "players", "id name")(p)
		},
		us:    []string{"UPDATE items SET house = 'us1' WHERE id = 1", "UPDATE items SET house = 'us2' WHERE id = 2"},
		stops: `a foreign key to table "players"`,
	},
	{name: "a foreign key over two columns, one of them NULL", eu: []string{"UPDATE items SET room = 3 WHERE id = 3"}, before: foreignKeyTo("items", "house room", "rooms", "house room")},
	{
		name: "a foreign key and a value for no row", eu: []string{"UPDATE items SET owner_id = 0 WHERE id = 1"}, before: foreignKeyTo("items", "owner_id", "players", "id"),
		plan: func(p *plan.Plan) { p.Table("items").Column("owner_id").None = []string{"0"} }, stops: `a foreign key to table "players"`,
	},
	{
		name: "a foreign key and a value for no row, which the target has", eu: []string{"UPDATE items SET owner_id = 0 WHERE id = 1"}, before: foreignKeyTo("items", "owner_id", "players", "id"),
		plan: func(p *plan.Plan) { p.Table("items").Column("owner_id").None = []string{"0"} }, target: []string{"INSERT INTO players (id, name) VALUES (0, 'nobody')"},
	},
	{
		name: "a foreign key of the target alone, over ids", before: foreignKeyTo("scores", "player_id", "players", "id"), plan: withoutForeignKeys,
	},
	{
		name: "a foreign key of the target alone, over values that are no ids", before: foreignKeyTo("scores", "player_id", "players", "id"),
		plan: func(p *plan.Plan) {
			withoutForeignKeys(p)
			p.Table("scores").Column("player_id").Role = plan.RolePlain
		},
		stops: "has a foreign key",
	},
	{
		name: "a foreign key of the target alone, over a text", eu: []string{"UPDATE players SET country = 'XX' WHERE id = 1"},
		before: foreignKeyTo("players", "country", "countries", "code"), plan: withoutForeignKeys, stops: `a foreign key to table "countries"`,
	},
	{
		name: "a foreign key of the target alone, over names that change", before: foreignKeyTo("scores", "label", "players", "name"),
		plan: func(p *plan.Plan) {
			withoutForeignKeys(p)
			suffixed(p)
		},
		eu: []string{"UPDATE scores SET label = 'eu1'"}, us: []string{"UPDATE players SET name = 'eu1' WHERE id = 1", "UPDATE scores SET label = 'eu1'"}, stops: "has a foreign key",
	},
	{
		name: "a foreign key of the target alone to a row without an id that is dropped", before: foreignKeyTo("players", "country", "countries", "code"),
		plan: func(p *plan.Plan) {
			withoutForeignKeys(p)
			refers(p, "countries", "ruler_id", "players").Orphans = plan.OrphansDrop
		},
		eu:    []string{"ALTER TABLE countries ADD ruler_id INTEGER", "UPDATE countries SET ruler_id = 99 WHERE code = 'EU'"},
		us:    []string{"ALTER TABLE countries ADD ruler_id INTEGER", "UPDATE countries SET ruler_id = 99 WHERE code = 'EU'"},
		stops: `a foreign key to table "countries"`,
	},
	{
		name: "a new name that a later source has, where rows may be dropped", us: []string{"UPDATE players SET name = 'eu1_eu' WHERE id = 1"},
		before: func(p *plan.Plan) { refers(p, "players", "title", "teams").Orphans = plan.OrphansDrop }, plan: suffixed,
		target: []string{"INSERT INTO players (id, name) VALUES (7, 'eu1')"},
	},
	{
		name: "a column that one source lacks", only: sqlsnow.MySQL,
		us: []string{"ALTER TABLE players DROP COLUMN title"}, eu: []string{"UPDATE players SET title = 'x'"},
		target: []string{"ALTER TABLE players MODIFY title VARCHAR(10) NOT NULL"}, stops: `source "us" has none`,
	},
	{
		name: "packed ids in bytes", only: sqlsnow.MySQL,
		eu: []string{"ALTER TABLE players ADD friends VARBINARY(8)", "UPDATE players SET friends = '1,2'"}, us: []string{"ALTER TABLE players ADD friends VARBINARY(8)"},
		plan: func(p *plan.Plan) {
			c := p.Table("players").Column("friends")
			c.Role, c.Format, c.Refers = plan.RolePacked, "fields", []*plan.Reference{{Table: "players", Path: "1+1"}}
		},
		stops: "bytes, and varbinary(8) takes 8",
	},
	{
		name: "an id of no row beside the id of a row that is left out with its references",
		eu:   []string{"INSERT INTO teams VALUES (1, '99,1')"},
		plan: func(p *plan.Plan) {
			p.Table("players").WithoutRows = []*plan.Condition{{Where: "id = 1", Sources: []string{"eu"}}}
			c := p.Table("teams").Column("members")
			c.Role, c.Refers, c.Gone = plan.RoleList, []*plan.Reference{{Table: "players"}}, plan.OrphansDrop
			for table, column := range map[string]string{"items": "owner_id", "scores": "player_id", "enchants": "item_id"} {
				p.Table(table).Column(column).Gone = plan.OrphansDrop
			}
		},
		counts: func(r report.TableForecast) bool { return r.Table != "teams" || r.Source != "eu" || r.Dropped == 1 },
	},
	{
		name: "equal lists in a unique key", eu: []string{"INSERT INTO teams VALUES (1, '0,0')"}, us: []string{"INSERT INTO teams VALUES (1, '0,0')"},
		plan: func(p *plan.Plan) {
			c := p.Table("teams").Column("members")
			c.Role, c.Refers, c.None = plan.RoleList, []*plan.Reference{{Table: "players"}}, []string{"0"}
		},
		stops: `table "teams"`,
	},
	{
		name: "equal JSON in a unique key", eu: []string{`INSERT INTO teams VALUES (1, '{"a":0}')`}, us: []string{`INSERT INTO teams VALUES (1, '{"a":0}')`},
		plan: func(p *plan.Plan) {
			c := p.Table("teams").Column("members")
			c.Role, c.Refers, c.None = plan.RoleJSON, []*plan.Reference{{Table: "players", Path: "$.a"}}, []string{"0"}
		},
		stops: `table "teams"`,
	},
	{
		name: "a text with an id of a row that is merged", only: sqlsnow.MySQL, eu: []string{"UPDATE scores SET label = NULL"}, us: []string{"UPDATE players SET name = 'eu1' WHERE id = 1"},
		before: func(p *plan.Plan) { p.Table("players").NewIDs = []string{"eu"} },
		plan: func(p *plan.Plan) {
			p.Table("players").Unique = append(p.Table("players").Unique, &plan.Unique{Columns: []string{"id"}, Rule: plan.RuleFail, Decided: true})
			for _, u := range p.Table("players").Unique {
				if u.Columns[0] == "name" {
					u.Rule = plan.RuleKeep
				}
			}
			refers(p, "scores", "label", "players")
		},
		stops: `column "label"`,
	},
}

// Bounds tests, case by case, that a dry run reports what would stop a run, and nothing else.
func Bounds(t *testing.T, e Engine) {
	for i, b := range bounds {
		if b.only == e.Dialect || b.only == 0 && e.has(i) {
			t.Run(b.name, func(t *testing.T) { b.run(t, e) })
		}
	}
}

func (b *bound) run(t *testing.T, e Engine) {
	target := e.Open(t)
	exec := func(db *sql.DB, statements ...string) {
		t.Helper()
		for _, text := range statements {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	if err := sqlsnow.Migrate(t.Context(), target, e.Dialect); err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Init(t.Context(), target, e.Dialect, sqlsnow.Namespace{Name: namespace, Layout: layout(t), Workers: 32}); err != nil {
		t.Fatal(err)
	}
	var sources []merge.Source
	for _, name := range []string{"eu", "us"} {
		db := e.Open(t)
		exec(db, boundSchema...)
		exec(db, fmt.Sprintf("INSERT INTO players VALUES (1, '%[1]s1', 'EU', NULL), (2, '%[1]s2', NULL, NULL)", name))
		exec(db, map[string][]string{"eu": b.eu, "us": b.us}[name]...)
		sources = append(sources, merge.Source{Name: name, DB: db})
	}
	p, err := merge.Inspect(t.Context(), e.Dialect, sources...)
	if err != nil {
		t.Fatal(err)
	}
	p.Questions = nil
	for _, table := range p.Tables {
		for _, c := range table.Columns {
			c.Decided, c.Suspects, c.Role, c.Refers = true, nil, plan.RolePlain, nil
			if c.Name == "id" {
				c.Role, table.NewIDs = plan.RoleKey, p.Sources
			}
		}
		var unique []*plan.Unique
		for _, u := range table.Unique {
			if u.Columns[0] != "id" {
				u.Rule, u.Decided, u.Suspects = plan.RuleFail, true, nil
				unique = append(unique, u)
			}
		}
		table.Unique = unique
	}
	for _, name := range []string{"countries", "rooms"} {
		p.Table(name).Unique = []*plan.Unique{{Columns: p.Table(name).PrimaryKey, Rule: plan.RuleKeep, Decided: true}}
	}
	refers(p, "items", "owner_id", "players")
	refers(p, "enchants", "item_id", "items")
	refers(p, "scores", "player_id", "players")
	if b.before != nil {
		b.before(p)
	}
	statements, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	exec(target, append(statements, b.target...)...)
	if b.plan != nil {
		b.plan(p)
	}
	m, err := merge.New(e.Dialect, target, sources, p, merge.Config{Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	forecast, err := m.DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	told := forecast.Err()
	_, failed := m.Run(t.Context())
	switch {
	case (told == nil) != (failed == nil):
		t.Errorf("the dry run says %v, and the run %v", told, failed)
	case (failed != nil) != (b.stops != "") || !strings.Contains(fmt.Sprint(told), b.stops):
		t.Errorf("got %v, want %q", told, b.stops)
	}
	for _, row := range forecast.Tables {
		if b.counts != nil && !b.counts(row) {
			t.Errorf("the dry run counts %+v", row)
		}
	}
}
