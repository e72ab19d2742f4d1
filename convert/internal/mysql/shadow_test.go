//go:build unix

package mysql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// step returns the step whose name ends so.
func (h *house) step(end string) int {
	h.Helper()
	for i, s := range h.steps() {
		if strings.HasSuffix(s.Name, end) {
			return i
		}
	}
	h.Fatalf("no step %q", end)
	return 0
}

// until does the steps before one.
func (h *house) until(end string) {
	h.Helper()
	for _, s := range h.steps()[:h.step(end)] {
		h.do(s)
	}
}

// needNativeKeys skips a test of foreign keys with actions where prepare refuses them.
func (h *house) needNativeKeys(t *testing.T) {
	t.Helper()
	if h.keysInSQL {
		t.Skip("the server has its foreign keys in SQL: groups with actions are refused online")
	}
}

// small is a parent and a child.
func small(mariaDB bool) []string {
	actions := ""
	if mariaDB {
		actions = " ON DELETE SET NULL ON UPDATE CASCADE"
	}
	return []string{
		"CREATE TABLE parents (id INT NOT NULL AUTO_INCREMENT, name VARCHAR(20) NULL, PRIMARY KEY (id)) ENGINE=InnoDB",
		"CREATE TABLE children (id INT NOT NULL AUTO_INCREMENT, parent_id INT NULL, PRIMARY KEY (id), KEY parent (parent_id), CONSTRAINT child_of FOREIGN KEY (parent_id) REFERENCES parents (id)" + actions + ") ENGINE=InnoDB",
	}
}

// both executes a statement in both databases.
func (h *house) both(statement string) {
	h.Helper()
	h.exec(strings.ReplaceAll(statement, "{}", quote(h.name)+"."))
	h.exec(strings.ReplaceAll(statement, "{}", quote(h.twin)+"."))
}

// TestReplace replaces a parent while triggers repeat changes.
func TestReplace(t *testing.T) {
	h := newHouse(t, small)
	h.needNativeKeys(t)
	h.both("INSERT INTO {}parents VALUES (1, 'a'), (2, 'b')")
	h.both("INSERT INTO {}children VALUES (1, 1), (2, 2)")
	h.until(": swap")
	h.both("REPLACE INTO {}parents VALUES (2, 'c')")
	h.do(h.steps()[h.step(": swap")])
	h.both("REPLACE INTO {}parents VALUES (1, 'd')")
	h.compare()
	h.undo(h.steps()[h.step(": swap")])
	h.compare()
}

// TestTruncate finds out that a table was truncated, on which no trigger fires.
func TestTruncate(t *testing.T) {
	h := newHouse(t, small)
	h.exec("INSERT INTO children VALUES (1, NULL), (2, NULL)")
	h.until(": swap")
	h.exec("TRUNCATE TABLE children")
	h.exec("INSERT INTO children VALUES (1, NULL)") // fails in the wider table, and not here
	s := h.steps()[h.step(": swap")]
	run, err := h.run(t.Context(), h.db, s.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Do(t.Context(), run); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Fatalf("the truncated table changed names: %v", err)
	}
	for i := h.step(": swap") - 1; i >= 0; i-- {
		h.undo(h.steps()[i])
	}
	for _, s := range h.steps() {
		h.do(s)
	}
	if got := h.query("SELECT COUNT(*) FROM children"); got[0][0] != "1" {
		t.Errorf("children has %s rows", got[0][0])
	}
}

// TestBack takes steps back after the swap, also when the tables of old were let go, and not when a value is too great.
func TestBack(t *testing.T) {
	h := newHouse(t, small)
	before := h.definitions()
	h.both("INSERT INTO {}parents VALUES (1, 'a'), (70, 'b')")
	h.both("DELETE FROM {}parents WHERE id = 70")
	h.until(": drop")
	h.both("INSERT INTO {}parents (name) VALUES ('c')") // not in the table of old
	h.both("UPDATE {}parents SET id = 5 WHERE id = 1")
	h.exec("INSERT INTO parents VALUES (5000000000, 'wide')")
	s := h.steps()[h.step(": let go")]
	run, err := h.run(t.Context(), h.db, s.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Undo(t.Context(), run); err == nil || !strings.Contains(err.Error(), errTooWide.Error()) {
		t.Fatalf("a row that does not fit: %v", err)
	}
	h.exec("DELETE FROM parents WHERE id = 5000000000")
	for i := h.step(": let go"); i >= 0; i-- {
		h.undo(h.steps()[i])
	}
	h.compare()
	if after := h.definitions(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the tables were\n%v\nand are\n%v", before, after)
	}
	if n := h.query("SELECT MAX(id) FROM parents"); n[0][0] != "71" {
		t.Errorf("the counter gave %s and should give 71", n[0][0])
	}
}

// TestAlter widens with ALTER TABLE, ends at each statement, and goes back.
func TestAlter(t *testing.T) {
	h := newHouse(t, small)
	h.plan = h.planned(plan.Alter)
	before := h.definitions()
	h.both("INSERT INTO {}parents VALUES (1, 'a')")
	h.both("INSERT INTO {}children VALUES (1, 1)")
	s := h.steps()[0]
	kills := 0
	for n := 1; ; n += testscale.Of(7, 1) {
		struck := h.killed(s.Name, n, n%2 == 0, s.Do)
		h.do(s)
		back := h.killed(s.Name, n, n%2 == 1, s.Undo)
		h.undo(s)
		if !struck && !back {
			break
		}
		kills++
	}
	if kills < 3 {
		t.Errorf("%d kills", kills)
	}
	h.compare()
	h.do(s)
	if after := h.definitions(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the tables were\n%v\nand are\n%v", before, after)
	}
}

// TestOldSnapshot has a transaction with a snapshot that is older than the wider tables, and writes in it.
func TestOldSnapshot(t *testing.T) {
	h := newHouse(t, small)
	h.both("INSERT INTO {}parents VALUES (1, 'a')")
	conn, err := h.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT"} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	h.until(": mirror")
	mirrored := make(chan error, 1)
	s := h.steps()[h.step(": mirror")]
	run, err := h.run(t.Context(), h.db, s.Name)
	if err != nil {
		t.Fatal(err)
	}
	go func() { mirrored <- s.Do(t.Context(), run) }()
	for _, name := range []string{h.name, h.twin} {
		if _, err := conn.ExecContext(t.Context(), "UPDATE "+quote(name)+".parents SET name = 'b' WHERE id = 1"); err != nil {
			t.Fatalf("a transaction with an old snapshot can't write: %v", err)
		}
	}
	select {
	case err := <-mirrored:
		t.Fatalf("the triggers came before the transaction ended: %v", err)
	default:
	}
	if _, err := conn.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-mirrored; err != nil {
		t.Fatal(err)
	}
	for _, s := range h.steps()[h.step(": mirror")+1:] {
		h.do(s)
	}
	h.compare()
}
