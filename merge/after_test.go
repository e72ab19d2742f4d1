//go:build unix

package merge_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/report"
)

// afterwards is a source with two heroes. A statement makes a third one.
func afterwards(t *testing.T, statements ...string) *fixture {
	t.Helper()
	f := newFixture(t, "", []string{"CREATE TABLE heroes (id INT AUTO_INCREMENT PRIMARY KEY, gold INT NOT NULL)"}, []string{"INSERT INTO heroes VALUES (1, 5), (2, 7)"})
	f.plan.After = statements
	f.tables()
	return f
}

const raise = "UPDATE heroes SET gold = gold + 1"

// Each statement runs once, after the rows were verified, and in its transaction the ledger says so.
func TestAfter(t *testing.T) {
	f := afterwards(t, raise, "CREATE INDEX heroes_gold ON heroes (gold)", "INSERT INTO heroes VALUES (1, 100)")
	found, err := f.merge().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.merge().Run(t.Context())
	if err != nil || !again.Started.Equal(found.Started) || len(again.Tables) != 1 || again.Tables[0].Copied != 2 {
		t.Errorf("run again: got %+v, %v; want the report of the first", again, err)
	}
	if again, err = f.merge().Verify(t.Context()); err != nil || !again.Started.Equal(found.Started) || again.Err() != nil {
		t.Errorf("verify: got %+v, %v; want the report of the first", again, err)
	}
	if got := f.rows(f.target, "SELECT gold FROM heroes ORDER BY gold"); got != "6\n8\n100" {
		t.Errorf("the heroes have %s", got)
	}
	if got, want := f.rows(f.target, "SELECT n, state, changed_rows FROM snow_merge_after WHERE n > 0 ORDER BY n"), "1 done 2\n2 done 0\n3 done 1"; got != want {
		t.Errorf("the ledger has\n%s\nwant\n%s", got, want)
	}
}

// A statement that fails is corrected, and those before it do not run again.
func TestAfterFails(t *testing.T) {
	f := afterwards(t, raise, "UPDATE heros SET gold = 0")
	var failed *report.StatementError
	for range 2 {
		if err := f.run(); !errors.As(err, &failed) || failed.Number != 2 || !strings.Contains(err.Error(), "heros") {
			t.Fatalf("got %v, want a StatementError", err)
		}
	}
	f.plan.After[1] = "UPDATE heroes SET gold = gold * 2"
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT gold FROM heroes ORDER BY gold"); got != "12\n16" {
		t.Errorf("the heroes have %s", got)
	}
	f.plan.After[0] = "UPDATE heroes SET gold = 0"
	if err := f.run(); !errors.As(err, &failed) || failed.Number != 1 || !strings.Contains(err.Error(), "another one has run") {
		t.Errorf("got %v, want a StatementError", err)
	}
}

// Nothing runs on rows that are wrong, or that nobody has decided on.
func TestAfterNothingOpen(t *testing.T) {
	f := afterwards(t, raise)
	f.plan.Accepted = []string{"nobody has looked at it"}
	if err := f.run(); !errors.As(err, new(*report.OpenError)) {
		t.Fatalf("got %v, want an OpenError", err)
	}
	if got := f.rows(f.target, "SELECT gold FROM heroes ORDER BY gold"); got != "5\n7" {
		t.Fatalf("the heroes have %s", got)
	}
	f.plan.Accepted = nil
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT gold FROM heroes ORDER BY gold"); got != "6\n8" {
		t.Errorf("the heroes have %s", got)
	}
}

// A process that dies before the end of a statement leaves it begun. MySQL undoes an UPDATE, but not where tables
// have no transactions, and not what changes a schema.
func TestAfterDies(t *testing.T) {
	const create = "CREATE TABLE marks (id INT PRIMARY KEY)"
	f := afterwards(t, raise, create)
	ctx, stop := context.WithCancel(t.Context())
	f.config.Events = func(e report.Event) {
		if e.Phase == "after" {
			stop()
		}
	}
	if _, err := f.merge().Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	f.config.Events = nil
	f.exec(f.target, "INSERT INTO snow_merge_after VALUES ((SELECT run FROM snow_merge_runs), 1, '"+raise+"', 'begun', 0, 0), ((SELECT run FROM snow_merge_runs), 2, '"+create+"', 'begun', 0, 0)")
	var failed *report.StatementError
	f.exec(f.target, "CREATE TABLE log (id INT) ENGINE = MyISAM")
	if err := f.run(); !errors.As(err, &failed) || failed.Number != 1 || !errors.Is(err, report.ErrMayHaveRun) {
		t.Fatalf("got %v, want ErrMayHaveRun", err)
	}
	f.exec(f.target, "DROP TABLE log")
	if err := f.run(); !errors.As(err, &failed) || failed.Number != 2 || !errors.Is(err, report.ErrMayHaveRun) {
		t.Fatalf("got %v, want ErrMayHaveRun", err)
	}
	f.exec(f.target, "DELETE FROM snow_merge_after WHERE n = 2")
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT gold, (SELECT COUNT(*) FROM marks) FROM heroes ORDER BY gold"); got != "6 0\n8 0" {
		t.Errorf("the heroes have %s", got)
	}
}
