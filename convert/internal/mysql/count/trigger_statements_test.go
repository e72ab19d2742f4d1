package count

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// A line of a script is a statement, and what it must end with: an id in the reply, the rows of a query, or "error".
type line struct{ statement, want string }

// A script runs in one session, in a database of its own, in which orders is counted in blocks of 10 numbers from 20
// on.
type script struct {
	name   string
	before []string // statements before the triggers are created
	lines  []line
}

const (
	ids   = "SELECT id FROM orders ORDER BY id"
	other = "SELECT id FROM other ORDER BY id"
	left  = "SELECT COUNT(*) FROM snow_convert_left"
)

var scripts = []script{
	{name: "not null, then another table", lines: []line{
		{"INSERT INTO orders (n) VALUES (NULL)", "error"},
		{"SELECT @@insert_id", "20"},
		{"INSERT INTO other (w) VALUES (1), (2)", "1"},
		{"SELECT @@insert_id", "0"},
		{other, "1 2"},
		{"INSERT INTO orders (n) VALUES (1)", "21"},
		{left, "1"},
	}},
	{name: "check, then the same table", lines: []line{
		{"INSERT INTO orders (n) VALUES (-1)", "error"}, {"INSERT INTO orders (n) VALUES (1), (2)", "20"}, {ids, "20 21"}, {left, "0"},
	}},
	{name: "a block whose statement failed is known again", lines: []line{
		{"INSERT INTO orders (n) VALUES (-1)", "error"},
		{"SELECT COUNT(*) FROM snow_convert_count_orders WHERE block = 2", "0"},
		{"INSERT INTO orders (n) VALUES (1)", "20"},
		{"SELECT COUNT(*) FROM snow_convert_count_orders WHERE block = 2", "1"},
	}},
	{name: "second row fails", lines: []line{
		{"INSERT INTO orders (n) VALUES (1), (-1)", "error"},
		{"SELECT @@insert_id", "0"},
		{"INSERT INTO other (w) VALUES (1)", "1"},
		{"INSERT INTO orders (n) VALUES (1)", "21"},
	}},
	{name: "strict conversion", lines: []line{
		{"INSERT INTO orders (n) VALUES ('x')", "error"},
		{"INSERT INTO orders (n, v) VALUES (1, REPEAT('x', 99))", "error"},
		{"INSERT INTO other (w) VALUES (1)", "1"},
		{"INSERT INTO orders (n) VALUES (1)", "20"},
	}},
	{name: "triggers of the user fail", before: []string{
		"CREATE TRIGGER b BEFORE INSERT ON orders FOR EACH ROW IF NEW.n = 66 THEN SIGNAL SQLSTATE '45000'; END IF",
		"CREATE TRIGGER a AFTER INSERT ON orders FOR EACH ROW IF NEW.n = 77 THEN SIGNAL SQLSTATE '45000'; END IF",
	}, lines: []line{
		{"INSERT INTO orders (n) VALUES (66)", "error"},
		{"SELECT @@insert_id", "0"},
		{"INSERT INTO orders (n) VALUES (77)", "error"},
		{"INSERT INTO other (w) VALUES (1)", "1"},
		{"INSERT INTO orders (n) VALUES (1), (77)", "error"},
		{"INSERT INTO orders (n) VALUES (2)", "23"},
	}},
	{name: "a trigger of the user after ours fails", lines: []line{
		{"CREATE TRIGGER late BEFORE INSERT ON orders FOR EACH ROW IF NEW.n = 66 THEN SIGNAL SQLSTATE '45000'; END IF", ""},
		{"INSERT INTO orders (n) VALUES (66)", "error"},
		{"INSERT INTO other (w) VALUES (1)", "1"},
		{"INSERT INTO orders (n) VALUES (1)", "21"},
	}},
	{name: "triggers of the user insert before and after", before: []string{
		"CREATE TRIGGER b BEFORE INSERT ON orders FOR EACH ROW INSERT INTO other (w) VALUES (1)",
		"CREATE TRIGGER a AFTER INSERT ON orders FOR EACH ROW INSERT INTO other (w) VALUES (NEW.id), (-NEW.id)",
	}, lines: []line{
		{"INSERT INTO orders (n) VALUES (1), (2), (3)", "20"},
		{ids, "20 21 22"},
		{other, "1 2 3 4 5 6 7 8 9"},
		{"INSERT INTO orders (n) VALUES (4)", "23"},
		{"SELECT w FROM other WHERE id > 9", "1 23 -23"},
		{"INSERT INTO orders (id, n) VALUES (380000000000000000, 4), (NULL, 5), (380000000000000001, 6)", "24"},
		{"INSERT INTO orders (n) VALUES (1), (2), (3)", "25"},
		{"SELECT MAX(id) FROM other", "30"},
	}},
	{name: "a trigger of the user inserts, after a statement that failed", before: []string{
		"CREATE TRIGGER a AFTER INSERT ON orders FOR EACH ROW INSERT INTO other (w) VALUES (NEW.id)",
	}, lines: []line{
		{"INSERT INTO orders (n) VALUES (-1)", "error"},
		{"INSERT INTO orders (n) VALUES (1), (2), (3)", "20"},
		{ids, "20 21 22"},
		{other, "1 2 3"},
	}},
	{name: "triggers of the user insert into a table without guard", before: []string{
		"CREATE TABLE free (id INT AUTO_INCREMENT PRIMARY KEY, w INT)",
		"CREATE TRIGGER b BEFORE INSERT ON orders FOR EACH ROW INSERT INTO other (w) VALUES (1)",
		"CREATE TRIGGER a AFTER INSERT ON orders FOR EACH ROW INSERT INTO free (w) VALUES (NEW.id)",
	}, lines: []line{
		{"INSERT INTO orders (n) VALUES (1), (2), (3)", "20"}, {"SELECT id FROM free", "1 2 3"}, {"SELECT w FROM free", "20 21 22"},
	}},
	{name: "a failed statement, then a table without guard", lines: []line{ // a limit
		{"CREATE TEMPORARY TABLE work (id INT AUTO_INCREMENT PRIMARY KEY, w INT)", ""},
		{"INSERT INTO orders (n) VALUES (NULL)", "error"},
		{"INSERT INTO work (w) VALUES (1), (2)", "20"},
		{"INSERT INTO work (w) VALUES (1)", "22"},
		{"INSERT INTO orders (n) VALUES (1)", "21"},
	}},
	{name: "two tables that are counted", lines: []line{
		{"INSERT INTO orders (n) VALUES (NULL)", "error"},
		{"INSERT INTO second (w) VALUES (1), (2)", "20"},
		{"INSERT INTO second (w) VALUES (NULL)", "error"},
		{"INSERT INTO orders (n) VALUES (1), (2)", "20"},
		{"INSERT INTO second (w) VALUES (1)", "23"},
		{"INSERT INTO orders (n) VALUES (1)", "22"},
		{"SELECT id FROM second", "20 21 23"},
	}},
	{name: "a trigger of one counted table inserts into the other", before: []string{
		"CREATE TRIGGER a AFTER INSERT ON orders FOR EACH ROW INSERT INTO second (w) VALUES (NEW.id), (1)",
	}, lines: []line{
		{"INSERT INTO orders (n) VALUES (1), (2), (3)", "20"},
		{ids, "20 21 22"},
		{"SELECT w FROM second ORDER BY id", "20 1 21 1 22 1"},
		{"SELECT MAX(id) - MIN(id) FROM second", "5"},
		{"INSERT INTO orders (n) SELECT n FROM orders", "23"},
		{ids, "20 21 22 23 24 25"},
	}},
	{name: "ignore", lines: []line{
		{"INSERT INTO orders (v) VALUES ('a')", "20"},
		{"INSERT IGNORE INTO orders (v) VALUES ('a'), ('b'), ('a'), ('c')", "21"},
		{"SELECT id FROM orders WHERE v IN ('b', 'c') ORDER BY v", "21 22"},
		{"INSERT IGNORE INTO orders (v) VALUES ('a')", "0"},
		{"INSERT IGNORE INTO orders (n) VALUES (NULL), (5)", "24"},
		{"INSERT INTO orders (v) VALUES ('d')", "25"},
	}},
	{name: "ignore does not hide the check", lines: []line{
		{"DROP TRIGGER snow_convert_before_orders", ""},
		{"INSERT INTO orders (id) VALUES (380000000000000000)", "380000000000000000"},
		{"SET @snow_1_counted = 1", ""},
		{"INSERT IGNORE INTO orders (n) VALUES (1)", "380000000000000001"}, // without the trigger before it
	}},
	{name: "on duplicate key update", lines: []line{
		{"INSERT INTO orders (v) VALUES ('a')", "20"},
		{"INSERT INTO orders (v) VALUES ('a'), ('b') ON DUPLICATE KEY UPDATE n = n + 1", "21"},
		{"INSERT INTO orders (v) VALUES ('b') ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = n + 1", "21"},
		{"SELECT LAST_INSERT_ID()", "21"},
		{"INSERT INTO orders (v) VALUES ('c') ON DUPLICATE KEY UPDATE n = n + 1", "23"},
		{"SELECT n FROM orders ORDER BY id", "2 2 1"},
	}},
	{name: "replace", lines: []line{
		{"INSERT INTO orders (v) VALUES ('a'), ('b')", "20"},
		{"REPLACE INTO orders (v) VALUES ('b'), ('a'), ('c')", "22"},
		{"SELECT v FROM orders ORDER BY id", "b a c"},
		{"REPLACE INTO orders (id, v) VALUES (22, 'x')", "22"},
		{"INSERT INTO orders (v) VALUES ('y')", "25"},
	}},
	{name: "longer than a block, nobody else", lines: []line{
		{"INSERT INTO orders (n) VALUES (1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1),(1)", "20"},
		{"SELECT MAX(id) - MIN(id) FROM orders", "22"},
		{"INSERT INTO orders (n) SELECT n FROM orders", "43"},
		{"SELECT COUNT(*) FROM orders", "46"},
		{"SELECT MAX(id) - MIN(id) FROM orders WHERE id >= 43", "22"},
	}},
	{name: "ids that are given between", lines: []line{
		{"INSERT INTO orders (id, v) VALUES (NULL, 'a'), (380000000000000000, 'b'), (0, 'c'), (DEFAULT, 'd'), (380000000000000001, 'e'), (NULL, 'f')", "20"},
		{"SELECT id FROM orders ORDER BY v", "20 380000000000000000 21 22 380000000000000001 23"},
		{"INSERT INTO orders (id, v) VALUES (380000000000000002, 'g'), (NULL, 'h')", "24"},
		{"SELECT LAST_INSERT_ID()", "24"},
	}},
	{name: "small ids that are given", lines: []line{
		{"INSERT INTO orders (n) VALUES (1)", "20"},
		{"INSERT INTO orders (id) VALUES (555)", "555"},
		{"INSERT INTO orders (id) VALUES (-5)", "-5"},
		{"INSERT INTO orders (n) VALUES (1),(1),(1),(1),(1),(1),(1),(1),(1)", "21"},
		{"INSERT INTO orders (n) VALUES (1)", "560"},
		{"INSERT INTO orders (id) VALUES (561)", "561"},
		{"INSERT INTO orders (n) VALUES (1)", "error"},
		{"INSERT INTO orders (n) VALUES (1)", "562"},
	}},
	{name: "zero that means zero", lines: []line{
		{"INSERT INTO orders (n) VALUES (1)", "20"},
		{"SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')", ""},
		{"INSERT INTO orders (n) VALUES (1), (2)", "21"},
		{"INSERT INTO orders (id) VALUES (NULL)", "23"},
		{"INSERT INTO orders (id) VALUES (0)", "error"},
		{"INSERT INTO other (w) VALUES (1)", "1"},
		{"INSERT INTO orders (id) VALUES (380000000000000000)", "380000000000000000"},
	}},
	{name: "increment and offset", lines: []line{
		{"SET SESSION auto_increment_increment = 4, SESSION auto_increment_offset = 3", ""},
		{"INSERT INTO orders (n) VALUES (1), (2)", "31"},
		{"INSERT INTO orders (n) VALUES (3)", "71"},
		{ids, "31 35 71"},
		{"INSERT INTO orders (n) VALUES (1)", "75"},
		{"SET SESSION auto_increment_increment = 1, SESSION auto_increment_offset = 1", ""},
		{"INSERT INTO orders (n) VALUES (1), (2)", "110"},
	}},
	{name: "a number that the session forces", lines: []line{
		{"SET insert_id = 77", ""},
		{"INSERT INTO orders (n) VALUES (1), (2)", "77"},
		{"INSERT INTO orders (n) VALUES (3)", "80"},
		{"SET insert_id = 99", ""},
		{"INSERT INTO other (w) VALUES (1)", "99"},
		{"SET insert_id = 380000000000000000", ""},
		{"INSERT INTO orders (n) VALUES (1)", "error"},
		{"INSERT INTO orders (n) VALUES (1)", "81"},
	}},
	{name: "a clock that stands still", lines: []line{
		{"SET timestamp = 1000000000", ""},
		{"INSERT INTO orders (n) VALUES (1), (2)", "20"},
		{"INSERT INTO orders (n) VALUES (1), (2)", "22"},
		{"INSERT INTO orders (n) VALUES (NULL)", "error"},
		{"INSERT INTO other (w) VALUES (1)", "1"},
		{"INSERT INTO orders (n) VALUES (1), (2)", "25"},
		{ids, "20 21 22 23 25 26"},
	}},
	{name: "transactions and savepoints", lines: []line{
		{"BEGIN", ""},
		{"INSERT INTO orders (n) VALUES (1)", "20"},
		{"SAVEPOINT s", ""},
		{"INSERT INTO orders (n) VALUES (1), (2)", "21"},
		{"ROLLBACK TO s", ""},
		{"INSERT INTO orders (n) VALUES (3)", "23"},
		{"ROLLBACK", ""},
		{"SELECT COUNT(*) FROM snow_convert_count_orders WHERE block = 2", "0"},
		{"INSERT INTO orders (n) VALUES (4)", "24"},
		{ids, "24"},
		{"SELECT COUNT(*) FROM snow_convert_count_orders WHERE block = 2", "1"},
	}},
	{name: "xa", lines: []line{
		{"XA START 'x'", ""},
		{"INSERT INTO orders (n) VALUES (1)", "20"},
		{"XA END 'x'", ""},
		{"XA PREPARE 'x'", ""},
		{"XA COMMIT 'x'", ""},
		{"INSERT INTO orders (n) VALUES (1)", "21"},
		{"XA START 'y'", ""},
		{"INSERT INTO orders (n) VALUES (2)", "22"},
		{"XA END 'y'", ""},
		{"XA ROLLBACK 'y'", ""},
		{"INSERT INTO orders (n) VALUES (1)", "23"},
		{ids, "20 21 23"},
	}},
	{name: "procedures and functions", before: []string{
		"CREATE PROCEDURE p (OUT last BIGINT) BEGIN INSERT INTO orders (n) VALUES (1), (2); SET last = LAST_INSERT_ID(); INSERT INTO other (w) VALUES (1); END",
		"CREATE FUNCTION f () RETURNS BIGINT MODIFIES SQL DATA BEGIN INSERT INTO orders (n) VALUES (1); RETURN LAST_INSERT_ID(); END",
	}, lines: []line{
		{"CALL p(@last)", "*"},
		{"SELECT @last", "20"},
		{"SELECT f() FROM (SELECT 1 UNION ALL SELECT 2) two", "22 23"},
		{"INSERT INTO orders (n) VALUES (f())", "*"},
		{"SELECT COUNT(*) FROM orders WHERE id >= 380000000000000000", "0"},
		{other, "1"},
	}},
	{name: "lock tables", lines: []line{
		{"LOCK TABLES orders WRITE", ""}, {"INSERT INTO orders (n) VALUES (1), (2)", "20"}, {"UNLOCK TABLES", ""}, {"INSERT INTO orders (n) VALUES (1)", "22"},
	}},
	{name: "no column at all", lines: []line{
		{"INSERT INTO orders () VALUES ()", "20"}, {"INSERT INTO orders SET n = 5", "21"}, {"INSERT INTO orders VALUES (NULL, 'x', 1, DEFAULT)", "22"},
	}},
	{name: "a generated column fails", lines: []line{
		{"INSERT INTO orders (n) VALUES (2147483647)", "error"}, {"INSERT INTO other (w) VALUES (1)", "1"}, {"INSERT INTO orders (n) VALUES (1)", "20"},
	}},
	{name: "a view with check option fails", before: []string{"CREATE VIEW small AS SELECT id, n FROM orders WHERE n < 10 WITH CHECK OPTION"}, lines: []line{
		{"INSERT INTO small (n) VALUES (1)", "20"}, {"INSERT INTO small (n) VALUES (11)", "error"}, {"INSERT INTO other (w) VALUES (1)", "1"}, {"INSERT INTO small (n) VALUES (2), (3)", "22"},
	}},
}

func TestStatements(t *testing.T) {
	server := serve(t)
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			db := openDatabase(t, server, append([]string{
				"CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20) UNIQUE, n INT NOT NULL DEFAULT 1, g INT AS (n + 1) STORED, CHECK (n > 0))",
				"CREATE TABLE second (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, w INT NOT NULL)",
				"CREATE TABLE other (id INT AUTO_INCREMENT PRIMARY KEY, w BIGINT)",
			}, s.before...)...)
			p := planOf(counted1("orders", 10), counted1("second", 10))
			p.Guards = []string{"other"}
			do(t, db, allSteps(p)[1:])
			c := connect(t, db)
			for _, l := range s.lines {
				if got := l.run(t, db, c); got != l.want && l.want != "*" {
					t.Errorf("%s\n\tends with %s, not %s", l.statement, got, l.want)
				}
			}
		})
	}
}

func (l line) run(t *testing.T, _ any, c interface {
	execer
	queryer
},
) string {
	t.Helper()
	if strings.HasPrefix(l.statement, "SELECT") {
		return joined(t, c, l.statement)
	}
	result, err := c.ExecContext(t.Context(), l.statement)
	if err != nil {
		t.Logf("%s: %v", l.statement, err)
		if sqldialect.Code(err) == "" {
			t.Fatal(err)
		}
		return "error"
	}
	if l.want == "" {
		return ""
	}
	id, err := result.LastInsertId()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(id)
}
