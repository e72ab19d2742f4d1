//go:build unix

package audit_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/cmd/snow/internal/audit"
	"github.com/shardsnow/snow/sqlsnow"
)

// heal executes the statements of the first finding that has some, and audits again, until there are none.
func (p product) heal(t *testing.T, cfg audit.Config) (left []audit.Finding) {
	t.Helper()
	conn, err := p.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	done := map[string]bool{}
	for {
		left, _ = p.audit(t, cfg)
		i := slices.IndexFunc(left, func(f audit.Finding) bool { return len(f.Statements) > 0 })
		if i < 0 {
			return left
		}
		f := left[i]
		if id := f.Table + "." + f.Column + f.Problem; done[id] {
			t.Fatalf("%+v is found again", f)
		} else {
			done[id] = true
		}
		for _, s := range f.Statements {
			if _, err := conn.ExecContext(t.Context(), s); err != nil {
				t.Fatalf("%s.%s: %s: %v; all: %q", f.Table, f.Column, s, err, f.Statements)
			}
		}
	}
}

// value returns the first column of the first row of a query.
func (p product) value(t *testing.T, query string, column int) string {
	t.Helper()
	rows, err := p.db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		t.Fatalf("%s: no row: %v, %v", query, err, rows.Err())
	}
	values := make([]any, len(names))
	for i := range values {
		values[i] = new(sql.NullString)
	}
	if err := rows.Scan(values...); err != nil {
		t.Fatal(err)
	}
	return values[column].(*sql.NullString).String
}

// shows checks that a text has some parts and others not, which begin with "no ".
func shows(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if without, no := strings.CutPrefix(part, "no "); strings.Contains(text, without) == no {
			t.Errorf("%q in %s", part, text)
		}
	}
}

// TestRemedies executes what the audit proposes, as it is written.
func TestRemedies(t *testing.T) {
	each(t, func(t *testing.T, p product) {
		switch p.dialect {
		case sqlsnow.MySQL:
			p.mysqlRemedies(t)
		case sqlsnow.Postgres:
			p.postgresRemedies(t)
		default:
			p.sqliteRemedies(t)
		}
	})
}

func (p product) mysqlRemedies(t *testing.T) {
	p.exec(t,
		"CREATE TABLE users (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'it''s an AUTO_INCREMENT', `odd ``name` INT NULL)",
		`CREATE TABLE posts (id INT AUTO_INCREMENT PRIMARY KEY, user_id INT UNSIGNED NOT NULL, editor_id INT UNSIGNED NULL, parent INT NULL,
			CONSTRAINT writer FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
			CONSTRAINT editor FOREIGN KEY (editor_id) REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
			CONSTRAINT thread FOREIGN KEY (parent) REFERENCES posts (id))`,
		"CREATE TABLE shops (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY)",
		"CREATE TABLE goods (id BIGINT PRIMARY KEY, shop_id BIGINT UNSIGNED, CONSTRAINT sold FOREIGN KEY (shop_id) REFERENCES shops (id))",
		"CREATE TABLE notes (id BIGINT PRIMARY KEY, user_id VARCHAR(30) CHARACTER SET latin1 COLLATE latin1_bin NOT NULL DEFAULT '0' COMMENT 'whose')",
		"CREATE TABLE zeros (id SMALLINT(6) UNSIGNED ZEROFILL AUTO_INCREMENT PRIMARY KEY)",
		"CREATE TABLE `or``der` (id MEDIUMINT AUTO_INCREMENT PRIMARY KEY)",
		"INSERT INTO users VALUES (4000000000, 1)", "INSERT INTO posts VALUES (1, 4000000000, 4000000000, NULL), (2, 4000000000, NULL, 1)",
		"INSERT INTO shops VALUES (1)", "INSERT INTO goods VALUES (1, 1)", "INSERT INTO notes VALUES (1, '4000000000')",
	)
	maria := p.isMaria(t)
	if maria {
		p.exec(t, "CREATE SEQUENCE short MAXVALUE 1000 NOCACHE", "CREATE TABLE seqs (id BIGINT DEFAULT NEXTVAL(short) PRIMARY KEY COMMENT 's')", "SELECT SETVAL(short, 998)", "INSERT INTO seqs VALUES ()",
			"CREATE TABLE kept (id INT AUTO_INCREMENT PRIMARY KEY) WITH SYSTEM VERSIONING")
	}
	first, _ := p.audit(t, audit.Config{})
	at := slices.IndexFunc(first, func(f audit.Finding) bool { return f.Table == "users" })
	if at < 0 || !slices.ContainsFunc(first[at].Statements, func(s string) bool { return strings.Contains(s, "AUTO_INCREMENT COMMENT") }) {
		t.Errorf("a counter that ends where programs make no ids is turned off: %+v", first)
	}
	want(t, p.heal(t, audit.Config{}))
	for table, parts := range map[string][]string{
		"users": {"`id` bigint", "unsigned NOT NULL COMMENT 'it''s an AUTO_INCREMENT'"},
		"posts": {
			"no `id` int", "no  AUTO_INCREMENT", "FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE",
			"FOREIGN KEY (`editor_id`) REFERENCES `users` (`id`) ON DELETE SET NULL ON UPDATE CASCADE", "CONSTRAINT `thread` FOREIGN KEY (`parent`) REFERENCES `posts` (`id`)",
		},
		"shops": {"unsigned", "no AUTO_INCREMENT"},
		"goods": {"unsigned", "CONSTRAINT `sold`"},
		"notes": {"`user_id` bigint", "NOT NULL DEFAULT", "COMMENT 'whose'"},
		"zeros": {"unsigned zerofill", "no AUTO_INCREMENT"},
	} {
		shows(t, p.value(t, "SHOW CREATE TABLE "+table, 1), parts...)
	}
	if got := p.value(t, "SELECT COUNT(*) FROM posts p JOIN users u ON u.id = p.user_id JOIN notes n ON n.user_id = u.id", 0); got != "2" {
		t.Errorf("%s rows are left", got)
	}
	if maria {
		shows(t, p.value(t, "SHOW CREATE TABLE seqs", 1), "no nextval", "COMMENT 's'")
		shows(t, p.value(t, "SHOW CREATE SEQUENCE short", 1), "maxvalue 9223372036854775806")
	}
}

func (p product) postgresRemedies(t *testing.T) {
	p.exec(t,
		`CREATE TABLE "Users" (id SERIAL PRIMARY KEY, "odd ""name" INT)`, `SELECT setval('"Users_id_seq"', 2000000000)`,
		`CREATE TABLE posts (id INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id INT NOT NULL REFERENCES "Users" (id) ON DELETE CASCADE, parent INT REFERENCES posts)`, "SELECT setval('posts_id_seq', 2000000000)",
		"CREATE TABLE seen (id BIGINT PRIMARY KEY, user_id SMALLINT)", "CREATE TABLE notes (id BIGINT PRIMARY KEY, user_id TEXT NOT NULL DEFAULT '0')",
		"CREATE SEQUENCE short MAXVALUE 1000", "CREATE TABLE shorts (id BIGINT DEFAULT nextval('short') PRIMARY KEY)", "SELECT setval('short', 999)",
		"CREATE SEQUENCE alone AS smallint", "SELECT setval('alone', 32767)",
		"CREATE SCHEMA far", "CREATE TABLE far.things (id SMALLSERIAL PRIMARY KEY)", "SELECT setval('far.things_id_seq', 32767)",
		"CREATE TABLE watched (id SERIAL PRIMARY KEY)", "CREATE VIEW watch AS SELECT id FROM watched",
		`INSERT INTO "Users" (id) VALUES (1)`, "INSERT INTO posts (user_id) VALUES (1)", "INSERT INTO notes VALUES (1, '1')",
	)
	first, _ := p.audit(t, audit.Config{})
	if i := slices.IndexFunc(first, func(f audit.Finding) bool { return f.Table == "seen" }); i < 0 || first[i].Severity != audit.Error || !strings.Contains(first[i].Problem, `it ends before the numbers of Users.id`) {
		t.Errorf("a reference that ends before its key is not found: %+v", first)
	}
	want(t, p.heal(t, audit.Config{}), "warning watched.id: of 32 bits")
	left, _ := p.audit(t, audit.Config{})
	shows(t, left[0].Remedy, "watched.id: the view watch uses the column")
	for _, column := range []string{`"Users".id`, "posts.id", "posts.user_id", "posts.parent", "seen.user_id", "notes.user_id", "far.things.id", "shorts.id"} {
		at := strings.LastIndexByte(column, '.')
		if got := p.value(t, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '"+column[:at]+"'::regclass AND attname = '"+column[at+1:]+"'", 0); got != "bigint" {
			t.Errorf("%s is %s", column, got)
		}
	}
	p.exec(t, "SELECT nextval('short'), nextval('short'), nextval('alone'), nextval('far.things_id_seq')")
}

func (p product) sqliteRemedies(t *testing.T) {
	p.exec(t,
		`CREATE TABLE "us ers" ("id" integer NOT NULL primary key ON CONFLICT REPLACE AUTOINCREMENT, name TEXT DEFAULT 'AUTOINCREMENT', twice INT AS (id * 2))`,
		`CREATE INDEX named ON "us ers" (name)`, `CREATE TRIGGER renamed AFTER UPDATE ON "us ers" BEGIN SELECT 1; END`, `CREATE VIEW watch AS SELECT id FROM "us ers"`,
		`CREATE TABLE posts (id BIGINT PRIMARY KEY, "boss" INT REFERENCES "us ers" (id) ON DELETE CASCADE, [post_id] varchar(30))`,
		`INSERT INTO "us ers" (id, name) VALUES (7, 'ann')`, "INSERT INTO posts VALUES (1, 7, '1'), (2, 7, NULL)",
		"CREATE TABLE people (id INTEGER PRIMARY KEY)", "CREATE TABLE calls (id INTEGER PRIMARY KEY, person_id VARCHAR(30) NOT NULL DEFAULT '0', CHECK (person_id <> 'x'))", "INSERT INTO calls VALUES (1, '12')",
	)
	want(t, p.heal(t, audit.Config{}))
	shows(t, p.value(t, `SELECT sql FROM sqlite_master WHERE name = 'us ers'`, 0), `"id" BIGINT NOT NULL NOT NULL primary key ON CONFLICT REPLACE,`, "DEFAULT 'AUTOINCREMENT'", "no INTEGER")
	for query, wanted := range map[string]string{
		"SELECT COUNT(*) FROM posts p JOIN watch w ON w.id = p.boss": "2",
		"SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE tbl_name = 'us ers' AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY name)": "named,renamed",
		"SELECT typeof(person_id) FROM calls":                    "integer",
		"SELECT \"table\" FROM pragma_foreign_key_list('posts')": "us ers",
	} {
		if got := p.value(t, query, 0); got != wanted {
			t.Errorf("%s: %s, want %s", query, got, wanted)
		}
	}
	if got := p.value(t, `SELECT COUNT(*) FROM pragma_foreign_key_check`, 0); got != "0" {
		t.Errorf("%s references lead nowhere", got)
	}
}
