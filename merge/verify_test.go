//go:build unix

package merge_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Verify reads the sources and the target as they are now.
func TestVerify(t *testing.T) {
	f := newFixture(t, "", []string{
		"CREATE TABLE players (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, gold DOUBLE, note JSON)",
		"CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, player_id INT, FOREIGN KEY (player_id) REFERENCES players (id))",
	}, []string{
		"INSERT INTO players (name, gold, note) SELECT CONCAT('name ', seq), seq / 7, '{}' FROM seq_1_to_1000", "INSERT INTO items (player_id) SELECT 1 + seq * 7 % 1000 FROM seq_1_to_1000",
	})
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	clean, err := f.merge().Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range clean.Tables {
		if row.Rows != 1000 || row.Copied != 1000 || row.Rekeyed != 1000 || row.Hash == "" || row.Hash != row.Found {
			t.Errorf("got %+v", row)
		}
	}
	if len(clean.References) != 1 || clean.References[0].Checked != 1000 || clean.References[0].Orphans != 0 {
		t.Errorf("got %+v", clean.References)
	}
	source := f.sources[0].DB
	id := func(old string) string {
		return "(SELECT new_id FROM snow_merge_map WHERE old_id = " + old + " AND source_table = (SELECT source_table FROM snow_merge_source_tables WHERE tbl = 'players'))"
	}
	item := strings.Replace(id("500"), "'players'", "'items'", 1)
	for name, test := range map[string]struct {
		in       *sql.DB
		do, undo string
		want     report.Failure // but for the target's id; Reason is a part of it
	}{
		"case":           {f.target, "UPDATE players SET name = 'NAME 500' WHERE id = " + id("500"), "UPDATE players SET name = 'name 500' WHERE id = " + id("500"), report.Failure{Check: report.CheckRows, Table: "players", Column: "name", Row: "[500]", Reason: `want "name 500", got "NAME 500"`}},
		"space":          {f.target, "UPDATE players SET name = 'name 500 ' WHERE id = " + id("500"), "UPDATE players SET name = 'name 500' WHERE id = " + id("500"), report.Failure{Check: report.CheckRows, Table: "players", Column: "name", Row: "[500]", Reason: `got "name 500 "`}},
		"accent":         {f.target, "UPDATE players SET name = 'näme 500' WHERE id = " + id("500"), "UPDATE players SET name = 'name 500' WHERE id = " + id("500"), report.Failure{Check: report.CheckRows, Table: "players", Column: "name", Row: "[500]", Reason: `got "näme 500"`}},
		"NULL":           {f.target, "UPDATE players SET gold = NULL WHERE id = " + id("500"), "UPDATE players SET gold = 500 / 7 WHERE id = " + id("500"), report.Failure{Check: report.CheckRows, Table: "players", Column: "gold", Row: "[500]", Reason: `got NULL`}},
		"the last bit":   {f.target, "UPDATE players SET gold = gold * (1 + 2.3e-16) WHERE id = " + id("500"), "UPDATE players SET gold = 500 / 7 WHERE id = " + id("500"), report.Failure{Check: report.CheckRows, Table: "players", Column: "gold", Row: "[500]", Reason: `want 71.4`}},
		"no row":         {f.target, "DELETE FROM items WHERE id = " + item, "INSERT INTO items SELECT " + item + ", " + id("501"), report.Failure{Check: report.CheckRows, Table: "items", Row: "[500]", Reason: "missing"}},
		"reference":      {f.target, "UPDATE items SET player_id = " + id("502") + " WHERE id = " + item, "UPDATE items SET player_id = " + id("501") + " WHERE id = " + item, report.Failure{Check: report.CheckRows, Table: "items", Column: "player_id", Row: "[500]", Reason: "want "}},
		"source":         {source, "UPDATE players SET name = 'Name 500' WHERE id = 500", "UPDATE players SET name = 'name 500' WHERE id = 500", report.Failure{Check: report.CheckSource, Table: "players", Row: "[500]", Reason: "have changed since they were copied: there were 100 and are 100"}},
		"source less":    {source, "DELETE FROM items WHERE id = 500", "INSERT INTO items VALUES (500, 501)", report.Failure{Check: report.CheckSource, Table: "items", Row: "[500]", Reason: "there were 100 and are 99"}},
		"source more":    {source, "INSERT INTO items VALUES (-5, 501)", "DELETE FROM items WHERE id = -5", report.Failure{Check: report.CheckSource, Table: "items", Row: "[-5]", Reason: "the row is new"}},
		"source's end":   {source, "INSERT INTO items VALUES (1001, 501)", "DELETE FROM items WHERE id = 1001", report.Failure{Check: report.CheckSource, Table: "items", Row: "[1001]", Reason: "the row is new"}},
		"another row":    {source, "UPDATE items SET id = -5 WHERE id = 500", "UPDATE items SET id = 500 WHERE id = -5", report.Failure{Check: report.CheckSource, Table: "items", Row: "[-5]", Reason: "the row is new"}},
		"order":          {f.target, "", "", report.Failure{Check: report.CheckOrder, Table: "items", Row: "[500]", Reason: "not above"}},
		"a row too many": {f.target, "INSERT INTO items VALUES (-1, NULL)", "DELETE FROM items WHERE id = -1", report.Failure{Check: report.CheckRows, Table: "items", Reason: "1 rows are there that no source has"}},
	} {
		t.Run(name, func(t *testing.T) {
			do, undo := test.do, test.undo
			if name == "order" { // the row goes with its id, so that nothing else is wrong with it
				was := f.rows(f.target, "SELECT "+item)
				do = "UPDATE items, snow_merge_map SET items.id = 3, new_id = 3 WHERE items.id = " + was + " AND new_id = " + was
				undo = "UPDATE items, snow_merge_map SET items.id = " + was + ", new_id = " + was + " WHERE items.id = 3 AND new_id = 3"
			}
			f.exec(test.in, do)
			found, err := f.merge().Verify(t.Context())
			f.exec(test.in, undo)
			if err != nil {
				t.Fatal(err)
			}
			if test.want.Source = "s1"; name == "a row too many" {
				test.want.Source = ""
			}
			if !slices.ContainsFunc(found.Failures, func(got report.Failure) bool {
				found := strings.Contains(got.Reason, test.want.Reason)
				got.Target, got.Reason = "", test.want.Reason
				return found && got == test.want
			}) {
				t.Errorf("got %v\nwant %v", found.Failures, test.want)
			}
			if found, err = f.merge().Verify(t.Context()); err != nil || found.Err() != nil {
				t.Fatalf("after it is undone: got %v, %v", err, found.Err())
			}
		})
	}
}

// Verify finds new ids that are out of order or out of their range, and a map that says more than the rows.
func TestVerifyIDs(t *testing.T) {
	f := newFixture(t, "", []string{"CREATE TABLE orders (id INT PRIMARY KEY, created_at DATETIME, note VARCHAR(9))"}, []string{
		"INSERT INTO orders SELECT seq * 2, TIMESTAMPADD(MINUTE, seq, '2024-05-01'), seq FROM seq_1_to_3000",
	})
	f.plan.Tables[0].Created = "created_at"
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	id := func(old string) string {
		return f.rows(f.target, "SELECT new_id FROM snow_merge_map WHERE old_id = "+old)
	}
	move := func(to string) [2]string { // with its row, so that nothing else is wrong
		was := id("1000")
		to = f.rows(f.target, "SELECT "+to)
		return [2]string{
			"UPDATE orders, snow_merge_map SET orders.id = " + to + ", new_id = " + to + " WHERE orders.id = " + was + " AND new_id = " + was,
			"UPDATE orders, snow_merge_map SET orders.id = " + was + ", new_id = " + was + " WHERE orders.id = " + to + " AND new_id = " + to,
		}
	}
	for name, test := range map[string]struct {
		do    [2]string // and undo
		check report.Check
		row   string
		text  string
	}{
		"order":           {move(id("996") + " + 1"), report.CheckOrder, "[1000]", "not above"},
		"another worker":  {move(id("1000") + " + 4096"), report.CheckMap, "[1000]", "not one of those that were reserved"},
		"below the range": {move("7"), report.CheckMap, "[1000]", "not one of those that were reserved"},
		"a value":         {[2]string{"UPDATE orders SET note = 'x' WHERE note = '500'", "UPDATE orders SET note = '500' WHERE note = 'x'"}, report.CheckRows, "[1000]", `got "x"`},
		"no row of the source": {[2]string{
			"INSERT INTO snow_merge_map SELECT source_table, 1001, 3, 1 FROM snow_merge_source_tables", "DELETE FROM snow_merge_map WHERE old_id = 1001",
		}, report.CheckMap, "", "1 rows are merged"},
		"after the last row": {[2]string{
			"INSERT INTO snow_merge_map SELECT source_table, 9001, 3, 0 FROM snow_merge_source_tables", "DELETE FROM snow_merge_map WHERE old_id = 9001",
		}, report.CheckMap, "", "3001 rows have a new id"},
	} {
		t.Run(name, func(t *testing.T) {
			f.exec(f.target, test.do[0])
			found, err := f.merge().Verify(t.Context())
			f.exec(f.target, test.do[1])
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(found.Failures, func(got report.Failure) bool {
				return got.Check == test.check && got.Row == test.row && strings.Contains(got.Reason, test.text)
			}) {
				t.Errorf("got %v, want %s at %s: %s", found.Failures, test.check, test.row, test.text)
			}
			if found, err = f.merge().Verify(t.Context()); err != nil || found.Err() != nil || found.Tables[0].Hash != found.Tables[0].Found {
				t.Fatalf("after it is undone: got %v, %v", err, found.Err())
			}
		})
	}
}

// A number that is not the row's own is found, also where it is free and in its place.
func TestVerifyNumbers(t *testing.T) {
	for kind, to := range map[plan.IDs]string{plan.IDsDense: "5000", plan.IDsOffset: "301"} {
		f := newFixture(t, "", []string{"CREATE TABLE orders (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY)"}, []string{"INSERT INTO orders SELECT seq * 3 FROM seq_1_to_1000"})
		f.plan.Table("orders").IDs = kind
		f.tables()
		if err := f.run(); err != nil {
			t.Fatal(err)
		}
		f.exec(f.target, "UPDATE orders, snow_merge_map SET orders.id = "+to+", new_id = "+to+" WHERE old_id = 300 AND orders.id = new_id")
		found, err := f.merge().Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(found.Failures, func(got report.Failure) bool {
			return got.Check == report.CheckMap && got.Row == "[300]" && got.Target == "["+to+"]" && strings.Contains(got.Reason, "not one of those that were reserved")
		}) {
			t.Errorf("%s: got %v", kind, found.Failures)
		}
	}
}

// Verify finds values of all types that differ, however alike they look.
func TestVerifyValues(t *testing.T) {
	f := newFixture(t, "", []string{
		`CREATE TABLE kinds (id INT AUTO_INCREMENT PRIMARY KEY, created_at DATETIME NOT NULL DEFAULT '2024-05-01', n INT, z INT(5) ZEROFILL NOT NULL DEFAULT 7,
		a VARCHAR(40), b VARCHAR(40) NOT NULL DEFAULT '', la VARCHAR(20) CHARACTER SET latin1, vb VARBINARY(20), bl BLOB NOT NULL DEFAULT (''), de DECIMAL(20,4), bi BIT(20) NOT NULL DEFAULT 44,
		yr YEAR, da DATE, ts TIMESTAMP(3) NULL, tm TIME(2), ch CHAR(5), tx TEXT, en ENUM('x', '-', 'it''s'), st SET('a','b'), js TEXT) CHARACTER SET utf8mb4`,
	}, []string{
		"SET SESSION sql_mode = ''",
		`INSERT INTO kinds (n, a, b, la, vb, bl, de, yr, da, ts, tm, ch, tx, en, st, js) VALUES
		(1, 'x', 'y', 'é', x'00ff2c', ';', 1.5, 0, '0000-00-00', '2024-05-01 10:00:00.123', '-10:00:00.25', 'a', '1:x,1:y', 'it''s', 'a,b', '{"a": [1, 2]}'),
		(2, NULL, '-', NULL, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
		(NULL, '-', '', '-', '-', '-', -0.0001, 2024, '2024-02-29', NULL, '00:00:00', '', '-', '-', '', '[]'),
		(-1, '', ',-,1:x', '', '', '/', 0, 1901, '2024-02-29', NULL, '838:59:59', '-', ';1;/2/', 'x', 'a', 'null')`,
		"INSERT INTO kinds (n, a) SELECT seq, REPEAT('ü', seq) FROM seq_1_to_40",
	})
	f.plan.Tables[0].Created, f.config.PackRows = "created_at", 1
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	f.wantPacks(true)
	ids := strings.Fields(f.rows(f.target, "SELECT id FROM kinds ORDER BY id LIMIT 2"))
	f.exec(f.target, "SET SESSION sql_mode = ''", "CREATE TABLE was AS SELECT * FROM kinds")
	var same []string
	for _, name := range strings.Fields("created_at n z a b la vb bl de bi yr da ts tm ch tx en st js") {
		same = append(same, "CAST(kinds."+name+" AS BINARY) <=> CAST(was."+name+" AS BINARY)")
	}
	differs := "SELECT NOT (" + strings.Join(same, " AND ") + ") FROM kinds JOIN was USING (id) WHERE id = "
	for _, set := range []string{
		"n = -1", "n = NULL", "z = 8", "a = NULL", "a = '-'", "a = 'X'", "a = 'x '", "a = 'x,1:'", "a = ''", "b = ''", "b = '-'", "b = 'Y'", "b = 'y;'", "la = 'e'", "la = NULL", "vb = x'00ff'", "vb = '-'",
		"vb = x'00ff2c00'", "bl = ''", "bl = ','", "de = 1.4999", "de = 0", "bi = 45", "yr = 1901", "yr = NULL", "da = NULL", "da = '2024-03-01'", "ts = '2024-05-01 10:00:00.124'", "ts = NULL",
		"tm = '10:00:00.25'", "ch = 'A'", "ch = NULL", "tx = '1:x,1:Y'", "tx = NULL", "tx = '-'", "en = 'x'", "en = '-'", "st = 'a'", "st = ''", "st = NULL", `js = '{"a": [1, 3]}'`, "js = NULL",
		"a = 'x', b = 'y,'", "a = 'x,1:y', b = ''", "created_at = '2024-05-01 00:00:01'",
	} {
		for _, id := range ids {
			f.exec(f.target, "SET SESSION sql_mode = ''", "UPDATE kinds SET "+set+" WHERE id = "+id)
			changed := f.rows(f.target, differs+id) == "1"
			report, err := f.merge().Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if failed := report.Err() != nil; failed != changed {
				t.Errorf("row %s, %s: got %v, want an error: %t", id, set, report.Err(), changed)
			}
			f.exec(f.target, "SET SESSION sql_mode = ''", "REPLACE INTO kinds SELECT * FROM was WHERE id = "+id)
		}
	}
	if report, err := f.merge().Verify(t.Context()); err != nil || report.Err() != nil {
		t.Errorf("after all is undone: got %v, %v", err, report.Err())
	}
}
