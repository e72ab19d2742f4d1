//go:build unix

package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// each runs a test on both kinds of databases.
func each(t *testing.T, test func(t *testing.T, d sqldialect.Dialect, dsn string)) {
	t.Run("MySQL", func(t *testing.T) {
		s := dbtest.SharedMariaDB(t)
		test(t, sqldialect.MySQL, s.DSN(s.CreateDatabase(t)))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		s := dbtest.Postgres(t)
		test(t, sqldialect.Postgres, s.DSN(s.CreateDatabase(t)))
	})
}

func open(t testing.TB, d sqldialect.Dialect, dsn string) *sql.DB {
	t.Helper()
	name := map[sqldialect.Dialect]string{sqldialect.MySQL: "mysql", sqldialect.Postgres: "pgx"}[d]
	db, err := sql.Open(name, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

const (
	fakeChunks = 20
	fakeRows   = 5 // of a chunk
)

// fill is a step that writes rows 0 to 99 into a table, in chunks, and fails where a row is there already.
func fill(table string, phase Phase) Step {
	return Step{
		Name: "fill " + table, Title: "Fill " + table + ".", Phase: phase, Table: table,
		Do: func(ctx context.Context, r *Run) error {
			if err := r.Check(ctx); err != nil {
				return err
			}
			if _, err := r.DB.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+table+" (id INT PRIMARY KEY)"); err != nil {
				return err
			}
			at, _ := strconv.Atoi(r.Position)
			for ; at < fakeChunks; at++ {
				if err := r.Wait(ctx, int64(at*fakeRows), fakeChunks*fakeRows); err != nil {
					return err
				}
				if err := fillChunk(ctx, r, table, at); err != nil {
					return err
				}
			}
			return nil
		},
		Verify: func(ctx context.Context, r *Run) error {
			var n int
			if err := r.DB.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
				return err
			}
			if n != fakeChunks*fakeRows {
				return fmt.Errorf("%d rows", n)
			}
			return nil
		},
		Undo: func(ctx context.Context, r *Run) error {
			_, err := r.DB.ExecContext(ctx, "DROP TABLE IF EXISTS "+table)
			return err
		},
	}
}

func fillChunk(ctx context.Context, r *Run, table string, at int) error {
	tx, err := r.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for i := range fakeRows {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%d)", table, at*fakeRows+i)); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if err := r.Store(ctx, tx, strconv.Itoa(at+1)); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// fake returns a job of three steps, with a gate before the last.
func fake(t testing.TB, d sqldialect.Dialect, dsn string) *Job {
	t.Helper()
	return fakeOf(d, open(t, d, dsn))
}

func fakeOf(d sqldialect.Dialect, db *sql.DB) *Job {
	j := &Job{
		DB: db, Dialect: d, Plan: `{"Tables":[{"Name":"a"}]}`, Holder: "test", Lease: time.Minute,
		Throttle: Throttle{MostLag: -1, MostBusy: -1, Every: time.Millisecond},
		Steps:    []Step{fill("a", Widen), fill("b", Widen), fill("c", Count)},
	}
	j.Steps[1].Blocks = "all, for a moment"
	j.Steps[2].Gate = "take numbers of 64 bits"
	return j
}

func TestRun(t *testing.T) {
	each(t, func(t *testing.T, d sqldialect.Dialect, dsn string) {
		j := fake(t, d, dsn)
		var events []string
		j.Events = func(e report.Event) {
			if e.Kind != report.Progress {
				events = append(events, string(e.Kind)+" "+e.Step)
			}
		}
		status, err := j.Status(t.Context())
		if err != nil || status.Begun || status.Step != "fill a" {
			t.Fatalf("before: %+v, %v", status, err)
		}

		refuse := true
		j.Confirm = func(_ context.Context, s *Step, back bool) error {
			if refuse {
				return errors.New("no")
			}
			return nil
		}
		var refused *report.RefusedError
		if err := j.Run(t.Context()); !errors.As(err, &refused) || refused.Step != "fill b" {
			t.Fatalf("the step that blocks was not asked for: %v", err)
		}
		refuse = false
		var gate *report.GateError
		if err := j.Run(t.Context()); !errors.As(err, &gate) || gate.Gate != "count" || gate.What != "take numbers of 64 bits" {
			t.Fatalf("no gate: %v", err)
		}
		if status, err = j.Status(t.Context()); err != nil || !status.Begun || status.Step != "fill c" || status.Gate != "count" || status.Running {
			t.Fatalf("at the gate: %+v, %v", status, err)
		}

		j.Gates = []string{"count"}
		if err := j.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if status, err = j.Status(t.Context()); err != nil || !status.Finished || status.Steps[2].State != report.Verified {
			t.Fatalf("at the end: %+v, %v", status, err)
		}
		want := []string{
			"step begins fill a", "step verified fill a", "step begins fill b", "step verified fill b", "step begins fill c", "step verified fill c",
		}
		if !slices.Equal(events, want) {
			t.Errorf("events: %q", events)
		}

		if err := j.Back(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := tables(t, j); n != 0 {
			t.Errorf("%d tables are left", n)
		}
	})
}

// tables counts the tables of the database.
func tables(t *testing.T, j *Job) (n int) {
	t.Helper()
	where := "DATABASE()"
	if j.Dialect == sqldialect.Postgres {
		where = "current_schema()"
	}
	if err := j.DB.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = "+where).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestUntil(t *testing.T) {
	each(t, func(t *testing.T, d sqldialect.Dialect, dsn string) {
		j := fake(t, d, dsn)
		j.Gates = []string{"count"}
		for _, test := range []struct {
			until string
			back  bool
			next  string
		}{{"fill a", false, "fill b"}, {"widen", false, "fill c"}, {"count", false, ""}, {"count", true, "fill c"}, {"fill b", true, "fill b"}, {"widen", true, "fill a"}} {
			j.Until = test.until
			do := j.Run
			if test.back {
				do = j.Back
			}
			if err := do(t.Context()); err != nil {
				t.Fatalf("%+v: %v", test, err)
			}
			if s, err := j.Status(t.Context()); err != nil || s.Step != test.next {
				t.Fatalf("%+v: %+v, %v", test, s, err)
			}
		}
		if n := tables(t, j); n != 0 {
			t.Errorf("%d tables are left", n)
		}
	})
}

// What was open before a step was taken back is asked for again.
func TestGateAfterBack(t *testing.T) {
	j := fakeOnMariaDB(t)
	j.Gates = []string{"count"}
	if err := j.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	j.Until = "count"
	if err := j.Back(t.Context()); err != nil {
		t.Fatal(err)
	}
	j.Until, j.Gates = "", nil
	var gate *report.GateError
	if err := j.Run(t.Context()); !errors.As(err, &gate) {
		t.Errorf("no gate: %v", err)
	}
}

// If a step can't be taken back any more, none is, and the run goes on. That also holds for a step that was being taken
// back when it turned out.
func TestNoWayBack(t *testing.T) {
	j := fakeOnMariaDB(t)
	if err := j.Run(t.Context()); err != nil {
		var gate *report.GateError
		if !errors.As(err, &gate) {
			t.Fatal(err)
		}
		j.Gates = []string{gate.Gate}
		if err := j.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	states := func() string {
		t.Helper()
		s, err := j.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, step := range s.Steps {
			all = append(all, fmt.Sprint(step.Name, ": ", step.State))
		}
		return strings.Join(all, ", ")
	}
	before, taken := states(), 0
	no := errors.New("rows came")
	var refused error = no
	first := &j.Steps[0]
	first.CanUndo = func(context.Context, *Run) error { return refused }
	for i := range j.Steps {
		if undo := j.Steps[i].Undo; undo != nil {
			j.Steps[i].Undo = func(ctx context.Context, r *Run) error { taken++; return undo(ctx, r) }
		}
	}
	var failed *report.StepError
	if err := j.Back(t.Context()); !errors.As(err, &failed) || !errors.Is(err, no) || failed.Step != first.Name || failed.At != "undo" {
		t.Errorf("Back: %v", err)
	}
	if after := states(); after != before || taken != 0 {
		t.Errorf("%d steps were taken back: %s, before: %s", taken, after, before)
	}
	// Rows come after the question.
	refused = nil
	first.Undo = func(context.Context, *Run) error { refused = no; return no }
	if err := j.Back(t.Context()); !errors.Is(err, no) {
		t.Errorf("Back: %v", err)
	}
	if err := j.Run(t.Context()); err != nil {
		t.Errorf("Run after a step that can't be taken back: %v", err)
	}
	if after := states(); after != before {
		t.Errorf("%s, before: %s", after, before)
	}
}

func fakeOnMariaDB(t *testing.T) *Job {
	s := dbtest.SharedMariaDB(t)
	return fake(t, sqldialect.MySQL, s.DSN(s.CreateDatabase(t)))
}

func TestAnotherPlan(t *testing.T) {
	j := fakeOnMariaDB(t)
	j.Until = "fill a"
	if err := j.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	j.Plan = `{"Tables":[{"Name":"a","Method":"alter"},{"Name":"b"}]}`
	var other *report.PlanError
	if err := j.Run(t.Context()); !errors.As(err, &other) {
		t.Fatal(err)
	}
	want := []string{`Tables[a].Method is missing there, and "alter" here`, `Tables[b].Name is missing there, and "b" here`}
	if !slices.Equal(other.Differences, want) {
		t.Errorf("%q", other.Differences)
	}
}

// A step that fails is done again, and a step that is not as it should be is verified again after it was done again.
func TestFailures(t *testing.T) {
	j := fakeOnMariaDB(t)
	do, verify := j.Steps[0].Do, j.Steps[0].Verify
	broken := errors.New("broken")
	var failed *report.StepError
	j.Steps[0].Do = func(context.Context, *Run) error { return broken }
	if err := j.Run(t.Context()); !errors.Is(err, broken) || !errors.As(err, &failed) || failed.At != "do" {
		t.Fatal(err)
	}
	j.Steps[0].Do = do
	j.Steps[0].Verify = func(context.Context, *Run) error { return broken }
	if err := j.Run(t.Context()); !errors.Is(err, broken) || !errors.As(err, &failed) || failed.At != "verify" {
		t.Fatal(err)
	}
	j.Steps[0].Verify = verify
	j.Until = "fill a"
	if err := j.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A run that is cancelled ends the statement that the server is at.
func TestCancel(t *testing.T) {
	each(t, func(t *testing.T, d sqldialect.Dialect, dsn string) {
		j := fake(t, d, dsn)
		sleep, count := "SELECT SLEEP(1000)", "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(1000)'"
		if d == sqldialect.Postgres {
			sleep, count = "SELECT pg_sleep(1000)", "SELECT COUNT(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(1000)' AND state = 'active'"
		}
		working := func() (n int) {
			if err := j.DB.QueryRowContext(t.Context(), count).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		ctx, cancel := context.WithCancel(t.Context())
		j.Steps[0].Do = func(ctx context.Context, r *Run) error {
			_, err := r.DB.ExecContext(ctx, sleep)
			return err
		}
		ended := make(chan error)
		go func() { ended <- j.Run(ctx) }()
		for working() == 0 {
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if working() != 0 {
			t.Error("the server still works on the statement")
		}
	})
}
