package count

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// TestNobodyWaits: transactions that take blocks do not wait for each other, with either format of the binary log.
func TestNobodyWaits(t *testing.T) {
	for _, format := range []string{"ROW", "MIXED"} {
		t.Run(format, func(t *testing.T) {
			db := openDatabase(t, serve(t, "binlog-format="+format), ordersTable)
			do(t, db, allSteps(planOf(counted1("orders", 10))))
			var sessions []*sql.Conn
			for range 3 {
				s := connect(t, db)
				must(t, s, "SET SESSION innodb_lock_wait_timeout = 1", "BEGIN", "INSERT INTO orders (n) VALUES (1)", "ROLLBACK", "BEGIN")
				sessions = append(sessions, s)
			}
			for range 4 {
				for _, s := range sessions {
					insert(t, s, "INSERT INTO orders (n) VALUES (1), (2), (3)")
				}
			}
			for _, s := range sessions {
				must(t, s, "COMMIT")
			}
			if n := joined(t, db, "SELECT COUNT(*) FROM orders"); n != "36" {
				t.Errorf("%s rows", n)
			}
		})
	}
}

// TestWaitBehindFailure shows a limit: if the statement that takes a block fails, and its transaction goes on, others
// may wait for its end when they take one. InnoDB keeps the gap of the row that it rolled back: MySQL for each
// transaction that is not READ COMMITTED, MariaDB only for SERIALIZABLE ones, whose reads lock.
func TestWaitBehindFailure(t *testing.T) {
	server := serve(t)
	for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		t.Run(level, func(t *testing.T) {
			db := openDatabase(t, server, ordersTable)
			do(t, db, allSteps(planOf(counted1("orders", 10)))[1:])
			a, b := connect(t, db), connect(t, db)
			must(t, a, "SET SESSION TRANSACTION ISOLATION LEVEL "+level, "BEGIN")
			for range 2 {
				if _, err := a.ExecContext(t.Context(), "INSERT INTO orders (n) VALUES (-1)"); err == nil {
					t.Error("the check is missing")
				}
			}
			must(t, b, "SET SESSION innodb_lock_wait_timeout = 1")
			_, err := b.ExecContext(t.Context(), "INSERT INTO orders (n) VALUES (1)")
			t.Logf("the other session's statement ends with %v", err)
			if err != nil && (level == "READ COMMITTED" || sqldialect.Code(err) != "1205") {
				t.Error(err)
			}
			must(t, a, "COMMIT")
			insert(t, b, "INSERT INTO orders (n) VALUES (1)")
			insert(t, a, "INSERT INTO orders (n) VALUES (1)")
		})
	}
}

// TestPreparedXA shows a limit: a session that left a transaction with its block undecided waits for the decision.
func TestPreparedXA(t *testing.T) {
	db := openDatabase(t, serve(t), ordersTable)
	do(t, db, allSteps(planOf(counted1("orders", 10))))
	s := connect(t, db)
	must(t, s, "SET SESSION innodb_lock_wait_timeout = 1", "XA START 'x'", "INSERT INTO orders (n) VALUES (1)", "XA END 'x'", "XA PREPARE 'x'")
	_, err := s.ExecContext(t.Context(), "INSERT INTO orders (n) VALUES (2)")
	if code := sqldialect.Code(err); code != "1205" && code != "1399" { // MariaDB refuses all statements meanwhile
		t.Errorf("the statement ends with %v", err)
	}
	insert(t, connect(t, db), "INSERT INTO orders (n) VALUES (3)")
	must(t, s, "XA COMMIT 'x'")
	insert(t, s, "INSERT INTO orders (n) VALUES (4)")
	if n := joined(t, db, "SELECT COUNT(*) FROM orders"); n != "3" {
		t.Errorf("%s rows", n)
	}
}

// TestDeadlock: after a deadlock, the session goes on, and what the lost transaction used is not given again.
func TestDeadlock(t *testing.T) {
	db := openDatabase(t, serve(t), ordersTable, "CREATE TABLE locks (i INT PRIMARY KEY)", "INSERT INTO locks VALUES (1), (2)")
	do(t, db, allSteps(planOf(counted1("orders", 10))))
	a, b := connect(t, db), connect(t, db)
	must(t, a, "BEGIN", "SELECT * FROM locks WHERE i = 1 FOR UPDATE", "INSERT INTO orders (n) VALUES (1)")
	must(t, b, "BEGIN", "SELECT * FROM locks WHERE i = 2 FOR UPDATE", "INSERT INTO orders (n) VALUES (1)")
	errs := make(chan error)
	go func() { _, err := a.ExecContext(t.Context(), "UPDATE locks SET i = 22 WHERE i = 2"); errs <- err }()
	_, err := b.ExecContext(t.Context(), "UPDATE locks SET i = 11 WHERE i = 1")
	other := <-errs
	if err == nil {
		err = other
	}
	if sqldialect.Code(err) != "1213" {
		t.Fatalf("no deadlock: %v", err)
	}
	must(t, a, "COMMIT")
	must(t, b, "COMMIT")
	for i, s := range []interface {
		queryer
		execer
	}{a, b} {
		must(t, s, "INSERT INTO orders (n) VALUES (2), (3)")
		if id := joined(t, s, "SELECT LAST_INSERT_ID()"); id != fmt.Sprint(21+10*i) {
			t.Errorf("the number is %s", id)
		}
	}
	if n := joined(t, db, "SELECT COUNT(*) FROM snow_convert_count_orders WHERE block IN (2, 3)"); n != "2" {
		t.Errorf("%s blocks are known", n)
	}
}

// TestFiles: LOAD DATA, longer than several blocks, with and without the column of ids.
func TestFiles(t *testing.T) {
	server := serve(t)
	db := openDatabase(t, server, ordersTable)
	do(t, db, allSteps(planOf(counted1("orders", 10))))
	folder := joined(t, db, "SELECT @@secure_file_priv")
	if folder == "" || folder == "NULL" {
		folder = t.TempDir()
	}
	path := filepath.Join(folder, "rows.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("\\N\t5\n", 95)), 0o644); err != nil {
		t.Skipf("no file that the server can read: %v", err)
	}
	s := connect(t, db)
	must(t, s, "LOAD DATA INFILE '"+path+"' INTO TABLE orders (id, n)")
	if id := joined(t, s, "SELECT LAST_INSERT_ID()"); id != "20" {
		t.Errorf("the first number is %s", id)
	}
	must(t, s, "LOAD DATA INFILE '"+path+"' INTO TABLE orders (@x, n)")
	if ids := joined(t, db, "SELECT CONCAT(COUNT(*), ' ', MIN(id), ' ', MAX(id)) FROM orders"); ids != "190 20 209" {
		t.Errorf("the rows and ids are %s", ids)
	}
}

// TestOtherDatabase: guards stand on tables of other databases as well, and events count in their sessions.
func TestOtherDatabase(t *testing.T) {
	server := serve(t, "event-scheduler=ON")
	away := server.CreateDatabase(t)
	db := openDatabase(t, server, ordersTable, "CREATE TABLE late (id INT PRIMARY KEY, c INT AUTO_INCREMENT UNIQUE)", "CREATE TABLE "+away+".log (id INT AUTO_INCREMENT PRIMARY KEY, w INT)")
	p := planOf(counted1("orders", 10))
	p.Guards = []string{away + ".log", away + ".gone"}
	do(t, db, allSteps(p))
	if guards := joined(t, db, "SELECT EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE TRIGGER_NAME LIKE 'snow_convert_guard%' ORDER BY 1"); guards != "late log" {
		t.Errorf("guards stand on %s", guards)
	}
	s := connect(t, db)
	if _, err := s.ExecContext(t.Context(), "INSERT INTO orders (n) VALUES (-1)"); err == nil {
		t.Error("the check is missing")
	}
	if id := insert(t, s, "INSERT INTO "+away+".log (w) VALUES (1)"); id != 1 {
		t.Errorf("the other database's table got %d", id)
	}
	must(t, db, "CREATE EVENT e ON SCHEDULE AT CURRENT_TIMESTAMP DO INSERT INTO orders (n) VALUES (88), (89)")
	for joined(t, db, "SELECT COUNT(*) FROM orders WHERE n >= 88") != "2" {
		must(t, db, "DO 1")
	}
	if ids := joined(t, db, "SELECT id FROM orders ORDER BY id"); ids != "30 31" {
		t.Errorf("the event's rows have %s", ids)
	}
	undo(t, db, allSteps(p))
	if left := joined(t, db, "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_NAME LIKE 'snow%'"); left != "" {
		t.Errorf("left: %s", left)
	}
}

// TestPartitions: a row that fits no partition leaves nothing.
func TestPartitions(t *testing.T) {
	db := openDatabase(t, serve(t),
		"CREATE TABLE orders (id BIGINT AUTO_INCREMENT, n INT NOT NULL, PRIMARY KEY (id, n)) PARTITION BY RANGE (n) (PARTITION a VALUES LESS THAN (10), PARTITION b VALUES LESS THAN (20))",
		"CREATE TABLE other (id INT AUTO_INCREMENT PRIMARY KEY, w INT)")
	p := planOf(counted1("orders", 10))
	p.Guards = []string{"other"}
	do(t, db, allSteps(p))
	s := connect(t, db)
	insert(t, s, "INSERT INTO orders (n) VALUES (1), (11)")
	if _, err := s.ExecContext(t.Context(), "INSERT INTO orders (n) VALUES (99)"); sqldialect.Code(err) != "1526" {
		t.Errorf("the row without partition ends with %v", err)
	}
	if id := insert(t, s, "INSERT INTO other (w) VALUES (1)"); id != 1 {
		t.Errorf("the other table got %d", id)
	}
	insert(t, s, "INSERT INTO orders (n) VALUES (1), (11)")
	insert(t, s, "INSERT INTO orders (id, n) VALUES (380000000000000000, 1)")
	if id := insert(t, s, "INSERT INTO orders (n) VALUES (1)"); id >= 30 {
		t.Errorf("the number is %d", id)
	}
}

// TestRights: programs need no right to the tables and variables of the conversion.
func TestRights(t *testing.T) {
	server := serve(t)
	database := server.CreateDatabase(t)
	db := openAt(t, server.DSN(database), ordersTable)
	do(t, db, allSteps(planOf(counted1("orders", 10))))
	must(t, db, "CREATE USER app IDENTIFIED BY 'secret'", "GRANT INSERT ON "+database+".orders TO app", "GRANT SELECT ON "+database+".orders TO app") // the server is this test's own
	app := openAs(t, server, "app", database)
	s := connect(t, app)
	if id := insert(t, s, "INSERT INTO orders (n) VALUES (1), (2)"); id != 20 {
		t.Errorf("the number is %d", id)
	}
}
