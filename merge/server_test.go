//go:build unix

package merge_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// byServer returns the tables that the server copied itself, and by those that
// rows of were read for that.
func (f *fixture) byServer() (direct, read string) {
	f.Helper()
	const text = `SELECT DISTINCT tbl FROM snow_merge_chunks JOIN snow_merge_source_tables USING (source_table) WHERE phase = 'copy' AND (hash = REPEAT('0', 32)) = `
	return strings.ReplaceAll(f.rows(f.target, text+"1 ORDER BY tbl"), "\n", " "), strings.ReplaceAll(f.rows(f.target, text+"0 ORDER BY tbl"), "\n", " ")
}

func (f *fixture) wantByServer(direct, read string) {
	f.Helper()
	if d, r := f.byServer(); d != direct || r != read {
		f.Errorf("the server copied %q, and %q were read; want %q and %q", d, r, direct, read)
	}
}

// Values of the types that the server copies itself arrive as they are, and
// those of tables with others too.
func TestServerCopiesValues(t *testing.T) {
	f := newFixture(t, "", []string{
		`CREATE TABLE kinds (id INT AUTO_INCREMENT PRIMARY KEY, ti TINYINT, su SMALLINT UNSIGNED, bu BIGINT UNSIGNED, de DECIMAL(30,10), fl FLOAT, db DOUBLE,
		bi BIT(20), yr YEAR, da DATE, dt DATETIME(6), ts TIMESTAMP(3) NULL, tm TIME(2), ch CHAR(5), vc VARCHAR(50), la VARCHAR(20) CHARACTER SET latin1,
		bn BINARY(4), vb VARBINARY(20), bl BLOB, tx LONGTEXT, en ENUM('x','it''s'), st SET('a','b'), js JSON) CHARACTER SET utf8mb4`,
		"CREATE TABLE other (id INT AUTO_INCREMENT PRIMARY KEY, place POINT)",
		"CREATE TABLE `odd ``name` (`a%` INT, `b.c` INT UNSIGNED, note VARCHAR(9), PRIMARY KEY (`a%`, `b.c`))",
		"CREATE TABLE words (word VARCHAR(9) PRIMARY KEY)",
		"CREATE TABLE big (id BIGINT UNSIGNED PRIMARY KEY, n INT)",
	}, []string{
		"SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'",
		`INSERT INTO kinds VALUES (NULL, -128, 65535, 18446744073709551615, -12345678901234567890.0123456789, 16777217, 0.1, b'10000000000000000001', 1901,
			'0000-00-00', '2024-02-31 23:59:59.123456', '2024-10-27 01:30:00.123', '-838:59:59.99', 'a  ', 'quote '' back \\ tab	雪🙂 ', 'é', X'00FF0000', X'00', X'C328',
			'line\nline', 'it''s', 'a,b', '{"a": 1.10, "b": [null]}')`,
		"INSERT INTO kinds (ti) VALUES (NULL)",
		`INSERT INTO kinds VALUES (NULL, 0, 0, 0, 0, -3.4e38, -1.7976931348623157e308, b'0', 0, '9999-12-31', '0000-00-00 00:00:00', '1970-01-01 00:00:01', '00:00:00', '', '', '',
			'', '', '', '', 'x', '', 'null')`,
		"INSERT INTO kinds (fl, db, en) VALUES (1.1, 5e-324, 'y')",
		"INSERT INTO other (place) VALUES (ST_GeomFromText('POINT(1.5 -2)', 4326))",
		"INSERT INTO `odd ``name` VALUES (-1, 4294967295, 'a'), (0, 0, 'b'), (0, 7, 'c'), (2147483647, 1, NULL)",
		"INSERT INTO words VALUES ('a'), ('b ')", "INSERT INTO big VALUES (1, 1), (18446744073709551615, 2)",
	})
	for _, table := range f.plan.Tables {
		if table.Name != "kinds" && table.Name != "other" {
			table.NewIDs = nil
		}
	}
	f.config.ChunkRows = 3
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	for table, columns := range map[string]string{
		"kinds": `ti, su, bu, de, fl * 1e0, db, HEX(bi), yr, CAST(da AS CHAR), CAST(dt AS CHAR), UNIX_TIMESTAMP(ts), tm, HEX(ch), HEX(vc), HEX(la), HEX(bn), HEX(vb), HEX(bl),
			HEX(tx), en + 0, st + 0, js`,
		"other": "ST_AsText(place), ST_SRID(place)", "`odd ``name`": "*", "words": "HEX(word)", "big": "*",
	} {
		query := "SELECT " + columns + " FROM " + table + " ORDER BY 1, 2"
		if table == "words" {
			query = strings.TrimSuffix(query, ", 2")
		}
		if got, want := f.rows(f.target, query), f.rows(f.sources[0].DB, query); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", table, got, want)
		}
	}
	f.wantByServer("kinds odd `name", "big other words")
}

// A plain column of another type is carried as it always was, and a wider
// integer is no other type.
func TestServerCopiesOtherTypes(t *testing.T) {
	f := newFixture(t, "", []string{
		"CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT)", "CREATE TABLE b (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20) CHARACTER SET latin1)",
		"CREATE TABLE c (id INT AUTO_INCREMENT PRIMARY KEY, v INT UNSIGNED)", "CREATE TABLE d (id INT AUTO_INCREMENT PRIMARY KEY, v DATETIME(3))",
	}, []string{
		"INSERT INTO a (v) VALUES (-5)", "INSERT INTO b (v) VALUES ('é')", "INSERT INTO c (v) VALUES (5)", "INSERT INTO d (v) VALUES ('2024-01-01 01:02:03.4')",
	})
	f.tables()
	f.exec(f.target, "ALTER TABLE a MODIFY v BIGINT", "ALTER TABLE b MODIFY v VARCHAR(20) CHARACTER SET utf8mb4", "ALTER TABLE c MODIFY v INT", "ALTER TABLE d MODIFY v DATETIME(6)")
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT a.v, b.v, c.v, CAST(d.v AS CHAR) FROM a, b, c, d"); got != "-5 é 5 2024-01-01 01:02:03.400000" {
		t.Errorf("got %s", got)
	}
	f.wantByServer("a", "b c d")
}

// The database of a source is on another server, and the target's server has
// one of the same name.
func TestServersWithTheSameNames(t *testing.T) {
	f := newFixture(t, "", players, somePlayers("wrong", 300))
	name := f.rows(f.sources[0].DB, "SELECT DATABASE()")
	other := dbtest.MariaDB(t)
	db, err := sql.Open("mysql", other.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	f.exec(db, "CREATE DATABASE "+name)
	right, err := sql.Open("mysql", other.DSN(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { right.Close() })
	f.exec(right, append(slices.Clone(players), somePlayers("right", 300)...)...)
	f.sources[0].DB = right
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT COUNT(*), SUM(name LIKE 'right%') FROM players"); got != "300 300" {
		t.Errorf("players and those of the source: %s", got)
	}
	f.wantByServer("", "items players")
}

// The target's account must not see the source.
func TestServerWithOtherAccount(t *testing.T) {
	f := newFixture(t, "", players, somePlayers("a", 300))
	f.tables()
	target := f.rows(f.target, "SELECT DATABASE()")
	admin := f.target
	var dsn string
	for _, grant := range []string{"", "GRANT SELECT (id, name), INSERT ON " + f.rows(f.sources[0].DB, "SELECT DATABASE()") + ".players TO 'merger'@'%'"} {
		if dsn == "" {
			f.exec(admin, "CREATE USER 'merger'@'%'", "GRANT ALL ON "+target+".* TO 'merger'@'%'")
			config, err := mysql.ParseDSN(f.dsn(target))
			if err != nil {
				t.Fatal(err)
			}
			config.User, config.Passwd = "merger", ""
			dsn = config.FormatDSN()
		} else {
			f.exec(admin, grant)
			f.exec(admin, "DELETE FROM items", "DELETE FROM players", "DROP TABLE snow_merge_lease, snow_merge_runs, snow_merge_source_tables, snow_merge_map, snow_merge_packs, snow_merge_chunks, snow_merge_changes")
		}
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		f.target = db
		err = f.run()
		f.target = admin
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if got := f.rows(f.target, "SELECT COUNT(*) FROM players"); got != "300" {
			t.Errorf("%s players", got)
		}
		f.wantByServer("", "items players")
	}
	f.exec(admin, "DROP USER 'merger'@'%'")
}

// links is a source whose rows refer to parents in all ways: minted, kept,
// dropped and to none. The parent 2 is dropped with its own parent.
func links(t *testing.T, kept bool, orphans plan.Orphans) *fixture {
	f := newFixture(t, "", []string{
		"CREATE TABLE roots (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9))",
		"CREATE TABLE parents (id INT AUTO_INCREMENT PRIMARY KEY, root INT, name VARCHAR(9))",
		"CREATE TABLE children (id INT AUTO_INCREMENT PRIMARY KEY, parent INT, root INT, name VARCHAR(9))",
	}, []string{
		"INSERT INTO roots VALUES (1, 'r1'), (3, 'r3')", "INSERT INTO parents VALUES (1, 1, 'p1'), (2, 9, 'p2'), (3, NULL, 'p3')",
		"INSERT INTO children VALUES (1, 1, 1, 'a'), (2, NULL, 3, 'b'), (3, 0, 3, 'c'), (4, -1, NULL, 'd'), (5, 3, 3, 'e')",
	})
	for _, table := range f.plan.Tables {
		if kept {
			table.NewIDs = nil
		}
	}
	to := func(table, column, parent string, orphans plan.Orphans, none ...string) {
		c := f.column(table, column)
		c.Role, c.Refers, c.Orphans, c.Type, c.None, c.Suspects = plan.RoleReference, []*plan.Reference{{Table: parent}}, orphans, "bigint", none, nil
	}
	to("parents", "root", "roots", plan.OrphansDrop)
	to("children", "parent", "parents", orphans, "0", "-1", "none")
	to("children", "root", "roots", orphans)
	f.config.ChunkRows = 2
	f.tables()
	return f
}

const linked = `SELECT c.name, p.name, c.parent < 1, r.name FROM children AS c LEFT JOIN parents AS p ON p.id = c.parent LEFT JOIN roots AS r ON r.id = c.root ORDER BY c.name`

func TestServerResolves(t *testing.T) {
	const sound = "a p1 0 r1\nb - - r3\nc - 1 r3\nd - 1 -\ne p3 0 r3"
	for name, test := range map[string]struct {
		kept    bool
		orphans plan.Orphans
		more    string
		want    string
		fail    report.OrphanError
		read    string
	}{
		"fail":               {false, plan.OrphansFail, "", sound, report.OrphanError{}, ""},
		"fail, orphan":       {false, plan.OrphansFail, "6, 8, 1, 'f'", "", report.OrphanError{Source: "s1", Table: "children", Column: "parent", Row: "[6]", Value: "8"}, ""},
		"fail, dropped":      {false, plan.OrphansFail, "6, 2, 1, 'f'", "", report.OrphanError{Source: "s1", Table: "children", Column: "parent", Row: "[6]", Value: "2", LeftOut: true}, ""},
		"fail, kept":         {true, plan.OrphansFail, "", sound, report.OrphanError{}, ""},
		"fail, kept dropped": {true, plan.OrphansFail, "6, 2, 1, 'f'", "", report.OrphanError{Source: "s1", Table: "children", Column: "parent", Row: "[6]", Value: "2", LeftOut: true}, ""},
		"null":               {false, plan.OrphansNull, "6, 8, 1, 'f'), (7, 2, 7, 'g'", sound + "\nf - - r1\ng - - -", report.OrphanError{}, ""},
		"null, kept":         {true, plan.OrphansNull, "6, 8, 1, 'f'), (7, 2, 7, 'g'", sound + "\nf - - r1\ng - - -", report.OrphanError{}, ""},
		"drop":               {false, plan.OrphansDrop, "6, 8, 1, 'f'), (7, 2, 1, 'g'), (8, 3, 7, 'h'), (9, 3, 1, 'i'", sound + "\ni p3 0 r1", report.OrphanError{}, ""},
		"drop, kept":         {true, plan.OrphansDrop, "6, 8, 1, 'f'), (7, 2, 1, 'g'), (8, 3, 7, 'h'), (9, 3, 1, 'i'", sound + "\ni p3 0 r1", report.OrphanError{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := links(t, test.kept, test.orphans)
			if test.more != "" {
				f.exec(f.sources[0].DB, "INSERT INTO children VALUES ("+test.more+")")
			}
			err := f.run()
			var orphan *report.OrphanError
			if test.fail != (report.OrphanError{}) {
				if !errors.As(err, &orphan) || *orphan != test.fail {
					t.Errorf("got %v, want %v", err, &test.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := f.rows(f.target, linked); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			f.wantByServer("children parents roots", "")
		})
	}
}

// Rows that are merged into others are left out where ids are kept, and what
// refers to them refers to the others.
func TestServerMerges(t *testing.T) {
	f := newFixture(t, "", []string{
		"CREATE TABLE players (id INT PRIMARY KEY, name VARCHAR(20), UNIQUE (name))",
		"CREATE TABLE items (id INT PRIMARY KEY, player_id INT, FOREIGN KEY (player_id) REFERENCES players (id))",
	}, []string{"INSERT INTO players VALUES (1, 'a'), (2, 'b')", "INSERT INTO items VALUES (1, 1), (2, 2)"},
		[]string{"INSERT INTO players VALUES (11, 'a'), (12, 'c')", "INSERT INTO items VALUES (11, 11), (12, 12), (13, NULL)"})
	for _, table := range f.plan.Tables {
		table.NewIDs = nil
		for _, u := range table.Unique {
			if u.Columns[0] == "name" {
				u.Rule = plan.RuleKeep
			}
		}
	}
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT i.id, player_id, name FROM items AS i LEFT JOIN players AS p ON p.id = player_id ORDER BY 1"); got != "1 1 a\n2 2 b\n11 1 a\n12 12 c\n13 - -" {
		t.Errorf("got %s", got)
	}
	f.wantByServer("items players", "")
}

// Verify reads the sources and the target as they are now.
func TestServerVerifies(t *testing.T) {
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
	f.wantByServer("items players", "")
	clean, err := f.merge().Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range clean.Tables {
		if row.Rows != 1000 || row.Copied != 1000 || row.Rekeyed != 1000 || row.Hash != "" || row.Found != "" {
			t.Errorf("got %+v", row)
		}
	}
	if len(clean.References) != 1 || clean.References[0].Checked != 1000 || clean.References[0].Orphans != 0 {
		t.Errorf("got %+v", clean.References)
	}
	var text strings.Builder
	if err := clean.WriteText(&text); err != nil || !strings.Contains(text.String(), "Compared: source and target are on one server") {
		t.Errorf("got %v, %s", err, text.String())
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
		"source":         {source, "UPDATE players SET name = 'Name 500' WHERE id = 500", "UPDATE players SET name = 'name 500' WHERE id = 500", report.Failure{Check: report.CheckRows, Table: "players", Column: "name", Row: "[500]", Reason: `want "Name 500", got "name 500", unless it is the source that has changed since`}},
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

// A source that changes between the phases is found where the server copies.
func TestServerCopiesChangedSource(t *testing.T) {
	for name, change := range map[string]string{
		"less": "DELETE FROM items WHERE id = 150", "more": "INSERT INTO items (player_id) VALUES (1)", "before": "INSERT INTO items VALUES (-1, 1, 'x')",
		"another": "UPDATE items SET id = 100000 WHERE id = 10", "last of a range": "UPDATE items SET id = 250 WHERE id = 301",
	} {
		for _, how := range []string{"map", "packs", "kept"} {
			t.Run(name+" "+how, func(t *testing.T) {
				f := newFixture(t, "", players, append(somePlayers("a", 1000), "DELETE FROM items WHERE id = 250"))
				for _, table := range f.plan.Tables {
					if how == "kept" {
						table.NewIDs = nil
					}
				}
				if how == "packs" {
					f.config.PackRows = 1
				}
				f.tables()
				var once atomic.Bool
				f.config.Events = func(e report.Event) {
					if e.Kind == report.EventPhase && e.Phase == "copy" && once.CompareAndSwap(false, true) {
						f.exec(f.sources[0].DB, change)
					}
				}
				var changed *report.ChangedError
				if err := f.run(); !errors.As(err, &changed) || changed.Source != "s1" || changed.Table != "items" {
					t.Errorf("got %v, want a ChangedError", err)
				}
			})
		}
	}
}
