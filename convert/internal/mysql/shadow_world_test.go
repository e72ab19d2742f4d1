//go:build unix

package mysql

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// shop has each kind of foreign key: with actions, to itself, in a circle, of several columns, to a unique key. MySQL
// 9.7 carries no change through circles of the tables and of the wider ones in one statement (error 6575), so it has
// none.
func shop(mariaDB bool) []string {
	schema := []string{
		`CREATE TABLE departments (id INT UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(40) NOT NULL DEFAULT 'a ''b'' (c)' COMMENT 'int, it''s', head_id INT UNSIGNED NULL,
			PRIMARY KEY (id)) ENGINE=InnoDB COMMENT='of a circle' DEFAULT CHARSET=utf8mb4`,
		`CREATE TABLE users (id INT UNSIGNED NOT NULL AUTO_INCREMENT, email VARCHAR(100) NOT NULL, manager_id INT UNSIGNED NULL, department_id INT UNSIGNED NULL, code CHAR(8) NULL,
			born DATE NULL, seen TIMESTAMP(3) NULL, flags BIT(5) NULL, ratio DOUBLE NULL, share FLOAT NULL, photo VARBINARY(20) NULL, extra JSON NULL,
			old_name VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_german2_ci NULL, place POINT NULL, kind ENUM('a','b') NULL, kinds SET('x','y') NULL,
			points INT UNSIGNED NULL, half INT UNSIGNED GENERATED ALWAYS AS (points DIV 2) VIRTUAL, loud VARCHAR(100) GENERATED ALWAYS AS (UPPER(email)) STORED, hidden INT NULL INVISIBLE,
			PRIMARY KEY (id), UNIQUE KEY by_email (email), UNIQUE KEY by_code (code), KEY manager (manager_id), KEY of_department (department_id), KEY loudly (loud(10)),
			CONSTRAINT users_of_department FOREIGN KEY (department_id) REFERENCES departments (id) ON DELETE SET NULL ON UPDATE CASCADE,
			FOREIGN KEY (manager_id) REFERENCES users (id) ON DELETE SET NULL) ENGINE=InnoDB AUTO_INCREMENT=1000 DEFAULT CHARSET=utf8mb4 ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8`,
		`ALTER TABLE departments ADD KEY head (head_id), ADD CONSTRAINT head_of FOREIGN KEY (head_id) REFERENCES users (id) ON DELETE SET NULL ON UPDATE SET NULL`,
		`CREATE TABLE profiles (user_id INT UNSIGNED NOT NULL, bio TEXT NULL, user_code CHAR(8) NULL, PRIMARY KEY (user_id), KEY coded (user_code),
			CONSTRAINT coded FOREIGN KEY (user_code) REFERENCES users (code) ON DELETE SET NULL ON UPDATE CASCADE,
			CONSTRAINT profile_of FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB`,
		`CREATE TABLE orders (id INT NOT NULL AUTO_INCREMENT, user_id INT UNSIGNED NOT NULL, number VARCHAR(30) NOT NULL, total DECIMAL(10,2) NOT NULL DEFAULT 0, user_code CHAR(8) NULL,
			PRIMARY KEY (id), UNIQUE KEY number (number), KEY of_user (user_id), CHECK (total >= -1000000),
			CONSTRAINT order_of FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB`,
		`CREATE TABLE order_lines (order_id INT NOT NULL, line SMALLINT NOT NULL, what VARCHAR(50) NOT NULL,
			PRIMARY KEY (order_id, line), CONSTRAINT line_of FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB`,
		`CREATE TABLE notes (id INT NOT NULL AUTO_INCREMENT, order_id INT NULL, line SMALLINT NULL, text VARCHAR(50) NOT NULL, PRIMARY KEY (id), KEY noted (order_id, line),
			CONSTRAINT note_of FOREIGN KEY (order_id, line) REFERENCES order_lines (order_id, line) ON DELETE SET NULL ON UPDATE CASCADE) ENGINE=InnoDB`,
		`CREATE TABLE tags (name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, order_id INT NOT NULL, PRIMARY KEY (name, order_id), KEY tagged (order_id),
			CONSTRAINT tag_of FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB`,
	}
	if !mariaDB {
		schema[1] = strings.Replace(schema[1], "FOREIGN KEY (manager_id) REFERENCES users (id) ON DELETE SET NULL", "CHECK (points < 1000)", 1)
		schema = slices.Delete(schema, 2, 3)
	}
	return schema
}

// A house is a database to convert, with a second one that has the same rows in narrow columns: its writers write both.
type house struct {
	testing.TB
	server     *dbtest.Server
	db         *sql.DB // for the test
	name, twin string
	plan       *plan.Plan
	keysInSQL  bool
}

func newHouse(t testing.TB, schema func(mariaDB bool) []string) *house {
	t.Helper()
	h := &house{TB: t, server: dbtest.SharedMariaDB(t)}
	h.name, h.twin = h.server.CreateDatabase(t), h.server.CreateDatabase(t)
	for _, name := range []string{h.twin, h.name} {
		db, err := sql.Open("mysql", h.server.DSN(name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		var version string
		if err := db.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
			t.Fatal(err)
		}
		for _, statement := range schema(strings.Contains(version, "MariaDB")) {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		h.db = db
	}
	h.exec("CREATE TABLE test_steps (name VARCHAR(100) PRIMARY KEY, position TEXT NOT NULL)")
	native := h.query("SHOW VARIABLES LIKE 'innodb_native_foreign_keys'")
	h.keysInSQL = len(native) > 0 && native[0][1] == "OFF"
	h.plan = h.planned(plan.Online)
	return h
}

func (h *house) exec(statement string) {
	h.Helper()
	if _, err := h.db.ExecContext(h.Context(), statement); err != nil {
		h.Fatalf("%.500s: %v", statement, err)
	}
}

func (h *house) query(statement string) [][]string {
	h.Helper()
	rows, err := texts(h.Context(), h.db, statement)
	if err != nil {
		h.Fatal(err)
	}
	return rows
}

// planned makes the plan by what the columns are called.
func (h *house) planned(method plan.Method) *plan.Plan {
	h.Helper()
	p := &plan.Plan{Version: 1, Dialect: "MySQL"}
	for _, row := range h.query("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> 'test_steps' ORDER BY CREATE_TIME, TABLE_NAME") {
		r, err := lookAt(h.Context(), h.db, &plan.Table{Name: row[0]})
		if err != nil {
			h.Fatal(err)
		}
		r.plan.Method, r.plan.Group, r.plan.PrimaryKey = method, 1, r.key
		for _, f := range r.fields {
			if f.kind != "int" || f.name != "id" && f.name != "half" && !strings.HasSuffix(f.name, "_id") {
				continue
			}
			to := "bigint"
			if strings.Contains(f.full, "unsigned") {
				to = "bigint unsigned"
			}
			r.plan.Columns = append(r.plan.Columns, &plan.Column{Name: f.name, Type: f.full, To: to})
		}
		links, err := linksIn(r.name, r.text)
		if err != nil {
			h.Fatal(err)
		}
		for _, l := range links {
			if planned(r.plan, l.columns[0]) != nil {
				r.plan.ForeignKeys = append(r.plan.ForeignKeys, &plan.ForeignKey{
					Name: l.name, Columns: l.columns, Refers: l.refers, RefColumns: l.refered, OnDelete: l.onDelete, OnUpdate: l.onUpdate,
				})
			}
		}
		p.Tables = append(p.Tables, r.plan)
	}
	return p
}

// definitions returns what SHOW CREATE TABLE says of all tables, without what may differ.
func (h *house) definitions() map[string]string {
	h.Helper()
	width, counted := regexp.MustCompile(`(?:big)?int(?:\(\d+\))?`), counterOption()
	all := map[string]string{}
	for _, row := range h.query("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> 'test_steps'") {
		text, err := definition(h.Context(), h.db, row[0])
		if err != nil {
			h.Fatal(err)
		}
		lines := strings.Split(counted.ReplaceAllString(width.ReplaceAllString(text, "int"), ""), "\n")
		for i := range lines {
			lines[i] = strings.TrimSuffix(lines[i], ",")
		}
		slices.Sort(lines) // the server may list foreign keys in another order
		all[row[0]] = strings.Join(lines, "\n")
	}
	return all
}

// run is what a step gets. Positions are stored as a job would.
func (h *house) run(ctx context.Context, db *sql.DB, step string) (*job.Run, error) {
	position, err := texts(ctx, h.db, "SELECT position FROM test_steps WHERE name = ?", step)
	if err != nil {
		return nil, err
	}
	r := &job.Run{
		DB: db,
		Store: func(ctx context.Context, tx *sql.Tx, position string) error {
			_, err := tx.ExecContext(ctx, "REPLACE INTO test_steps VALUES (?, ?)", step, position)
			return err
		},
		Check: func(context.Context) error { return nil },
		Wait:  func(context.Context, int64, int64) error { return nil },
	}
	if len(position) > 0 {
		r.Position = position[0][0]
	}
	return r, nil
}

func (h *house) steps() []job.Step {
	h.Helper()
	steps, err := Steps(h.plan)
	if err != nil {
		h.Fatal(err)
	}
	var ours []job.Step
	for _, s := range steps {
		if strings.HasPrefix(s.Name, "widen ") {
			ours = append(ours, s)
		}
	}
	return ours
}

// do does a step and verifies it.
func (h *house) do(s job.Step) {
	h.Helper()
	began := time.Now()
	defer func() { h.Logf("%s: %v", s.Name, time.Since(began).Round(time.Millisecond)) }()
	run, err := h.run(h.Context(), h.db, s.Name)
	if err == nil {
		err = s.Do(h.Context(), run)
	}
	if err == nil {
		err = s.Verify(h.Context(), run)
	}
	if err != nil {
		h.Fatalf("%s: %v", s.Name, err)
	}
}

func (h *house) undo(s job.Step) {
	h.Helper()
	if s.Undo != nil {
		run, err := h.run(h.Context(), h.db, s.Name)
		if err == nil {
			err = s.Undo(h.Context(), run)
		}
		if err != nil {
			h.Fatalf("undo %s: %v", s.Name, err)
		}
	}
	h.exec("DELETE FROM test_steps WHERE name = " + literal(s.Name))
}

// compare compares the tables with those of the twin, in all columns that are stored.
func (h *house) compare() {
	h.Helper()
	for _, t := range h.plan.Tables {
		r, err := lookAt(h.Context(), h.db, t)
		if err != nil {
			h.Fatal(err)
		}
		from := quote(h.name) + "." + quote(t.Name) + " AS s0"
		twin := quote(h.twin) + "." + quote(t.Name) + " AS d0"
		found := h.query("SELECT (SELECT COUNT(*) FROM " + from + "), (SELECT COUNT(*) FROM " + twin + "), (SELECT COUNT(*) FROM " + from + " LEFT JOIN " + twin + " ON " + r.joined() + " WHERE " + differs(r) + ")")
		if f := found[0]; f[0] != f[1] || f[2] != "0" {
			h.Errorf("%s has %s rows and should have %s, and %s differ", t.Name, f[0], f[1], f[2])
		}
	}
}

// code is the number of a server's error.
func code(err error) uint16 {
	if e, ok := err.(*driver.MySQLError); ok { //nolint:errorlint // straight from the driver
		return e.Number
	}
	return 0
}
