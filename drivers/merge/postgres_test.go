//go:build unix

package merge_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// decide answers what Inspect asks, and gives all keys new ids.
func decide(p *plan.Plan) {
	for _, table := range p.Tables {
		for _, c := range table.Columns {
			c.Decided = true
			if c.Role == plan.RoleKey {
				table.NewIDs = p.Sources
			}
		}
	}
}

// execute runs statements, and what else there is to a target if game is set.
func execute(t *testing.T, db *sql.DB, game bool, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if !game {
		return
	}
	if err := errors.Join(
		sqlsnow.Migrate(t.Context(), db, sqlsnow.Postgres),
		sqlsnow.Init(t.Context(), db, sqlsnow.Postgres, sqlsnow.Namespace{Name: "game", Layout: snow.DefaultLayout(), Workers: 4}),
	); err != nil {
		t.Fatal(err)
	}
}

// A server that would leave out rows of a source refuses to read it.
func TestPostgreSQLRowSecurity(t *testing.T) {
	server := dbtest.Postgres(t)
	dsn := server.DSN(server.CreateDatabase(t))
	owner := opened(t, "pgx", dsn)
	execute(t, owner, false,
		"CREATE TABLE items (id SERIAL PRIMARY KEY, tenant INT NOT NULL)", "INSERT INTO items (tenant) SELECT n % 2 FROM generate_series(1, 10) AS n",
		"ALTER TABLE items ENABLE ROW LEVEL SECURITY", "CREATE POLICY half ON items USING (tenant = 0)", "DROP ROLE IF EXISTS snow_reader", "CREATE ROLE snow_reader",
		"GRANT SELECT ON ALL TABLES IN SCHEMA public TO snow_reader")
	t.Cleanup(func() {
		if _, err := owner.Exec("DROP OWNED BY snow_reader; DROP ROLE snow_reader"); err != nil {
			t.Error(err)
		}
	})
	reader := opened(t, "pgx", dsn+"&role=snow_reader")
	if got := lines(t, reader, "SELECT COUNT(*)::text FROM items"); got != "5" {
		t.Fatalf("the account sees %s rows, want 5 of 10", got)
	}
	var failed *sqlsnow.DatabaseError
	if _, err := merge.Inspect(t.Context(), sqlsnow.Postgres, merge.Source{Name: "s1", DB: reader}); !errors.As(err, &failed) || !strings.Contains(err.Error(), "items") {
		t.Errorf("Inspect: got %v, want a DatabaseError of table items", err)
	}
	p, err := merge.Inspect(t.Context(), sqlsnow.Postgres, merge.Source{Name: "s1", DB: owner})
	if err != nil {
		t.Fatal(err)
	}
	decide(p)
	schema, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		source *sql.DB
		want   string // rows in the target
	}{{reader, "0"}, {owner, "10"}} {
		target := opened(t, "pgx", server.DSN(server.CreateDatabase(t)))
		execute(t, target, true, schema...)
		m, err := merge.New(sqlsnow.Postgres, target, []merge.Source{{Name: "s1", DB: test.source}}, p, merge.Config{Namespace: "game"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(t.Context()); test.source == owner && err != nil || test.source == reader && !errors.As(err, &failed) {
			t.Errorf("Run to %s rows: got %v", test.want, err)
		}
		if got := lines(t, target, "SELECT COUNT(*)::text FROM items"); got != test.want {
			t.Errorf("the target has %s rows, want %s", got, test.want)
		}
	}
}

// Rows of a table also belong to the table that it inherits from, and would be
// merged twice. Rows of partitions belong to one table.
func TestPostgreSQLInheritance(t *testing.T) {
	server := dbtest.Postgres(t)
	open := func() *sql.DB { return opened(t, "pgx", server.DSN(server.CreateDatabase(t))) }
	source := open()
	execute(t, source, false,
		"CREATE TABLE things (id SERIAL PRIMARY KEY, name TEXT)", "CREATE TABLE swords (edge INT, PRIMARY KEY (id)) INHERITS (things)",
		"CREATE TABLE sabres (bend INT, PRIMARY KEY (id)) INHERITS (swords)", "INSERT INTO things (name) VALUES ('rope')", "INSERT INTO swords (name) VALUES ('Sting'), ('Orcrist')",
		"INSERT INTO sabres (name) VALUES ('Herugrim')",
		"CREATE TABLE logs (id INT PRIMARY KEY) PARTITION BY RANGE (id)", "CREATE TABLE logs_1 PARTITION OF logs FOR VALUES FROM (1) TO (10)", "INSERT INTO logs VALUES (1), (2)",
		"CREATE SCHEMA other", "CREATE TABLE alone (id INT PRIMARY KEY)", "CREATE TABLE other.heir () INHERITS (alone)", "INSERT INTO other.heir VALUES (7)")
	sources := []merge.Source{{Name: "s1", DB: source}}
	p, err := merge.Inspect(t.Context(), sqlsnow.Postgres, sources...)
	if err != nil {
		t.Fatal(err)
	}
	var suspects []string
	tables := map[string]*plan.Table{}
	for _, table := range p.Tables {
		tables[table.Name] = table
		for _, c := range table.Columns {
			for _, s := range c.Suspects {
				if strings.Contains(s, "inherits from") {
					suspects = append(suspects, table.Name+": "+s)
				}
			}
		}
	}
	if len(suspects) != 3 || !strings.HasPrefix(suspects[0], `swords: table "sabres"`) || !strings.HasPrefix(suspects[1], `things: table "sabres"`) || !strings.HasPrefix(suspects[2], `things: table "swords"`) {
		t.Errorf("got suspects %q, want those of swords and things", suspects)
	}
	if _, ok := tables["logs_1"]; ok || len(tables) != 5 {
		t.Errorf("got %d tables, want 5", len(tables))
	}
	decide(p)
	for _, test := range []struct {
		skip []string
		want string // table and heir, or how many rows are copied
	}{
		{nil, "swords sabres, things sabres, things swords"},
		{[]string{"swords"}, "things sabres"},
		{[]string{"swords", "sabres"}, "things 4, logs 2, alone 1"},
		{[]string{"things", "swords"}, "sabres 1, logs 2, alone 1"},
	} {
		for name, table := range tables {
			table.Skip = slices.Contains(test.skip, name)
		}
		schema, err := p.Schema()
		if err != nil {
			t.Fatal(err)
		}
		target := open()
		execute(t, target, true, schema...)
		m, err := merge.New(sqlsnow.Postgres, target, sources, p, merge.Config{Namespace: "game"})
		if err != nil {
			t.Fatal(err)
		}
		_, dry := m.DryRun(t.Context())
		_, err = m.Run(t.Context())
		for _, part := range strings.Split(test.want, ", ") {
			table, want, _ := strings.Cut(part, " ")
			if tables[want] == nil {
				if got := lines(t, target, "SELECT COUNT(*)::text FROM "+table); err != nil || dry != nil || got != want {
					t.Errorf("without %q: %s has %s rows, want %s; %v, %v", test.skip, table, got, want, dry, err)
				}
				continue
			}
			for _, err := range []error{dry, err} {
				var p *plan.Error
				if text := `"` + table + `": in source "s1" table "` + want + `" inherits`; !errors.As(err, &p) || !strings.Contains(err.Error(), text) || strings.Count(err.Error(), "inherits") != strings.Count(test.want, ",")+1 {
					t.Errorf("without %q: got %v, want a PlanError of %s", test.skip, err, text)
				}
			}
		}
	}
}
