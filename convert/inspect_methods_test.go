//go:build unix

package convert_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/convert"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// Each table changes by the method that its schema allows, and the plan says why it is not online.
func TestMethodsMySQL(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	other := open(t, "mysql", server)
	var elsewhere string
	if err := other.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&elsewhere); err != nil {
		t.Fatal(err)
	}
	const users = "CREATE TABLE users (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, code CHAR(4) NOT NULL, UNIQUE KEY (code))"
	for _, test := range []struct {
		name       string
		statements []string
		after      []string // in the other database
		want       string   // of each table: its name, method, group and why
		note       string
	}{
		{"a table", []string{users}, nil, "users online 1", ""},
		{"of gorm.Model", []string{"CREATE TABLE users (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY)"}, nil, "users none 0", ""},
		{"a trigger", []string{users, "CREATE TRIGGER mine BEFORE UPDATE ON users FOR EACH ROW SET NEW.code = UPPER(NEW.code)"}, nil, "users alter 1 it has triggers of its own: mine", ""},
		{"no primary key", []string{"CREATE TABLE logs (n INT NOT NULL AUTO_INCREMENT, KEY (n))"}, nil, "logs alter 1 it has no primary key", ""},
		{"another engine", []string{"CREATE TABLE logs (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM"}, nil, "logs alter 1 its engine is MyISAM", ""},
		{"a child that does not change", []string{users, "CREATE TABLE tags (code CHAR(4) NOT NULL PRIMARY KEY, FOREIGN KEY (code) REFERENCES users (code))"}, nil, "users alter 1 tags refers to it and does not change", ""},
		{"a child that changes, by another key", []string{users, "CREATE TABLE tags (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, code CHAR(4) NOT NULL, FOREIGN KEY (code) REFERENCES users (code))"}, nil, "users online 1, tags online 1", ""},
		{
			"a group with a trigger",
			[]string{
				users, "CREATE TABLE orders (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, user_id INT NOT NULL, FOREIGN KEY (user_id) REFERENCES users (id))",
				"CREATE TABLE items (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, order_id INT NOT NULL, FOREIGN KEY (order_id) REFERENCES orders (id))",
				"CREATE TRIGGER mine BEFORE UPDATE ON items FOR EACH ROW SET NEW.order_id = NEW.order_id",
			},
			nil,
			"users alter 1 foreign keys connect it with items, orders alter 1 foreign keys connect it with items, items alter 1 it has triggers of its own: mine", "",
		},
		{"itself", []string{"CREATE TABLE tree (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, up INT NULL, FOREIGN KEY (up) REFERENCES tree (id))"}, nil, "tree online 1", ""},
		{"a circle", []string{
			"CREATE TABLE a (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, b INT NULL)", "CREATE TABLE b (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT NULL, FOREIGN KEY (a) REFERENCES a (id))",
			"ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b (id)",
		}, nil, "b online 1, a online 1", "foreign keys form a circle: b, a"},
		{"children of children", []string{
			"CREATE TABLE a (b INT NOT NULL PRIMARY KEY)", "CREATE TABLE b (c INT NOT NULL PRIMARY KEY)", "CREATE TABLE c (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY)",
			"ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b (c)", "ALTER TABLE b ADD FOREIGN KEY (c) REFERENCES c (id)",
		}, nil, "c online 1, b online 1, a online 1", ""},
		{"two groups", []string{users, "CREATE TABLE words (id MEDIUMINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY)"}, nil, "users online 1, words online 2", ""},
		{
			"a key in another database",
			[]string{"CREATE TABLE users (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY)"},
			[]string{"CREATE TABLE guests (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, user_id BIGINT NOT NULL, FOREIGN KEY (user_id) REFERENCES `{database}`.users (id))"},
			"users none 0", "",
		},
		{
			"a narrow key with a reference from another database",
			[]string{users},
			[]string{"CREATE TABLE guests (user_id INT NOT NULL PRIMARY KEY, FOREIGN KEY (user_id) REFERENCES `{database}`.users (id))"},
			"users none 0", "by hand: users.id is too narrow for snow ids, and not changed by itself: it is referred to from " + elsewhere + ".guests",
		},
		{"not counted, and short", []string{"CREATE TABLE codes (id SMALLINT NOT NULL PRIMARY KEY)"}, nil, "", ""},
		{"a text with ids", []string{
			users, "CREATE TABLE mails (mail INT NOT NULL AUTO_INCREMENT PRIMARY KEY, user_id VARCHAR(10) NOT NULL)", "INSERT INTO users (code) WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT CONCAT('c', i) FROM n",
			"INSERT INTO mails (user_id) SELECT a.id FROM users a JOIN users b WHERE b.id < 3",
		}, nil, "mails online 1, users online 2", "by hand: mails.user_id is varchar(10), and looks like a reference to users: snow ids have 19 digits"},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := open(t, "mysql", server, test.statements...)
			var name string
			if err := db.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&name); err != nil {
				t.Fatal(err)
			}
			for _, statement := range test.after {
				exec(t, other, strings.ReplaceAll(statement, "{database}", name))
			}
			p, err := convert.Inspect(t.Context(), sqlsnow.MySQL, db, convert.InspectConfig{})
			if err != nil {
				t.Fatal(err)
			}
			methods(t, p, test.want, test.note)
			if len(test.after) > 0 {
				if guarded := slices.Contains(p.Guards, elsewhere+".guests"); guarded != strings.Contains(test.after[0], "AUTO_INCREMENT") {
					t.Errorf("guards are %q", p.Guards)
				}
				exec(t, other, "DROP TABLE guests")
			}
		})
	}
}

// A key that programs do not see stays counted, and so do tables that keep old versions of rows.
func TestNoKeys(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	db := open(t, "mysql", server, "CREATE TABLE users (name VARCHAR(20), my_row_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY)")
	exec(t, db, "CREATE TABLE given (id SMALLINT NOT NULL PRIMARY KEY, number INT NOT NULL AUTO_INCREMENT UNIQUE)")
	if strings.HasPrefix(server.Product(t), "MariaDB ") {
		exec(t, db, "CREATE TABLE prices (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, price INT NOT NULL) WITH SYSTEM VERSIONING")
	}
	p, err := convert.Inspect(t.Context(), sqlsnow.MySQL, db, convert.InspectConfig{DeclaredOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.Table("users") == nil {
		t.Error("users are not in the plan")
	}
	for _, table := range p.Tables {
		if table.Key != "" || table.Counter != "auto_increment" || len(table.Columns) > 0 {
			t.Errorf("got %+v, want a table that is counted as before", table)
		}
	}
}

func TestMethodsPostgres(t *testing.T) {
	server := dbtest.Postgres(t)
	for _, test := range []struct {
		name       string
		statements []string
		want, note string
	}{
		{"small", []string{"CREATE TABLE users (id serial PRIMARY KEY)"}, "users alter 1 it is small", ""},
		{"large", []string{"CREATE TABLE users (id serial PRIMARY KEY, name text)", "ALTER TABLE users ALTER name SET STORAGE EXTERNAL", "INSERT INTO users (name) SELECT repeat('x', 8000000) FROM generate_series(1, 3)", "ANALYZE"}, "users online 1", "disk: up to "},
		{"large, and something that does not go online", []string{
			"CREATE TABLE users (id serial PRIMARY KEY, name text, twice int GENERATED ALWAYS AS (id * 2) STORED)", "ALTER TABLE users ALTER name SET STORAGE EXTERNAL",
			"INSERT INTO users (name) SELECT repeat('x', 8000000) FROM generate_series(1, 3)", "ANALYZE",
		}, "users alter 1 column twice: it is computed from a column that changes, and would be computed anew for all rows under the lock", ""},
		{
			"what can't change",
			[]string{"CREATE TABLE users (id serial PRIMARY KEY)", "CREATE FUNCTION highest() RETURNS int BEGIN ATOMIC SELECT max(id) FROM users; END"},
			"users alter 1 it is small", "by hand, before anything: table users can't change: function highest() uses a column that changes",
		},
		{"wide, with a narrow reference", []string{"CREATE TABLE users (id bigserial PRIMARY KEY)", "CREATE TABLE orders (id bigserial PRIMARY KEY, user_id int REFERENCES users (id))"}, "users none 0, orders alter 1 it is small", ""},
		{"no primary key", []string{"CREATE TABLE logs (n serial)"}, "logs alter 1 it has no primary key", ""},
		{"partitions by the key", []string{"CREATE TABLE parts (id serial PRIMARY KEY) PARTITION BY HASH (id)"}, "parts none 0", "by hand: parts.id is too narrow for snow ids, and not changed by itself: the table is partitioned by it"},
		{"partitions by another column", []string{"CREATE TABLE parts (id serial, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day)"}, "parts alter 1 it is partitioned", ""},
		{"heirs", []string{"CREATE TABLE things (id serial PRIMARY KEY)", "CREATE TABLE cars (wheels int) INHERITS (things)"}, "cars none 0, things alter 1 tables inherit from it: cars", "by hand: cars.id is too narrow for snow ids, and not changed by itself: the table inherits from things"},
		{"a domain", []string{"CREATE DOMAIN user_no AS integer", "CREATE SEQUENCE seq", "CREATE TABLE users (id user_no PRIMARY KEY DEFAULT nextval('seq'))"}, "users none 0", "by hand: users.id is too narrow for snow ids, and not changed by itself: it is of domain user_no"},
		{"two counters", []string{"CREATE TABLE users (number serial, id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY)"}, "users alter 1 it is small", "users.number is counted by the database, too (serial)"},
		{"a counter beside a key that is not counted", []string{"CREATE TABLE users (id bigint PRIMARY KEY, number serial)"}, "", ""},
		{"a counter beside a key of another type", []string{"CREATE TABLE users (name text PRIMARY KEY, number serial UNIQUE)"}, "users alter 1 it is small", ""},
		{"another schema", []string{
			"CREATE TABLE users (id serial PRIMARY KEY)", "CREATE SCHEMA elsewhere", "CREATE TABLE elsewhere.guests (user_id int REFERENCES users (id))",
		}, "users none 0", "by hand: users.id is too narrow for snow ids, and not changed by itself: it is referred to from elsewhere.guests"},
		{"a publication", []string{"CREATE TABLE users (id serial PRIMARY KEY)", "CREATE PUBLICATION everything FOR ALL TABLES"}, "users alter 1 it is small", "by hand: publication everything"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := convert.Inspect(t.Context(), sqlsnow.Postgres, open(t, "pgx", server, test.statements...), convert.InspectConfig{})
			if err != nil {
				t.Fatal(err)
			}
			methods(t, p, test.want, test.note)
		})
	}
}

// methods compares the tables of a plan, and looks for a note.
func methods(t *testing.T, p *plan.Plan, want, note string) {
	t.Helper()
	var got []string
	for _, table := range p.Tables {
		line := table.Name + " " + string(table.Method) + " " + string(rune('0'+table.Group))
		if table.Why != "" {
			line += " " + table.Why
		}
		got = append(got, line)
	}
	if strings.Join(got, ", ") != want {
		t.Errorf("got %q\nwant %q", strings.Join(got, ", "), want)
	}
	if note != "" && !slices.ContainsFunc(p.Notes, func(line string) bool { return strings.HasPrefix(line, note) }) {
		t.Errorf("got notes %q, want %q", p.Notes, note)
	}
	p.Accept(0)
	if err := p.Check(); err != nil && len(p.Tables) > 0 {
		t.Error(err)
	}
}
