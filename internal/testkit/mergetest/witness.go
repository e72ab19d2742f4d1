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

// A witnessed is a merge of two sources whose references the witness looks at: items belong to players, guests are
// of two kinds, friends are rows of references only, parties have references in a list and in JSON, and pets, whose
// names are not unique, belong to players.
type witnessed struct {
	Engine
	target  *sql.DB
	sources []merge.Source
	rows    int
	rule    plan.Rule // of equal names of players
}

func (w *witnessed) exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

func (w *witnessed) tables(id string) []string {
	return []string{
		"CREATE TABLE players (id " + id + " NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE, gold INT NOT NULL)",
		"CREATE TABLE pets (id " + id + " NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL, owner_id " + id + " NOT NULL)",
		"CREATE TABLE items (id " + id + " NOT NULL PRIMARY KEY, label VARCHAR(40) NOT NULL, owner_id " + id + ", pet_id " + id + ")",
		"CREATE TABLE friends (a " + id + " NOT NULL, b " + id + " NOT NULL, PRIMARY KEY (a, b))",
		"CREATE TABLE guests (id " + id + " NOT NULL PRIMARY KEY, label VARCHAR(40) NOT NULL, kind VARCHAR(10) NOT NULL, guest_id " + id + " NOT NULL)",
		"CREATE TABLE parties (id " + id + " NOT NULL PRIMARY KEY, label VARCHAR(40) NOT NULL, members VARCHAR(200) NOT NULL, data VARCHAR(200) NOT NULL)",
	}
}

// start makes the databases and returns the merge.
func (w *witnessed) start(t *testing.T) *merge.Merge {
	w.target = w.Open(t)
	if err := sqlsnow.Migrate(t.Context(), w.target, w.Dialect); err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Init(t.Context(), w.target, w.Dialect, sqlsnow.Namespace{Name: namespace, Layout: layout(t), Workers: 32}); err != nil {
		t.Fatal(err)
	}
	w.exec(t, w.target, w.tables("BIGINT")...)
	for _, name := range []string{"s1", "s2"} {
		db := w.Open(t)
		w.sources = append(w.sources, merge.Source{Name: name, DB: db})
		w.exec(t, db, w.tables("INTEGER")...)
		values := map[string][]string{}
		add := func(table, format string, args ...any) {
			values[table] = append(values[table], fmt.Sprintf("("+format+")", args...))
		}
		n := w.rows
		for i := 1; i <= n; i++ {
			who := fmt.Sprintf("%s-%d", name, i)
			if i%10 == 0 && w.rule == plan.RuleKeep {
				who = fmt.Sprintf("both-%d", i) // the name is in both sources, with other gold
			}
			add("players", "%d, '%s', %d", i, who, i*len(name)+len(values))
			add("pets", "%d, 'pet %d', %d", i, i%7, i)
			add("items", "%d, '%s item %d', %d, %d", i, name, i, (i*3)%n+1, (i*5)%n+1)
			add("friends", "%d, %d", i, i%n+1)
			add("guests", "%d, '%s guest %d', '%s', %d", i, name, i, []string{"player", "item"}[i%2], (i*7)%n+1)
			add("parties", `%d, '%s party %d', '%d, %d', '{"leader": %d, "loot": [%d, "%d"]}'`, i, name, i, i%n+1, (i*3)%n+1, i%n+1, (i*5)%n+1, (i*7)%n+1)
		}
		for table, rows := range values {
			w.exec(t, db, "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "))
		}
	}
	p, err := merge.Inspect(t.Context(), w.Dialect, w.sources...)
	if err != nil {
		t.Fatal(err)
	}
	to := func(table string) []*plan.Reference { return []*plan.Reference{{Table: table}} }
	for _, table := range p.Tables {
		for _, c := range table.Columns {
			c.Role, c.Refers, c.Decided = plan.RolePlain, nil, true
			if strings.HasPrefix(strings.ToLower(c.Type), "int") && (c.Name != "gold") {
				c.Type = "bigint"
			}
			switch table.Name + "." + c.Name {
			case "pets.owner_id", "items.owner_id", "friends.a", "friends.b":
				c.Role, c.Refers = plan.RoleReference, to("players")
			case "items.pet_id":
				c.Role, c.Refers = plan.RoleReference, to("pets")
			case "guests.guest_id":
				c.Role, c.By, c.Refers = plan.RolePolymorphic, "kind", []*plan.Reference{{Table: "players", Value: "player"}, {Table: "items", Value: "item"}}
			case "parties.members":
				c.Role, c.Refers = plan.RoleList, to("players")
			case "parties.data":
				c.Role, c.Refers = plan.RoleJSON, []*plan.Reference{{Table: "players", Path: "$.leader"}, {Table: "items", Path: "$.loot[*]"}}
			}
			if c.Name == "id" {
				c.Role, table.NewIDs = plan.RoleKey, []string{"s1", "s2"}
			}
		}
		for _, u := range table.Unique {
			u.Decided, u.Rule = true, plan.RuleFail
			if u.Columns[0] == "name" && w.rule != "" {
				u.Rule = w.rule
			}
		}
	}
	m, err := merge.New(w.Dialect, w.target, w.sources, p, merge.Config{Namespace: namespace, WitnessAll: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// found returns what the witness says of a column with a value or path, and how many references of it are wrong.
func (w *witnessed) found(t *testing.T, r *report.Report, table, column, at string) (row report.Reference, wrong int) {
	t.Helper()
	for _, f := range r.Failures {
		if f.Check == report.CheckWitness && f.Table == table && f.Column == column {
			wrong++
		}
	}
	for _, row := range r.References {
		if row.Table == table && row.Column == column && row.Value+row.Path == at {
			return row, wrong
		}
	}
	t.Fatalf("the report has no reference %s.%s %s", table, column, at)
	return row, wrong
}

// Witness tests that the witness follows all references to unique contents, and finds the ones that lead elsewhere.
func Witness(t *testing.T, e Engine) {
	w := &witnessed{Engine: e, rows: 70}
	m := w.start(t)
	r, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []report.Reference{
		{Table: "pets", Column: "owner_id", Witnessed: 140},
		{Table: "items", Column: "owner_id", Witnessed: 140},
		{Table: "items", Column: "pet_id", Undetermined: 140}, // 20 pets have each of the names
		{Table: "friends", Column: "a", Witnessed: 140},
		{Table: "guests", Column: "guest_id", Value: "player", Witnessed: 70},
		{Table: "guests", Column: "guest_id", Value: "item", Witnessed: 70},
		{Table: "parties", Column: "members", Witnessed: 280},
		{Table: "parties", Column: "data", Path: "$.leader", Witnessed: 140},
		{Table: "parties", Column: "data", Path: "$.loot[*]", Witnessed: 280},
	} {
		if got, wrong := w.found(t, r, want.Table, want.Column, want.Value+want.Path); got.Witnessed != want.Witnessed || got.Undetermined != want.Undetermined || wrong > 0 {
			t.Errorf("got %+v and %d wrong, want %d witnessed and %d undetermined", got, wrong, want.Witnessed, want.Undetermined)
		}
	}
	player := "(SELECT id FROM players WHERE name = 's1-%d')"
	for i, d := range []struct{ name, do, table, column, at string }{
		{"one reference to another player", "UPDATE items SET owner_id = " + fmt.Sprintf(player, 9) + " WHERE label = 's1 item 3'", "items", "owner_id", ""},
		{"the player of the same old id in the other source", "UPDATE items SET owner_id = (SELECT id FROM players WHERE name = 's2-10') WHERE label = 's1 item 3'", "items", "owner_id", ""},
		{"a reference to nobody", "UPDATE items SET owner_id = NULL WHERE label = 's2 item 3'", "items", "owner_id", ""},
		{"a row of references", "UPDATE friends SET b = " + fmt.Sprintf(player, 40) + " WHERE a = " + fmt.Sprintf(player, 1), "friends", "b", ""},
		{"a pet's owner, of many pets of its name", "UPDATE pets SET owner_id = " + fmt.Sprintf(player, 40) + " WHERE owner_id = " + fmt.Sprintf(player, 1), "pets", "owner_id", ""},
		{"a guest", "UPDATE guests SET guest_id = " + fmt.Sprintf(player, 1) + " WHERE label = 's1 guest 2'", "guests", "guest_id", "player"},
		{"the members of another party", "UPDATE parties SET members = (SELECT members FROM saved_parties WHERE label = 's1 party 9') WHERE label = 's1 party 3'", "parties", "members", ""},
		{"the JSON of another party", "UPDATE parties SET data = (SELECT data FROM saved_parties WHERE label = 's2 party 3') WHERE label = 's1 party 3'", "parties", "data", "$.loot[*]"},
		{"two players who changed places", "UPDATE players SET name = CASE name WHEN 's1-1' THEN 'x' ELSE 's1-1' END WHERE name IN ('s1-1', 's1-2')", "items", "owner_id", ""},
	} {
		if !e.has(i) {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			copied := []string{"items", "friends", "pets", "guests", "parties", "players"}
			for _, table := range copied {
				w.exec(t, w.target, "CREATE TABLE saved_"+table+" AS SELECT * FROM "+table)
			}
			w.exec(t, w.target, d.do)
			if strings.Contains(d.do, "'x'") {
				w.exec(t, w.target, "UPDATE players SET name = 's1-2' WHERE name = 'x'")
			}
			r, err := m.Verify(t.Context())
			for _, table := range copied {
				w.exec(t, w.target, "DELETE FROM "+table, "INSERT INTO "+table+" SELECT * FROM saved_"+table, "DROP TABLE saved_"+table)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, wrong := w.found(t, r, d.table, d.column, d.at); wrong == 0 {
				t.Errorf("the witness has found nothing wrong with %s.%s: %v", d.table, d.column, r.Failures)
			}
		})
	}
	if r, err := m.Verify(t.Context()); err != nil || r.Err() != nil {
		t.Errorf("after all is undone: got %v, %v", err, r.Err())
	}
	t.Run("rows that are merged", func(t *testing.T) {
		w := &witnessed{Engine: e, rows: 70, rule: plan.RuleKeep}
		m := w.start(t)
		r, err := m.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got, wrong := w.found(t, r, "items", "owner_id", ""); got.Witnessed != 140 || wrong > 0 {
			t.Errorf("got %+v and %d wrong, want 140 witnessed", got, wrong)
		}
		w.exec(
			t, w.target,
			"UPDATE items SET owner_id = (SELECT id FROM players WHERE name = 'both-10') WHERE label = 's2 item 3'",
			"UPDATE items SET owner_id = (SELECT id FROM players WHERE name = 's2-9') WHERE label = 's2 item 30'",
			"UPDATE parties SET members = (SELECT m FROM (SELECT members AS m FROM parties WHERE label = 's2 party 5') AS other) WHERE label = 's2 party 3'",
		)
		if r, err = m.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, at := range [][2]string{{"items", "owner_id"}, {"parties", "members"}} {
			if _, wrong := w.found(t, r, at[0], at[1], ""); wrong == 0 {
				t.Errorf("the witness has found nothing wrong with %s", at)
			}
		}
	})
}
