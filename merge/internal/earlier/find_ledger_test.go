//go:build unix

package earlier

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/roomtest"
	"github.com/shardsnow/snow/merge/report"
)

// A source has an earlier merge if its ledger has one that copied rows. A merge that was to make the source and has not
// ended is refused, and one that has copied nothing yet does not count.
func TestFind(t *testing.T) {
	f := roomtest.New(t, []string{"CREATE TABLE players (id INT PRIMARY KEY)", "CREATE TABLE items (id INT PRIMARY KEY)"}, nil)
	conns := f.Conns()
	find := func() (string, error) {
		all, err := Find(t.Context(), f.Job(), conns, "s1")
		var found []string
		for _, t := range all {
			found = append(found, fmt.Sprintf("%s.%s:%s", t.Path, t.Table, t.IDs))
		}
		return strings.Join(found, " "), err
	}
	if got, err := find(); err != nil || got != "" {
		t.Errorf("without a ledger: got %q, %v", got, err)
	}
	source := f.Sources["s1"]
	if err := (ledger.Ledger{Engine: f.Engine, Q: source}).Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := find(); err != nil || got != "" {
		t.Errorf("with an empty ledger: got %q, %v", got, err)
	}
	f.Exec(source, `INSERT INTO snow_merge_runs VALUES ('r', '{"sources": ["eu"], "tables": []}', '{}', 'running', 'copy', 1, 0)`,
		"INSERT INTO snow_merge_source_tables (source_table, run, source, tbl, ids) VALUES (1, 'r', 'eu', 'players', 'dense'), (2, 'r', 'eu', 'items', NULL), (3, 'r', 'eu', 'gone', NULL)",
		"INSERT INTO snow_merge_earlier VALUES (8, 'r', 'eu/older', 'players', 1, 5, 'new'), (9, 'r', 'eu/older/oldest', 'players', 8, 6, 'kept'), (10, 'r', 'eu/older', 'gone', 3, 7, 'kept')")
	const all = "s1/eu.players:new s1/eu.items:kept s1/eu/older.players:new s1/eu/older/oldest.players:kept"
	for _, test := range []struct {
		name, state, phase string
		want               string
		err                error
	}{
		{"which rows go is not decided", ledger.StateRunning, ledger.PhaseChoose, "", nil},
		{"new ids are not decided", ledger.StateRunning, ledger.PhaseMint, "", nil},
		{"rows are being copied", ledger.StateRunning, ledger.PhaseCopy, "", report.ErrUnfinished},
		{"references are being set", ledger.StateRunning, ledger.PhaseLink, "", report.ErrUnfinished},
		{"all rows are copied", ledger.StateCopied, ledger.PhaseVerify, all, nil},
	} {
		f.Exec(source, "UPDATE snow_merge_runs SET state = '"+test.state+"', phase = '"+test.phase+"'")
		if got, err := find(); !errors.Is(err, test.err) || got != test.want {
			t.Errorf("%s: got %q, %v, want %q, %v", test.name, got, err, test.want, test.err)
		}
	}
	f.Plan.Table("players").Skip = true
	if got, err := find(); err != nil || got != "s1/eu.items:kept" {
		t.Errorf("of tables that are not merged: got %q, %v", got, err)
	}
}
