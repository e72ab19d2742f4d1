//go:build unix

package merge_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// What a temporary table can't have is no reason to try no rows.
func TestTrialOfSpecialTables(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	open := func() *sql.DB { return opened(t, "mysql", server.DSN(server.CreateDatabase(t))) }
	var version string
	if err := open().QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	for name, alter := range map[string]string{
		"full text":   "ADD FULLTEXT KEY words (body)",
		"partitions":  "PARTITION BY HASH (id) PARTITIONS 3",
		"foreign key": "ADD parent INT, ADD CONSTRAINT `a`` b` FOREIGN KEY (parent) REFERENCES mails (id), ADD FULLTEXT KEY words (body)",
		"versions":    "ADD SYSTEM VERSIONING",
		"nothing":     "COMMENT 'ordinary'",
	} {
		if name == "versions" && !strings.Contains(version, "MariaDB") {
			continue
		}
		source, target := open(), open()
		const mails = "CREATE TABLE mails (id INT AUTO_INCREMENT PRIMARY KEY, title VARCHAR(90) UNIQUE, body TEXT, age INT)"
		exec(t, source, strings.ReplaceAll(mails, " UNIQUE", ""))
		exec(t, source, "INSERT INTO mails (title, body, age) VALUES ('a', 'one two', 5), ('b', 'three', 99)")
		a := newAttempt(t, sqlsnow.MySQL, target, source)
		exec(t, target, strings.ReplaceAll(mails, " UNIQUE", ""))
		exec(t, target, "ALTER TABLE mails ADD CHECK (age < 90)")
		exec(t, target, "ALTER TABLE mails "+alter)
		dry, run := a.run()
		for what, err := range map[string]error{"dry run": dry, "run": run} {
			if err == nil || !strings.Contains(err.Error(), "4025") && !strings.Contains(err.Error(), "3819") {
				t.Errorf("%s: %s: got %v, want a failed check", name, what, err)
			}
		}
	}
}

// A default of a zero date is refused by a server with its own settings, but not in a session of Schema.
func TestZeroDateDefault(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	open := func(parameters string) *sql.DB {
		return opened(t, "mysql", server.DSN(server.CreateDatabase(t))+parameters)
	}
	const strict = "&sql_mode=%27STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE%27"
	source := open("&sql_mode=%27%27")
	exec(t, source, "CREATE TABLE mails (id INT AUTO_INCREMENT PRIMARY KEY, sent DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00', day DATE NOT NULL DEFAULT '0000-00-00', body TEXT, FULLTEXT KEY words (body))")
	exec(t, source, "INSERT INTO mails (body) VALUES ('one')")
	target := open(strict)
	target.SetMaxOpenConns(2)
	a := newAttempt(t, sqlsnow.MySQL, target, source)
	a.succeeds()
	a.wants("SELECT CONCAT(CAST(sent AS CHAR), ' ', CAST(day AS CHAR)) FROM mails", "0000-00-00 00:00:00 0000-00-00")
}

// A table may be counted by a column that is not its primary key, nor unique.
func TestNumberedBesidePrimaryKey(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	open := func() *sql.DB { return opened(t, "mysql", server.DSN(server.CreateDatabase(t))) }
	var sources []*sql.DB
	for _, name := range []string{"eu", "us"} {
		db := open()
		exec(t, db, "CREATE TABLE users (identifier VARCHAR(40) NOT NULL PRIMARY KEY, id INT NOT NULL AUTO_INCREMENT, KEY id (id))")
		exec(t, db, "CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, owner INT NOT NULL)")
		exec(t, db, "INSERT INTO users (identifier) VALUES ('"+name+" a'), ('"+name+" b')")
		exec(t, db, "INSERT INTO items (owner) VALUES (2)")
		sources = append(sources, db)
	}
	a := newAttempt(t, sqlsnow.MySQL, open(), sources...)
	users := a.plan.Table("users")
	a.column("users.id").Role, users.NewIDs = plan.RoleKey, a.plan.Sources
	if _, err := a.plan.Schema(); err == nil || !strings.Contains(err.Error(), "add one to unique of the table") {
		t.Errorf("got %v", err)
	}
	users.Unique = append(users.Unique, &plan.Unique{Columns: []string{"id"}, Rule: plan.RuleFail, Decided: true})
	a.refer("users", "items.owner")
	a.succeeds()
	a.wants("SELECT CONCAT_WS(' ', identifier, users.id) FROM items JOIN users ON users.id = owner ORDER BY items.id", "eu b 2; us b 4")
	exec(t, a.target, "INSERT INTO users (identifier) VALUES ('new')")
	a.wants("SELECT id FROM users WHERE identifier = 'new'", "5")
}

// A statement of several rows is no longer than the server takes.
func TestLargestPacket(t *testing.T) {
	server := dbtest.MariaDB(t, "max_allowed_packet=300K")
	open := func(parameters string) *sql.DB {
		return opened(t, "mysql", server.DSN(server.CreateDatabase(t))+parameters)
	}
	for _, parameters := range []string{"", "&interpolateParams=true", "&maxAllowedPacket=0"} {
		source := open("")
		exec(t, source, "CREATE TABLE photos (id INT AUTO_INCREMENT PRIMARY KEY, photo LONGBLOB, thumbnail TEXT)")
		for range 12 {
			exec(t, source, "INSERT INTO photos (photo, thumbnail) VALUES (REPEAT('x', 100000), REPEAT('y', 15000))")
		}
		exec(t, source, "INSERT INTO photos (photo) VALUES (REPEAT('x', 250000))")
		a := newAttempt(t, sqlsnow.MySQL, open(parameters), source)
		a.succeeds()
		a.wants("SELECT CONCAT(COUNT(*), ' ', SUM(LENGTH(photo))) FROM photos", "13 1450000")
	}
}

// A row that no statement takes to the target stops the dry run, with its table, key and size, and a run.
func TestRowAboveThePacket(t *testing.T) {
	large, server := dbtest.MariaDB(t), dbtest.MariaDB(t, "max_allowed_packet=300K")
	tests := []struct {
		name, parameters, values string
		fails                    bool
	}{
		{"one value", "", "REPEAT('x', 400000), ''", true},
		{"two values", "", "REPEAT('x', 200000), REPEAT('y', 200000)", true},
		{"two values, sent one by one", "&maxAllowedPacket=0", "REPEAT('x', 200000), REPEAT('y', 90000)", false},
		{"escaped", "&interpolateParams=true", "REPEAT('''', 200000), ''", true},
		{"just fits", "", "REPEAT('x', 305000), ''", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			source, target := opened(t, "mysql", large.DSN(large.CreateDatabase(t))), opened(t, "mysql", server.DSN(server.CreateDatabase(t))+test.parameters)
			exec(t, source, "CREATE TABLE photos (id INT AUTO_INCREMENT PRIMARY KEY, photo LONGTEXT, thumbnail LONGTEXT)")
			exec(t, source, "INSERT INTO photos (photo) VALUES ('small')")
			exec(t, source, "INSERT INTO photos (photo, thumbnail) VALUES ("+test.values+")")
			a := newAttempt(t, sqlsnow.MySQL, target, source)
			if !test.fails {
				a.succeeds()
				a.wants("SELECT COUNT(*) FROM photos", "2")
				return
			}
			a.schema()
			dry, run := a.run()
			for name, err := range map[string]error{"dry run": dry, "run": run} {
				var row *report.RowError
				if !errors.As(err, &row) || row.Table != "photos" || row.Row != "[2]" || !strings.Contains(row.Error(), "max_allowed_packet of the target is 307200: raise it there") {
					t.Errorf("%s: %v", name, err)
				}
			}
			a.wants("SELECT COUNT(*) FROM photos", "0")
		})
	}
}

// References of type DOUBLE are refused, or become integers, whose values have to be whole.
func TestReferencesOfDoublePrecision(t *testing.T) {
	my, pg := dbtest.SharedMariaDB(t), dbtest.Postgres(t)
	for _, d := range []sqlsnow.Dialect{sqlsnow.MySQL, sqlsnow.Postgres} {
		t.Run(d.String(), func(t *testing.T) {
			open := func() *sql.DB { return opened(t, "mysql", my.DSN(my.CreateDatabase(t))) }
			key := "BIGINT AUTO_INCREMENT PRIMARY KEY"
			if d == sqlsnow.Postgres {
				open = func() *sql.DB { return opened(t, "pgx", pg.DSN(pg.CreateDatabase(t))) }
				key = "BIGSERIAL PRIMARY KEY"
			}
			make := func(values ...string) (sources []*sql.DB) {
				for i := range 2 {
					db := open()
					exec(t, db, "CREATE TABLE players (id "+key+", name VARCHAR(40))")
					exec(t, db, "CREATE TABLE items (id "+key+", owner DOUBLE PRECISION)")
					for _, id := range []string{"1", "1000000", "1000000000000001", "9007199254740991"} {
						exec(t, db, fmt.Sprintf("INSERT INTO players (id, name) VALUES (%s, '%s of %d')", id, id, i))
					}
					for _, value := range values {
						exec(t, db, "INSERT INTO items (owner) VALUES ("+value+")")
					}
					sources = append(sources, db)
				}
				return sources
			}
			a := newAttempt(t, d, open(), make("1")...)
			a.refer("players", "items.owner")
			if err := a.plan.Check(); err == nil || !strings.Contains(err.Error(), `column "items.owner": type "double`) || !strings.Contains(err.Error(), "type: bigint") {
				t.Errorf("got %v", err)
			}
			a = newAttempt(t, d, open(), make("1000000000000001", "NULL", "1", "9007199254740991", "1000000", "1")...)
			a.refer("players", "items.owner")
			a.column("items.owner").Type = "bigint"
			a.succeeds()
			a.wants("SELECT SUM(CASE WHEN name LIKE '1000000000000001 of %' THEN 1 END) FROM items JOIN players ON owner = players.id WHERE items.id IN (1, 7)", "2")
			a.wants("SELECT COUNT(*) FROM items JOIN players ON owner = players.id", "10")
			for _, value := range []string{"1.5", "1e30", "-1e-7"} {
				a := newAttempt(t, d, open(), make(value)...)
				a.refer("players", "items.owner")
				a.column("items.owner").Type = "bigint"
				a.fails(`items`)
			}
		})
	}
}

// A name that is a unique key of its own is refused, and the ways out that the error names lead out.
func TestNamesThatAreUnique(t *testing.T) {
	my, pg := dbtest.SharedMariaDB(t), dbtest.Postgres(t)
	for _, d := range []sqlsnow.Dialect{sqlsnow.MySQL, sqlsnow.Postgres} {
		t.Run(d.String(), func(t *testing.T) {
			open := func() *sql.DB { return opened(t, "mysql", my.DSN(my.CreateDatabase(t))) }
			key := "BIGINT AUTO_INCREMENT PRIMARY KEY"
			if d == sqlsnow.Postgres {
				open = func() *sql.DB { return opened(t, "pgx", pg.DSN(pg.CreateDatabase(t))) }
				key = "BIGSERIAL PRIMARY KEY"
			}
			var sources []*sql.DB
			for _, other := range []string{"Arwen", "Boromir"} {
				db := open()
				exec(t, db, "CREATE TABLE players (id "+key+", name VARCHAR(40) NOT NULL UNIQUE)")
				exec(t, db, "CREATE TABLE logins (id "+key+", player VARCHAR(40) NOT NULL UNIQUE)")
				for _, name := range []string{other, "Aragorn"} {
					exec(t, db, "INSERT INTO players (name) VALUES ('"+name+"')")
					exec(t, db, "INSERT INTO logins (player) VALUES ('"+name+"')")
				}
				sources = append(sources, db)
			}
			attempt := func() *attempt {
				a := newAttempt(t, d, open(), sources...)
				u := a.plan.Table("players").Unique[0]
				u.Rule, u.Decided = plan.RuleSuffix, true
				c := a.column("logins.player")
				c.Role, c.Refers = plan.RoleName, []*plan.Reference{{Table: "players", Path: "name"}}
				return a
			}
			a := attempt()
			if err := a.plan.Check(); err == nil || !strings.Contains(err.Error(), `Leave the key out of unique (or primary_key) of table "logins", and make it by a statement of after`) {
				t.Errorf("got %v", err)
			}
			const names = "SELECT player FROM logins JOIN players ON name = player ORDER BY player"
			a.plan.Table("logins").Unique, a.plan.After = nil, []string{"ALTER TABLE logins ADD UNIQUE (player)"}
			a.succeeds()
			a.wants(names, "Aragorn; Aragorn_s2; Arwen; Boromir")
			if _, err := a.target.ExecContext(t.Context(), "INSERT INTO logins (id, player) VALUES (99, 'Arwen')"); err == nil {
				t.Error("the key is not made")
			}
			a = attempt()
			c := a.column("logins.player")
			c.Role, c.Refers, c.Decided = plan.RolePlain, nil, true
			u := a.plan.Table("logins").Unique[0]
			u.Rule, u.Decided = plan.RuleSuffix, true
			a.succeeds()
			a.wants(names, "Aragorn; Aragorn_s2; Arwen; Boromir")
		})
	}
}

// What schemas of PostgreSQL have.
func TestSchemasOfPostgreSQL(t *testing.T) {
	onPostgres(t, map[string]func(*testing.T, func() *sql.DB){
		"Extensions":        testExtensions,
		"KeyOfPartitions":   testKeyOfPartitions,
		"CircleWithoutNull": testCircleWithoutNull,
		"PolymorphicByID":   testPolymorphicByID,
		"Notes":             testNotes,
	})
}

// What a schema of PostgreSQL has that a merge treats in another way is in a note, or stops a dry run and a run.
func testNotes(t *testing.T, create func() *sql.DB) {
	open := func() *sql.DB {
		db := create()
		exec(t, db, "CREATE EXTENSION btree_gist")
		return db
	}
	schema := []string{
		"CREATE SEQUENCE things",
		"CREATE TABLE swords (id BIGINT PRIMARY KEY DEFAULT nextval('things'), name TEXT)",
		"CREATE TABLE shields (id BIGINT PRIMARY KEY DEFAULT nextval('things'), name TEXT)",
		"CREATE TABLE homes (id SERIAL PRIMARY KEY, owner TEXT, gone BOOLEAN NOT NULL)", "CREATE UNIQUE INDEX one_home ON homes (owner) WHERE NOT gone",
		"CREATE TABLE stays (id SERIAL PRIMARY KEY, room TEXT, nights INT4RANGE, CONSTRAINT once EXCLUDE USING gist (room WITH =, nights WITH &&))",
	}
	source, other := open(), open()
	for _, text := range schema {
		exec(t, source, text)
		exec(t, other, text)
	}
	for _, db := range []*sql.DB{source, other} {
		exec(t, db, "INSERT INTO swords (name) VALUES ('a'); INSERT INTO shields (name) VALUES ('b'); INSERT INTO homes (owner, gone) VALUES ('a', true), ('a', true), ('b', false)")
		exec(t, db, "INSERT INTO stays (room, nights) VALUES ('x', '[1,3)')")
	}
	a := newAttempt(t, sqlsnow.Postgres, open(), source, other)
	for _, want := range []string{
		"swords: column id: sequence things numbers shields.id too", "shields: column id: sequence things numbers swords.id too",
		"homes: unique index one_home is not on columns alone", "stays: exclusion constraint once: EXCLUDE USING gist (room WITH =, nights WITH &&)",
	} {
		if !strings.Contains(a.notes(), want) {
			t.Errorf("the notes lack %q: %s", want, a.notes())
		}
	}
	a.schema()
	exec(t, a.target, "ALTER TABLE stays ADD CONSTRAINT once EXCLUDE USING gist (room WITH =, nights WITH &&)")
	dry, run := a.run()
	for _, want := range []string{"23505", "23P01"} {
		if dry == nil || !strings.Contains(dry.Error(), want) {
			t.Errorf("the dry run lacks %q: %v", want, dry)
		}
	}
	if run == nil {
		t.Error("the run succeeds")
	}
}

// The primary key of a partitioned table has the column that it is partitioned by, and the target's need not.
func testKeyOfPartitions(t *testing.T, open func() *sql.DB) {
	var sources []*sql.DB
	for range 2 {
		db := open()
		exec(t, db, "CREATE TABLE mails (id SERIAL, day INT, PRIMARY KEY (id, day)) PARTITION BY RANGE (day); CREATE TABLE mails_1 PARTITION OF mails FOR VALUES FROM (1) TO (10)")
		exec(t, db, "CREATE TABLE files (id SERIAL PRIMARY KEY, mail INT); INSERT INTO mails (day) VALUES (1), (2); INSERT INTO files (mail) VALUES (2)")
		sources = append(sources, db)
	}
	a := newAttempt(t, sqlsnow.Postgres, open(), sources...)
	if want := "mails: partitioned: Schema makes a table without partitions"; !strings.Contains(a.notes(), want) {
		t.Errorf("the notes lack %q: %s", want, a.notes())
	}
	mails := a.plan.Table("mails")
	mails.PrimaryKey, mails.Unique, mails.NewIDs = []string{"id"}, nil, a.plan.Sources
	a.column("mails.id").Role = plan.RoleKey
	a.refer("mails", "files.mail")
	a.succeeds()
	a.wants("SELECT concat(mails.id, ' ', day) FROM files JOIN mails ON mails.id = mail ORDER BY files.id", "2 2; 4 2")
}

// Numbers that are counted by type clash, and both a dry run and a run say so.
func TestNumbersByType(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	open := func() *sql.DB { return opened(t, "mysql", server.DSN(server.CreateDatabase(t))) }
	var sources []*sql.DB
	for range 2 {
		db := open()
		exec(t, db, "CREATE TABLE trans (type INT, trans_no INT, amount INT, PRIMARY KEY (type, trans_no))")
		exec(t, db, "INSERT INTO trans VALUES (1, 1, 5), (1, 2, 6), (2, 1, 7)")
		sources = append(sources, db)
	}
	newAttempt(t, sqlsnow.MySQL, open(), sources...).fails("trans_no")
}

// Foreign keys that form a circle without NULL stop a merge before it begins, or are not checked.
func testCircleWithoutNull(t *testing.T, open func() *sql.DB) {
	var sources []*sql.DB
	for range 2 {
		db := open()
		exec(t, db, "CREATE TABLE teams (id SERIAL PRIMARY KEY, leader INT NOT NULL); CREATE TABLE chars (id SERIAL PRIMARY KEY, team INT NOT NULL REFERENCES teams)")
		exec(t, db, "ALTER TABLE teams ADD FOREIGN KEY (leader) REFERENCES chars DEFERRABLE INITIALLY DEFERRED")
		exec(t, db, "BEGIN; INSERT INTO teams (leader) VALUES (2); INSERT INTO chars (team) VALUES (1), (1); COMMIT")
		sources = append(sources, db)
	}
	a := newAttempt(t, sqlsnow.Postgres, open(), sources...)
	if want := "teams: constraint teams_leader_fkey: Schema makes an ordinary one of FOREIGN KEY (leader) REFERENCES chars(id) DEFERRABLE"; !strings.Contains(a.notes(), want) {
		t.Errorf("the notes lack %q: %s", want, a.notes())
	}
	if _, err := merge.New(a.dialect, a.target, a.sources, a.plan, merge.Config{}); err == nil || !strings.Contains(err.Error(), "WithoutForeignKeys") {
		t.Errorf("got %v", err)
	}
	a.schema()
	m, err := merge.New(a.dialect, a.target, a.sources, a.plan, merge.Config{WithoutForeignKeys: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.wants("SELECT concat(t.id, ' ', leader, ' ', c.team) FROM teams t JOIN chars c ON c.id = leader ORDER BY t.id", "1 2 1; 2 4 2")
}

// A column may be polymorphic by the id of a row of another table, if those ids are the same everywhere.
func testPolymorphicByID(t *testing.T, open func() *sql.DB) {
	source := func(types string) *sql.DB {
		db := open()
		exec(t, db, "CREATE TABLE content_type (id SERIAL PRIMARY KEY, model TEXT UNIQUE); CREATE TABLE users (id SERIAL PRIMARY KEY); CREATE TABLE pages (id SERIAL PRIMARY KEY)")
		exec(t, db, "CREATE TABLE tags (id SERIAL PRIMARY KEY, content_type_id INT NOT NULL REFERENCES content_type, object_id INT NOT NULL)")
		exec(t, db, "INSERT INTO content_type VALUES "+types+"; INSERT INTO users VALUES (1), (2); INSERT INTO pages VALUES (2), (3); INSERT INTO tags (content_type_id, object_id) VALUES (1, 2), (2, 3)")
		return db
	}
	decided := func(sources ...*sql.DB) *attempt {
		a := newAttempt(t, sqlsnow.Postgres, open(), sources...)
		c := a.column("tags.object_id")
		c.Role, c.By, c.Refers = plan.RolePolymorphic, "content_type_id", []*plan.Reference{{Value: "1", Table: "users"}, {Value: "2", Table: "pages"}}
		return a
	}
	a := decided(source("(1, 'user'), (2, 'page')"), source("(1, 'user'), (2, 'page'), (3, 'post')"))
	if _, err := a.plan.Schema(); err == nil || !strings.Contains(err.Error(), "equal ids in all sources") {
		t.Errorf("got %v", err)
	}
	equal := func(a *attempt) {
		for _, name := range []string{"content_type.id", "tags.content_type_id"} {
			c := a.column(name)
			c.Role, c.Refers = plan.RolePlain, nil
		}
		types := a.plan.Table("content_type")
		types.NewIDs, types.Unique = nil, append(types.Unique, &plan.Unique{Columns: []string{"id"}, Decided: true})
		for _, u := range types.Unique {
			u.Rule = plan.RuleMatch
		}
	}
	equal(a)
	a.succeeds()
	a.wants("SELECT concat(content_type_id, ' ', object_id) FROM tags ORDER BY id", "1 2; 2 2; 1 4; 2 4")
	a.wants("SELECT model FROM content_type ORDER BY id", "user; page; post")
	a = decided(source("(1, 'user'), (2, 'page')"), source("(1, 'page'), (2, 'user')"))
	equal(a)
	a.schema()
	dry, run := a.run()
	for what, err := range map[string]error{"dry run": dry, "run": run} {
		if err == nil {
			t.Errorf("%s: it succeeds", what)
		}
	}
	a.wants("SELECT count(*)::text FROM tags", "0")
}

// The extensions that columns, defaults and indexes of sources need are made with the target's tables, or named by the dry
// run. What only a check or a view needs is not.
func testExtensions(t *testing.T, open func() *sql.DB) {
	source, other := open(), open()
	for _, db := range []*sql.DB{source, other} {
		for _, text := range []string{
			"CREATE SCHEMA extra", "CREATE EXTENSION pg_trgm", "CREATE EXTENSION btree_gist", "CREATE EXTENSION hstore", "CREATE EXTENSION ltree", "CREATE EXTENSION citext WITH SCHEMA extra",
			"CREATE EXTENSION \"uuid-ossp\"", "CREATE EXTENSION cube",
			"CREATE TABLE pages (id SERIAL PRIMARY KEY, name TEXT, tags HSTORE[], made UUID DEFAULT uuid_generate_v4(), who extra.CITEXT UNIQUE)",
			"CREATE INDEX of_name ON pages USING gin (name gin_trgm_ops)", "CREATE INDEX of_both ON pages USING gist (id, name gist_trgm_ops)", "CREATE INDEX of_path ON pages ((name::ltree))",
			"CREATE VIEW cubes AS SELECT cube(id, id) FROM pages",
		} {
			exec(t, db, text)
		}
		exec(t, db, "INSERT INTO pages (name, tags, who) VALUES ('a', ARRAY['a=>1'::hstore], "+map[*sql.DB]string{source: "'A'", other: "'B'"}[db]+")")
	}
	target := open()
	exec(t, target, "CREATE SCHEMA extra")
	a := newAttempt(t, sqlsnow.Postgres, target, source, other)
	dry, run := a.run()
	for name, err := range map[string]error{"dry run": dry, "run": run} {
		for _, want := range []string{`the target lacks the extension "pg_trgm"`, "CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA extra", `lacks the extension "uuid-ossp"`} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
		}
	}
	a.succeeds()
	a.wants("SELECT string_agg(extname, ' ' ORDER BY extname) FROM pg_extension WHERE extname <> 'plpgsql'", "btree_gist citext hstore ltree pg_trgm uuid-ossp")
	a.wants("SELECT string_agg(who || name, ' ' ORDER BY who) FROM pages", "Aa Ba")
	a.wants("SELECT string_agg(indexname, ' ' ORDER BY indexname) FROM pg_indexes WHERE tablename = 'pages' AND indexname LIKE 'of%'", "of_both of_name of_path")
}
