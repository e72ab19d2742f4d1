//go:build unix

package steps

import (
	"errors"
	"testing"

	"github.com/shardsnow/snow/merge/internal/roomtest"
	"github.com/shardsnow/snow/merge/report"
)

// Each statement for the target runs once. One that failed runs again, and one whose process died runs again only where
// the database has undone it.
func TestAfter(t *testing.T) {
	f := roomtest.New(t, []string{"CREATE TABLE items (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0)"}, []string{"INSERT INTO items (id) VALUES (1), (2)"})
	f.Plan.After = []string{"UPDATE items SET n = n + 1", "UPDATE items SET n = n * 10", "ALTER TABLE items COMMENT 'merged'"}
	if err := Run(t.Context(), f.Job()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		do    string
		fails bool
		kind  error  // of the error; nil if it has no kind of its own
		n     string // in the target
		state string // of the statements
	}{
		{"all of them", "SELECT 1", false, nil, "10 10", "done done done done"},
		{"once more: all are done", "SELECT 1", false, nil, "10 10", "done done done done"},
		{"the second one was begun, and undone", "UPDATE snow_merge_after SET state = 'begun' WHERE n = 2", false, nil, "100 100", "done done done done"},
		{"the second one was never begun", "DELETE FROM snow_merge_after WHERE n = 2", false, nil, "1000 1000", "done done done done"},
		{"the third one was begun, and nobody knows how far it is", "UPDATE snow_merge_after SET state = 'begun' WHERE n = 3", true, report.ErrMayHaveRun, "1000 1000", "done done done begun"},
		{"another one ran in place of the first", "UPDATE snow_merge_after SET statement = 'SELECT 1' WHERE n = 1", true, nil, "1000 1000", "done done done begun"},
	} {
		f.Exec(f.Target, test.do)
		err := After(t.Context(), f.Job(), &report.Report{})
		if failed := new(report.StatementError); (err != nil) != test.fails || err != nil && !errors.As(err, &failed) || test.kind != nil && !errors.Is(err, test.kind) {
			t.Errorf("%s: got %v, want an error: %t, %v", test.name, err, test.fails, test.kind)
		}
		if got := f.Rows(f.Target, "SELECT GROUP_CONCAT(n SEPARATOR ' ') FROM items"); got != test.n {
			t.Errorf("%s: got %s, want %s", test.name, got, test.n)
		}
		if got := f.Rows(f.Target, "SELECT GROUP_CONCAT(state ORDER BY n SEPARATOR ' ') FROM snow_merge_after"); got != test.state {
			t.Errorf("%s: got %s, want %s", test.name, got, test.state)
		}
	}
}
