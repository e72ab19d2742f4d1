//go:build unix

package steps

import (
	"errors"
	"testing"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/roomtest"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// minted returns a run of a job whose phase mint is over, and what writes for it.
func minted(t *testing.T, f *roomtest.Fixture) *work.Writer {
	t.Helper()
	j := f.Job()
	w := &work.Writer{Job: j}
	s := &start{Job: j, keys: map[string]*plan.Column{}}
	if err := s.reserve(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Conns = f.Conns()
	_, lease, err := ledger.TakeLease(t.Context(), w.Conns.Target, nil, w.ID, w.Holder, w.LeaseTime)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lease.Release)
	w.Lease = lease
	if w.Run, err = s.begin(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if err := mint(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	return w
}

// A source that changes after phase mint is found, by the first row whose chunk is not as it was, whether its rows have
// new ids, in rows of the map or in packs, or keep theirs. Nothing of such a chunk is copied.
func TestChangedSources(t *testing.T) {
	for _, how := range []string{"map", "packs", "kept"} {
		f := roomtest.New(t, []string{"CREATE TABLE items (id INT PRIMARY KEY, note VARCHAR(9))"}, []string{"INSERT INTO items SELECT seq, 'x' FROM seq_1_to_300"})
		if how == "kept" {
			f.Plan.Table("items").NewIDs, f.Plan.Table("items").IDs = nil, ""
		}
		f.Job().ChunkRows = 100
		if how == "packs" {
			f.Job().PackRows = 1
		}
		w := minted(t, f)
		table := w.Run.Tables[0]
		var err error
		if table.Changed, err = ledger.Of(w.Conns.Target).HasChanges(t.Context(), table); err != nil {
			t.Fatal(err)
		}
		chunks, err := ledger.Of(w.Conns.Target).Chunks(t.Context(), table, ledger.PhaseMint, 0, 9)
		if err != nil || len(chunks) != 3 {
			t.Fatalf("got %d chunks, %v, want 3", len(chunks), err)
		}
		if got := f.Rows(f.Target, "SELECT (SELECT COUNT(*) FROM snow_merge_map), (SELECT COUNT(*) FROM snow_merge_packs)"); got != map[string]string{"map": "300 0", "packs": "0 3", "kept": "0 0"}[how] {
			t.Fatalf("%s: rows of the map and packs: got %s", how, got)
		}
		source := f.Sources["s1"]
		for _, test := range []struct {
			name, do, undo string
			chunks         []ledger.Chunk
			row            string // empty if nothing is wrong
		}{
			{"nothing", "SELECT 1", "SELECT 1", chunks, ""},
			{"another value, which the copy has", "UPDATE items SET note = 'y' WHERE id = 150", "UPDATE items SET note = 'x' WHERE id = 150", chunks, ""},
			{"a row less", "DELETE FROM items WHERE id = 150", "INSERT INTO items VALUES (150, 'x')", chunks[1:2], "[200]"},
			{"a row less, in the last of several", "DELETE FROM items WHERE id = 250", "INSERT INTO items VALUES (250, 'x')", chunks, "[300]"},
			{"a row before all", "INSERT INTO items VALUES (-1, 'x')", "DELETE FROM items WHERE id = -1", chunks, "[300]"},
			{"a row before all, in the first", "INSERT INTO items VALUES (-1, 'x')", "DELETE FROM items WHERE id = -1", chunks[:1], "[100]"},
			{"a row after all", "INSERT INTO items VALUES (301, 'x')", "DELETE FROM items WHERE id = 301", chunks[2:], "[300]"},
			{"a row after all, and other chunks before", "INSERT INTO items VALUES (301, 'x')", "DELETE FROM items WHERE id = 301", chunks, "[300]"},
			{"a row with another id at the end of a chunk", "UPDATE items SET id = 0 WHERE id = 100", "UPDATE items SET id = 100 WHERE id = 0", chunks[:1], "[100]"},
			{"the last rows of a chunk less", "DELETE FROM items WHERE id IN (150, 199, 200)", "INSERT INTO items VALUES (150, 'x'), (199, 'x'), (200, 'x')", chunks[1:2], "[200]"},
			{"rows of two chunks, as many as there were", "UPDATE items SET id = 0 WHERE id = 150", "UPDATE items SET id = 150 WHERE id = 0", chunks, "[100]"},
		} {
			f.Exec(source, test.do)
			c, err := newCopier(t.Context(), w, table, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.last = 3
			_, err = c.copy(t.Context(), test.chunks)
			c.insert.Close()
			f.Exec(source, test.undo)
			var changed *report.ChangedError
			switch {
			case test.row == "" && err != nil:
				t.Errorf("%s, %s: got %v", how, test.name, err)
			case test.row != "" && (!errors.As(err, &changed) || changed.Source != "s1" || changed.Table != "items" || changed.Row != test.row):
				t.Errorf("%s, %s: got %v, want a ChangedError of row %s", how, test.name, err, test.row)
			case test.row != "" && f.Rows(f.Target, "SELECT COUNT(*) FROM items") != "0":
				t.Fatalf("%s, %s: rows were copied", how, test.name)
			}
			f.Exec(f.Target, "DELETE FROM items", "DELETE FROM snow_merge_chunks WHERE phase = 'copy'")
		}
	}
}

// A row that the target refuses is named, and the rows beside it are not copied either.
func TestRefusedRow(t *testing.T) {
	f := roomtest.New(t, []string{"CREATE TABLE items (id INT PRIMARY KEY, kind VARCHAR(20))"}, []string{"INSERT INTO items SELECT seq, IF(seq = 77, 'crossbow', 'bow') FROM seq_1_to_100"})
	f.Plan.Table("items").Column("kind").Type = "varchar(6)"
	var refused *report.RowError
	if err := Run(t.Context(), f.Job()); !errors.As(err, &refused) || refused.Row != "[77]" || refused.Table != "items" || refused.Source != "s1" || !errors.As(err, new(*sqlsnow.DatabaseError)) {
		t.Fatalf("got %v, want a RowError of row [77]", err)
	}
	if got := f.Rows(f.Target, "SELECT COUNT(*) FROM items"); got != "0" {
		t.Errorf("%s rows were copied", got)
	}
	f.Exec(f.Target, "ALTER TABLE items MODIFY kind VARCHAR(20)")
	if err := Run(t.Context(), f.Job()); err != nil {
		t.Errorf("after the column was widened: %v", err)
	}
	if got := f.Rows(f.Target, "SELECT COUNT(*), MIN(id), MAX(id) FROM items"); got != "100 1 100" {
		t.Errorf("got %s", got)
	}
}
