//go:build unix

package merge_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// packed is a table without gaps in its first rows, and with some in the others.
func packed(t *testing.T) *fixture {
	f := newFixture(t, "", []string{"CREATE TABLE orders (id INT PRIMARY KEY, created_at DATETIME, note VARCHAR(9))"}, []string{
		"INSERT INTO orders SELECT IF(seq < 1500, seq, seq * 2), TIMESTAMPADD(MINUTE, seq, '2024-05-01'), seq FROM seq_1_to_3000",
	})
	f.plan.Tables[0].Created = "created_at"
	f.config.PackRows, f.config.ChunkRows = 3000, 300
	f.tables()
	return f
}

// Lookup and Verify know what is in packs.
func TestPacks(t *testing.T) {
	f := packed(t)
	found, err := f.merge().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.wantPacks(true)
	if got := f.rows(f.target, "SELECT SUM(old_ids = '') > 0, SUM(old_ids = '') < COUNT(*), SUM(size) FROM snow_merge_packs"); got != "1 1 3000" {
		t.Errorf("packs without a list of old ids, with one, and all ids: got %s", got)
	}
	if row := found.Tables[0]; row.Rows != 3000 || row.Copied != 3000 || row.Rekeyed != 3000 || row.Hash == "" || row.Hash != row.Found {
		t.Errorf("got %+v", row)
	}
	ids := f.exported()
	notes := strings.Split(f.rows(f.target, "SELECT id, IF(note < 1500, note + 0, note * 2) FROM orders ORDER BY id"), "\n")
	for i, line := range ids {
		old, id, _ := strings.Cut(line, " ")
		if notes[i] != id+" "+old {
			t.Fatalf("row %s: got id %s, want %s", old, id, notes[i])
		}
		if i%100 > 0 {
			continue
		}
		n, _ := strconv.ParseInt(old, 10, 64)
		if got, err := merge.Lookup(t.Context(), sqlsnow.MySQL, f.target, "s1", "orders", n); err != nil || got.String() != id {
			t.Errorf("lookup of %s: got %v, %v, want %s", old, got, err, id)
		}
	}
	for _, none := range []int64{-1 << 63, 0, 3001, 6001, 1<<63 - 1} {
		if got, err := merge.Lookup(t.Context(), sqlsnow.MySQL, f.target, "s1", "orders", none); !errors.Is(err, report.ErrNotFound) {
			t.Errorf("lookup of %d: got %v, %v, want ErrNotFound", none, got, err)
		}
	}
}

// What is wrong with packs, or with rows by them, is found.
func TestVerifyPacks(t *testing.T) {
	f := packed(t)
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	id := func(old string) string {
		for _, line := range f.exported() {
			if o, id, _ := strings.Cut(line, " "); o == old {
				return id
			}
		}
		t.Fatalf("no row %s", old)
		return ""
	}
	// With its row, so that nothing else is wrong.
	move := func(old, to string) [2]string {
		was := id(old)
		to = f.rows(f.target, "SELECT "+to)
		const text = "UPDATE orders, snow_merge_packs SET orders.id = %[2]s, new_ids = REPLACE(new_ids, '%[1]s', '%[2]s') WHERE orders.id = %[1]s"
		return [2]string{fmt.Sprintf(text, was, to), fmt.Sprintf(text, to, was)}
	}
	shift := func(sign, from string) string { // the ranges with gaps as a whole, with their rows
		const days = "1006632960000000"
		return fmt.Sprintf("SET SESSION group_concat_max_len = 1048576; UPDATE snow_merge_packs SET new_ids = (SELECT GROUP_CONCAT(id %[1]s %[2]s ORDER BY id) FROM orders WHERE id BETWEEN"+
			" CAST(SUBSTRING_INDEX(new_ids, ',', 1) AS SIGNED) AND CAST(SUBSTRING_INDEX(new_ids, ',', -1) AS SIGNED)) WHERE seq > 1 AND old_ids <> ''; "+
			"UPDATE orders SET id = id %[1]s %[2]s WHERE note >= %[3]s", sign, days, from)
	}
	gaps := f.rows(f.target, "SELECT note FROM orders WHERE id = (SELECT MIN(CAST(SUBSTRING_INDEX(new_ids, ',', 1) AS SIGNED)) FROM snow_merge_packs WHERE seq > 1 AND old_ids <> '')")
	swap := [2]string{"UPDATE orders SET id = 7 WHERE id = " + id("20"), ""}
	swap[0] += "; UPDATE orders SET id = " + id("20") + " WHERE id = " + id("21") + "; UPDATE orders SET id = " + id("21") + " WHERE id = 7"
	swap[1] = swap[0]
	for name, test := range map[string]struct {
		do    [2]string // and undo
		check report.Check
		row   string
		text  string
	}{
		"another worker": {move("20", id("20")+" + 4096"), report.CheckMap, "[20]", "not one of those that were reserved"},
		"two rows":       {swap, report.CheckRows, "[20]", `want "20", got "21"`},
		"a value":        {[2]string{"UPDATE orders SET note = 'x' WHERE note = '500'", "UPDATE orders SET note = '500' WHERE note = 'x'"}, report.CheckRows, "[500]", `got "x"`},
		"a gap's value":  {[2]string{"UPDATE orders SET note = 'x' WHERE note = '2000'", "UPDATE orders SET note = '2000' WHERE note = 'x'"}, report.CheckRows, "[4000]", `got "x"`},
		"no row":         {[2]string{"UPDATE orders SET id = 9 WHERE note = '500'", "UPDATE orders SET id = " + id("500") + " WHERE note = '500'"}, report.CheckRows, "[500]", "missing"},
		"a row of the map too": {
			[2]string{"INSERT INTO snow_merge_map SELECT source_table, 3001, 3, 0 FROM snow_merge_source_tables", "DELETE FROM snow_merge_map"}, report.CheckMap, "", "3001 rows have a new id",
		},
		"a row of the map instead": {
			[2]string{"INSERT INTO snow_merge_map SELECT source_table, 20, " + id("20") + ", 0 FROM snow_merge_source_tables", "DELETE FROM snow_merge_map"}, report.CheckMap, "", "3001 rows have a new id",
		},
		"a pack of no range": {[2]string{
			"INSERT INTO snow_merge_packs SELECT source_table, 999, 9999, 1, '9999', '3' FROM snow_merge_source_tables", "DELETE FROM snow_merge_packs WHERE seq = 999",
		}, report.CheckMap, "", "3001 rows have a new id"},
		"no list of old ids": {[2]string{
			"ALTER TABLE snow_merge_packs ADD was LONGBLOB; UPDATE snow_merge_packs SET was = old_ids; UPDATE snow_merge_packs SET old_ids = ''",
			"UPDATE snow_merge_packs SET old_ids = was; ALTER TABLE snow_merge_packs DROP was",
		}, report.CheckSource, "", "the row is new"},
		"ranges out of order": {[2]string{shift("-", gaps), shift("+", gaps)}, report.CheckOrder, "", "not above"},
		"no pack": {[2]string{
			"UPDATE snow_merge_packs SET source_table = 99 WHERE seq = 2", "UPDATE snow_merge_packs SET source_table = 1 WHERE seq = 2",
		}, report.CheckSource, "", "the row is new"},
	} {
		t.Run(name, func(t *testing.T) {
			f.exec(f.target, strings.Split(test.do[0], "; ")...)
			found, err := f.merge().Verify(t.Context())
			f.exec(f.target, strings.Split(test.do[1], "; ")...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(found.Failures, func(got report.Failure) bool {
				return got.Check == test.check && (got.Row == test.row || test.row == "") && strings.Contains(got.Reason, test.text)
			}) {
				t.Errorf("got %v, want %s at %s: %s", found.Failures, test.check, test.row, test.text)
			}
			if found, err = f.merge().Verify(t.Context()); err != nil || found.Err() != nil || found.Tables[0].Hash != found.Tables[0].Found {
				t.Fatalf("after it is undone: got %v, %v", err, found.Err())
			}
		})
	}
	for name, do := range map[string][2]string{
		"no ids": {"UPDATE snow_merge_packs SET new_ids = CONCAT('x', new_ids) WHERE seq = 2", "UPDATE snow_merge_packs SET new_ids = SUBSTR(new_ids, 2) WHERE seq = 2"},
		"another pack's": {
			"UPDATE snow_merge_packs SET new_ids = CONCAT(new_ids, ',', SUBSTRING_INDEX((SELECT new_ids FROM (SELECT * FROM snow_merge_packs) AS was WHERE seq = 3), ',', 1)) WHERE seq = 2; " +
				"UPDATE snow_merge_packs SET new_ids = SUBSTR(new_ids, LOCATE(',', new_ids) + 1) WHERE seq = 3",
			"UPDATE snow_merge_packs SET new_ids = CONCAT(SUBSTRING_INDEX((SELECT new_ids FROM (SELECT * FROM snow_merge_packs) AS was WHERE seq = 2), ',', -1), ',', new_ids) WHERE seq = 3; " +
				"UPDATE snow_merge_packs SET new_ids = LEFT(new_ids, LENGTH(new_ids) - LENGTH(SUBSTRING_INDEX(new_ids, ',', -1)) - 1) WHERE seq = 2",
		},
		"one id too few": {"UPDATE snow_merge_packs SET size = size + 1 WHERE seq = 2", "UPDATE snow_merge_packs SET size = size - 1 WHERE seq = 2"},
		"order":          {move("20", id("19")+" - 1")[0], move("20", id("19")+" - 1")[1]},
	} {
		t.Run(name, func(t *testing.T) {
			f.exec(f.target, strings.Split(do[0], "; ")...)
			report, err := f.merge().Verify(t.Context())
			f.exec(f.target, strings.Split(do[1], "; ")...)
			if err == nil || !strings.Contains(err.Error(), "the ledger in the target is damaged: pack") {
				t.Errorf("got %v, %v, want an error of the ledger", report, err)
			}
			if report, err = f.merge().Verify(t.Context()); err != nil || report.Err() != nil {
				t.Fatalf("after it is undone: got %v, %v", err, report.Err())
			}
		})
	}
}

// All tables have rows of the map if packs are not wanted, and small ones by default.
func TestNoPacks(t *testing.T) {
	for name, test := range map[string]struct {
		columns        string
		rows, packRows int
		want           bool
	}{
		"never":      {"v INT, PRIMARY KEY (id)", 50, -1, false},
		"by default": {"v INT, PRIMARY KEY (id)", 50, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "", []string{"CREATE TABLE orders (id INT, " + test.columns + ")"}, []string{
				fmt.Sprintf("INSERT INTO orders (id) SELECT seq FROM seq_1_to_%d", test.rows),
			})
			f.config.PackRows = test.packRows
			f.tables()
			if err := f.run(); err != nil {
				t.Fatal(err)
			}
			f.wantPacks(test.want)
		})
	}
}

// Tables that others refer to have packs, too. A statement in docs/merge.md reads them.
func TestPacksOfReferredTables(t *testing.T) {
	f := newFixture(t, "", players, append(somePlayers("a", 3000), "DELETE FROM items WHERE player_id % 7 = 0 OR id > 2000", "DELETE FROM players WHERE id % 7 = 0"))
	f.config.PackRows, f.config.ChunkRows, f.config.Writers = 1, 500, 1
	f.plan.Table("items").NewIDs = nil
	f.column("items", "player_id").Orphans = plan.OrphansNull // an id that is not found would be lost
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	f.wantPacks(true)
	if got, want := f.rows(f.target, "SELECT COUNT(*) FROM items AS i JOIN players AS p ON p.id = i.player_id"), f.rows(f.sources[0].DB, "SELECT COUNT(*) FROM items"); got != want {
		t.Errorf("%s items have players, want %s", got, want)
	}
	listed := f.rows(f.target, `SELECT IF(p.old_ids = '', p.last_old - p.size + n.at, CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(p.old_ids, ',', n.at), ',', -1) AS SIGNED)) AS old_id, n.new_id
		FROM snow_merge_packs AS p, JSON_TABLE(CONCAT('[', CONVERT(p.new_ids USING utf8mb4), ']'), '$[*]' COLUMNS (at FOR ORDINALITY, new_id BIGINT PATH '$')) AS n
		WHERE p.source_table = (SELECT source_table FROM snow_merge_source_tables WHERE tbl = 'players') ORDER BY old_id`)
	if got := strings.Join(f.exported(), "\n"); got != listed {
		t.Error("the export differs from the lists")
	}
	if got := f.rows(f.target, "SELECT SUBSTR(name, 2) + 0, id FROM players ORDER BY 1"); got != listed {
		t.Error("the rows differ from the lists")
	}
	// A list that says something else is found.
	f.exec(f.target, "UPDATE snow_merge_packs SET new_ids = INSERT(new_ids, LENGTH(new_ids), 1, (RIGHT(new_ids, 1) + 1) % 10) WHERE source_table = (SELECT source_table FROM snow_merge_source_tables WHERE tbl = 'players') AND seq = 2")
	if found, err := f.merge().Verify(t.Context()); err == nil && found.Err() == nil {
		t.Error("another id in a list: it was verified")
	}
}

// A writer does not wait for rows that others write behind its own.
func TestPacksOfSeveralWriters(t *testing.T) {
	f := packed(t)
	target, err := sql.Open("mysql", f.dsn(f.rows(f.target, "SELECT DATABASE()"))+"&innodb_lock_wait_timeout=1")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	f.target = target
	var other *sql.Tx
	f.config.Events = func(e report.Event) {
		switch {
		case e.Kind != report.EventPhase:
		case e.Phase == "copy":
			var err error
			if other, err = f.target.BeginTx(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			if _, err := other.ExecContext(t.Context(), "INSERT INTO orders (id) VALUES (9223372036854775807)"); err != nil {
				t.Fatal(err)
			}
		case e.Phase == "verify":
			if err := other.Rollback(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	f.wantPacks(true)
}

// A run that goes on, or one of another plan, is not in the way of packs that
// are there already; nor are those in its way.
func TestPacksOfUnfinishedRun(t *testing.T) {
	f := packed(t)
	for _, packRows := range [][2]int{{3000, 3000}, {3000, -1}, {-1, 3000}} {
		t.Run(fmt.Sprint(packRows), func(t *testing.T) {
			f := packed(t)
			f.config.PackRows = packRows[0]
			f.interrupt("mint", 1000)
			f.config.PackRows = packRows[1]
			if err := f.run(); err != nil {
				t.Fatal(err)
			}
			if packRows[0] != packRows[1] {
				if got := f.rows(f.target, "SELECT EXISTS (SELECT 1 FROM snow_merge_packs), EXISTS (SELECT 1 FROM snow_merge_map)"); got != "1 1" {
					t.Errorf("packs and rows of the map: got %s", got)
				}
			} else {
				f.wantPacks(true)
			}
			want := strings.Split(f.rows(f.target, "SELECT IF(note < 1500, note + 0, note * 2), id FROM orders ORDER BY id"), "\n")
			if got := f.exported(); !slices.Equal(got, want) {
				t.Errorf("%d ids are exported, and they are not those of the rows in their order", len(got))
			}
		})
	}
	f.interrupt("mint", 1000)
	f.plan.Tables[0].Created = ""
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT SUM(size), COUNT(DISTINCT source_table) FROM snow_merge_packs"); got != "3000 1" {
		t.Errorf("rows and source tables: got %s", got)
	}
}

// A run of another plan does not wait for the rows of one that it forgets, even
// if somebody can still see them.
func TestPacksOfForgottenPlan(t *testing.T) {
	f := packed(t)
	f.interrupt("mint", 2000)
	reader, err := f.target.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Rollback() }()
	var n int
	if err := reader.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM snow_merge_packs").Scan(&n); err != nil || n < 3 {
		t.Fatalf("the reader sees %d packs, %v", n, err)
	}
	f.plan.Tables[0].Created = ""
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT SUM(size), MIN(source_table), MAX(source_table) FROM snow_merge_packs"); got != "3000 2 2" {
		t.Errorf("rows, lowest and highest source table: got %s", got)
	}
}

// Values of a column that nobody has decided on, all of which are old ids in
// packs, are told of.
func TestPacksOfSuspects(t *testing.T) {
	f := packed(t)
	f.exec(f.sources[0].DB, "ALTER TABLE orders ADD other INT", "UPDATE orders SET other = IF(id < 1500, 6000 - 2 * id, id)")
	p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, f.sources...)
	if err != nil {
		t.Fatal(err)
	}
	f.plan = p
	f.plan.Tables[0].NewIDs, f.plan.Tables[0].Created = []string{"s1"}, "created_at"
	other := f.column("orders", "other")
	other.Role, other.Refers = plan.RolePlain, nil
	// as if nobody had been asked of the column
	p.Questions = slices.DeleteFunc(p.Questions, func(q *plan.Question) bool {
		q.Answer = plan.AnswerEach
		q.Columns = slices.DeleteFunc(q.Columns, func(name string) bool { return name == "orders.other" })
		return len(q.Columns) == 0
	})
	f.exec(f.target, "ALTER TABLE orders ADD other INT")
	var open *report.OpenError
	if _, err := f.merge().Run(t.Context()); !errors.As(err, &open) || len(open.Open) != 1 || open.Open[0].Column != "other" || open.Open[0].Kind != report.OpenUndecided {
		t.Fatalf("got %v, want column orders.other open", err)
	}
	f.wantPacks(true)
}

// interrupt runs until a phase has done so many rows.
func (f *fixture) interrupt(phase string, rows int64) {
	f.Helper()
	ctx, stop := context.WithCancel(f.Context())
	defer stop()
	f.config.Events = func(e report.Event) {
		if (e.Kind == report.EventChunk || e.Kind == report.EventPhase) && e.Phase == phase && e.Rows >= rows {
			stop()
		}
	}
	if _, err := f.merge().Run(ctx); !errors.Is(err, context.Canceled) {
		f.Fatalf("got %v, want the run to end", err)
	}
	f.config.Events = nil
}
