//go:build unix

package verify_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/roomtest"
	"github.com/shardsnow/snow/merge/internal/steps"
	"github.com/shardsnow/snow/merge/internal/verify"
	"github.com/shardsnow/snow/merge/report"
)

// Whatever is done to a source or to the target after a run, verification names the row and says what is wrong.
func TestVerify(t *testing.T) {
	f := roomtest.New(t, []string{
		"CREATE TABLE players (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, gold DOUBLE)",
		"CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, player_id INT, FOREIGN KEY (player_id) REFERENCES players (id))",
		"CREATE TABLE logs (note VARCHAR(20), player_id INT, FOREIGN KEY (player_id) REFERENCES players (id))",
	}, []string{
		"INSERT INTO players (name, gold) SELECT CONCAT('name ', seq), seq / 7 FROM seq_1_to_50", "INSERT INTO items (player_id) SELECT 1 + seq * 7 % 50 FROM seq_1_to_40",
		"INSERT INTO logs VALUES ('here', 1), ('here', 1), ('there', 2)",
	}, []string{"INSERT INTO players (id, name) VALUES (7, 'last')", "INSERT INTO logs VALUES ('here', 7)"})
	if err := steps.Run(t.Context(), f.Job()); err != nil {
		t.Fatal(err)
	}
	check := func() *report.Report {
		t.Helper()
		found, err := verify.Verify(t.Context(), f.Job())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	clean := check()
	for _, row := range clean.Tables {
		if row.Rows != row.Copied || row.Rekeyed != row.Rows && row.Table != "logs" || row.Hash == "" || row.Hash != row.Found {
			t.Errorf("nothing is wrong: got %+v", row)
		}
	}
	if clean.Failed > 0 || len(clean.References) != 2 || clean.References[0].Checked == 0 || clean.References[0].Orphans != 0 {
		t.Errorf("nothing is wrong: got %+v", clean)
	}
	source, other, target := f.Sources["s1"], f.Sources["s2"], f.Target
	at := func(table, old string) string {
		return "(SELECT new_id FROM snow_merge_map WHERE old_id = " + old + " AND source_table = (SELECT source_table FROM snow_merge_source_tables WHERE source = 's1' AND tbl = '" + table + "'))"
	}
	player, item := "id = "+at("players", "30"), f.Rows(target, "SELECT "+at("items", "30"))
	for _, test := range []struct {
		name     string
		in       *sql.DB
		do, undo string
		check    report.Check
		where    string // source table row column
		reason   string
	}{
		{"another letter", target, "UPDATE players SET name = 'NAME 30' WHERE " + player, "UPDATE players SET name = 'name 30' WHERE " + player, report.CheckRows, "s1 players [30] name", `want "name 30", got "NAME 30"`},
		{"an accent", target, "UPDATE players SET name = 'näme 30' WHERE " + player, "UPDATE players SET name = 'name 30' WHERE " + player, report.CheckRows, "s1 players [30] name", `got "näme 30"`},
		{"a space", target, "UPDATE players SET name = 'name 30 ' WHERE " + player, "UPDATE players SET name = 'name 30' WHERE " + player, report.CheckRows, "s1 players [30] name", `got "name 30 "`},
		{"NULL", target, "UPDATE players SET gold = NULL WHERE " + player, "UPDATE players SET gold = 30 / 7 WHERE " + player, report.CheckRows, "s1 players [30] gold", "got NULL"},
		{"the last bit", target, "UPDATE players SET gold = gold * (1 + 2.3e-16) WHERE " + player, "UPDATE players SET gold = 30 / 7 WHERE " + player, report.CheckRows, "s1 players [30] gold", "want "},
		{"no row", target, "DELETE FROM items WHERE id = " + item, "INSERT INTO items SELECT " + item + ", " + at("players", "11"), report.CheckRows, "s1 items [30] ", "the row is missing"},
		{"another reference", target, "UPDATE items SET player_id = " + at("players", "12") + " WHERE id = " + item, "UPDATE items SET player_id = " + at("players", "11") + " WHERE id = " + item, report.CheckRows, "s1 items [30] player_id", "want "},
		{"a row too many", target, "INSERT INTO items VALUES (-1, NULL)", "DELETE FROM items WHERE id = -1", report.CheckRows, " items  ", "1 rows are there that no source has"},
		{"one of two equal rows", target, "DELETE FROM logs WHERE note = 'here' AND player_id = " + at("players", "1") + " LIMIT 1", "INSERT INTO logs SELECT 'here', " + at("players", "1"), report.CheckRows, "s1 logs", "the row is missing, or one of several equal ones"},
		{"one more of two equal rows", target, "INSERT INTO logs SELECT 'here', " + at("players", "1"), "DELETE FROM logs WHERE note = 'here' AND player_id = " + at("players", "1") + " LIMIT 1", report.CheckRows, " logs  ", "1 rows are there that no source has"},
		{"another value in the source", source, "UPDATE players SET name = 'Name 30' WHERE id = 30", "UPDATE players SET name = 'name 30' WHERE id = 30", report.CheckSource, "s1 players [50] ", "have changed since they were copied"},
		{"fewer rows in the source", source, "DELETE FROM items WHERE id = 30", "INSERT INTO items VALUES (30, 11)", report.CheckSource, "s1 items [40] ", "there were 40 and are 39"},
		{"a row before all in the source", source, "INSERT INTO items VALUES (-5, 11)", "DELETE FROM items WHERE id = -5", report.CheckSource, "s1 items [-5] ", "the row is new since the run began"},
		{"a row after all in the source", source, "INSERT INTO items VALUES (41, 11)", "DELETE FROM items WHERE id = 41", report.CheckSource, "s1 items [41] ", "the row is new since the run began"},
		{"a row in an empty table of a source", other, "INSERT INTO items VALUES (1, 7)", "DELETE FROM items", report.CheckSource, "s2 items  ", "the source has 1 rows, and 0 of them were read"},
		{
			"two ids in the wrong order", target, "UPDATE items, snow_merge_map SET items.id = 0, new_id = 0 WHERE items.id = " + item + " AND new_id = " + item,
			"UPDATE items, snow_merge_map SET items.id = " + item + ", new_id = " + item + " WHERE items.id = 0 AND new_id = 0", report.CheckOrder, "s1 items [30] ", "its id is not above that of the row before",
		},
		{
			"an id out of the run's range", target, "UPDATE items, snow_merge_map SET items.id = 90, new_id = 90 WHERE items.id = " + item + " AND new_id = " + item,
			"UPDATE items, snow_merge_map SET items.id = " + item + ", new_id = " + item + " WHERE items.id = 90 AND new_id = 90", report.CheckMap, "s1 items [30] ", "its id is not one of those that were reserved",
		},
		{"a row of the map that no source has", target, "INSERT INTO snow_merge_map SELECT MIN(source_table), 90, 90, 0 FROM snow_merge_map", "DELETE FROM snow_merge_map WHERE old_id = 90", report.CheckMap, "s1 ", "rows have a new id, but the source has"},
		{"a row of the map that is merged into none", target, "INSERT INTO snow_merge_map SELECT MIN(source_table), 90, 90, 1 FROM snow_merge_map", "DELETE FROM snow_merge_map WHERE old_id = 90", report.CheckMap, "s1 ", "the row that it was merged into is missing"},
		{"a row of the map that is dropped", target, "INSERT INTO snow_merge_map SELECT MIN(source_table), 90, NULL, 2 FROM snow_merge_map", "DELETE FROM snow_merge_map WHERE old_id = 90", report.CheckMap, "s1 ", "1 rows are dropped, but the source has 0"},
		{"a chunk that was not copied", target, "UPDATE snow_merge_chunks SET phase = 'lost' WHERE phase = 'copy' AND rows_read = 40", "UPDATE snow_merge_chunks SET phase = 'copy' WHERE phase = 'lost'", report.CheckComplete, "s1 items [40] ", "the rows up to this one are not copied"},
		{"a chunk that the ledger has lost", target, "UPDATE snow_merge_chunks SET seq = 3 WHERE rows_read = 40", "UPDATE snow_merge_chunks SET seq = 1 WHERE seq = 3", report.CheckComplete, "s1 items [40] ", "the ledger has lost the rows before those up to this one"},
		{"a run that has not ended", target, "UPDATE snow_merge_runs SET state = 'running', phase = 'link'", "UPDATE snow_merge_runs SET state = 'copied', phase = 'verify'", report.CheckComplete, "   ", "it is in phase link"},
	} {
		f.Exec(test.in, test.do)
		found := check()
		f.Exec(test.in, test.undo)
		if !slices.ContainsFunc(found.Failures, func(got report.Failure) bool {
			where := got.Source + " " + got.Table + " " + got.Row + " " + got.Column
			return got.Check == test.check && strings.HasPrefix(where, test.where) && strings.Contains(got.Reason, test.reason)
		}) {
			t.Errorf("%s: got %v\nwant %s at %q: %s", test.name, found.Failures, test.check, test.where, test.reason)
		}
		if found := check(); found.Failed > 0 {
			t.Fatalf("%s, after it is undone: got %v", test.name, found.Failures)
		}
	}
}
