//go:build unix

package merge_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// A target whose clock is wrong would date ids by it: nothing is written then.
func TestWrongClock(t *testing.T) {
	f := newFixture(t, "", []string{"CREATE TABLE orders (id INT PRIMARY KEY)"}, []string{"INSERT INTO orders VALUES (1)"})
	server := dbtest.MariaDB(t, "innodb-lock-wait-timeout=60") // with an option, so that it is this test's own
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	f.target = db
	f.tables()
	var wrong *sqlsnow.ClockError
	for _, offset := range []time.Duration{-5 * 365 * 24 * time.Hour, 11 * time.Minute} {
		server.SetClock(t, offset)
		if _, err := f.merge().DryRun(t.Context()); !errors.As(err, &wrong) {
			t.Errorf("dry run, %v off: got %v, want a ClockError", offset, err)
		}
		if err := f.run(); !errors.As(err, &wrong) {
			t.Errorf("run, %v off: got %v, want a ClockError", offset, err)
		}
	}
	if got := f.rows(db, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'snow%'"); got != "0" {
		t.Errorf("%s tables of the ledger are there", got)
	}
	server.SetClock(t, 9*time.Minute)
	if err := f.run(); err != nil {
		t.Error(err)
	}
}
