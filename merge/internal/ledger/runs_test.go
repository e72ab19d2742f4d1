//go:build unix

package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// execute runs statements.
func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), dbtest.Sequences(text)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// ledgerRun writes a run with one table of one source, and what it has copied of it.
func ledgerRun(t *testing.T, db *sql.DB, run, state, phase string, began, table int, source, name string, written int) {
	t.Helper()
	execute(t, db,
		fmt.Sprintf("INSERT INTO snow_merge_runs VALUES ('%s', '{}', '{}', '%s', '%s', %d, 0)", run, state, phase, began),
		fmt.Sprintf("INSERT INTO snow_merge_source_tables (source_table, run, source, tbl) VALUES (%d, '%s', '%s', '%s')", table, run, source, name),
		fmt.Sprintf("INSERT INTO snow_merge_chunks VALUES (%d, 'mint', 1, NULL, '[9]', %d, 0, 0, 0, 0, REPEAT('0', 32), 0, 0, 1), (%d, 'copy', 1, NULL, '[9]', %d, %d, 0, 0, 0, REPEAT('0', 32), 0, 0, 1)",
			table, written+1, table, written+1, written),
	)
}

// Rows of runs that began with a run or after it are not its own, and rows of runs before it are.
func TestWrittenLater(t *testing.T) {
	db, s, _ := leased(t)
	ledgerRun(t, db, "first", StateCopied, PhaseVerify, 100, 1, "s1", "players", 5)
	ledgerRun(t, db, "second", StateCopied, PhaseVerify, 200, 2, "s2", "players", 7)
	ledgerRun(t, db, "twin", StateCopied, PhaseVerify, 200, 3, "s3", "players", 11) // in the same microsecond
	ledgerRun(t, db, "third", StateRunning, PhaseCopy, 300, 4, "s4", "items", 13)
	for run, want := range map[string]map[string]int64{
		"first": {"players": 18, "items": 13}, "second": {"players": 11, "items": 13}, "twin": {"players": 7, "items": 13}, "third": {},
	} {
		got, err := Of(s).WrittenLater(t.Context(), &Run{ID: run})
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("after %s: got %v, %v, want %v", run, got, err, want)
		}
	}
}

// A plan that has copied nothing may be forgotten. One that has begun to copy is in the way of others until it ends, and
// its tables are never merged again.
func TestAbandonedAndMerged(t *testing.T) {
	db, s, _ := leased(t)
	players := &plan.Plan{Sources: []string{"s1"}, Tables: []*plan.Table{{Name: "players"}}}
	for _, test := range []struct {
		state, phase string
		others       []string
		abandoned    error
		merged       error
	}{
		{StateRunning, PhaseChoose, []string{"other"}, nil, nil},
		{StateRunning, PhaseMint, []string{"other"}, nil, nil},
		{StateRunning, PhaseCopy, nil, report.ErrUnfinished, report.ErrMerged},
		{StateRunning, PhaseLink, nil, report.ErrUnfinished, report.ErrMerged},
		{StateCopied, PhaseVerify, nil, nil, report.ErrMerged},
	} {
		execute(t, db, "DELETE FROM snow_merge_runs", "DELETE FROM snow_merge_source_tables", "DELETE FROM snow_merge_chunks")
		ledgerRun(t, db, "other", test.state, test.phase, 100, 1, "s1", "players", 5)
		others, err := Of(s).Abandoned(t.Context(), "own")
		if !errors.Is(err, test.abandoned) || err == nil && !slices.Equal(others, test.others) {
			t.Errorf("%s, %s: abandoned: got %v, %v, want %v, %v", test.state, test.phase, others, err, test.others, test.abandoned)
		}
		if others, err := Of(s).Abandoned(t.Context(), "other"); err != nil || len(others) > 0 {
			t.Errorf("%s, %s: abandoned but for itself: got %v, %v", test.state, test.phase, others, err)
		}
		if err := Of(s).CheckMerged(t.Context(), players); !errors.Is(err, test.merged) {
			t.Errorf("%s, %s: merged: got %v, want %v", test.state, test.phase, err, test.merged)
		}
		for name, p := range map[string]*plan.Plan{
			"another source":      {Sources: []string{"s2"}, Tables: []*plan.Table{{Name: "players"}}},
			"another table":       {Sources: []string{"s1"}, Tables: []*plan.Table{{Name: "items"}}},
			"a skipped table":     {Sources: []string{"s1"}, Tables: []*plan.Table{{Name: "players", Skip: true}}},
			"of the other source": {Sources: []string{"s1", "s2"}, Tables: []*plan.Table{{Name: "players", Sources: []string{"s2"}}}},
		} {
			if err := Of(s).CheckMerged(t.Context(), p); err != nil {
				t.Errorf("%s, %s: merged: %s: got %v", test.state, test.phase, name, err)
			}
		}
	}
}

// Forgetting a run leaves nothing of it, and all of the others.
func TestForgetting(t *testing.T) {
	db, s, _ := leased(t)
	ledgerRun(t, db, "first", StateCopied, PhaseVerify, 100, 1, "s1", "players", 5)
	ledgerRun(t, db, "second", StateRunning, PhaseMint, 200, 2, "s2", "players", 7)
	for _, table := range []string{"1", "2"} {
		execute(t, db, "INSERT INTO snow_merge_map VALUES ("+table+", 1, 2, 0)", "INSERT INTO snow_merge_packs VALUES ("+table+", 1, 1, 1, '', '2')",
			"INSERT INTO snow_merge_changes VALUES ("+table+", 'x', 'name', 'renamed', 1, 'a', 'b')")
	}
	for _, text := range Forgetting() {
		if _, err := s.ExecContext(t.Context(), s.Engine.SQL(text), "second"); err != nil {
			t.Fatal(err)
		}
	}
	for table, column := range map[string]string{
		"snow_merge_runs": "run", "snow_merge_source_tables": "run", "snow_merge_map": "source_table", "snow_merge_packs": "source_table",
		"snow_merge_changes": "source_table", "snow_merge_chunks": "source_table",
	} {
		var got string
		if err := db.QueryRowContext(t.Context(), "SELECT GROUP_CONCAT(DISTINCT "+column+") FROM "+table).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"run": "first", "source_table": "1"}[column]; got != want {
			t.Errorf("%s: got %s, want %s", table, got, want)
		}
	}
	if next, err := Of(s).NextSourceTable(t.Context()); err != nil || next != 2 {
		t.Errorf("the next number: got %d, %v, want 2", next, err)
	}
}
