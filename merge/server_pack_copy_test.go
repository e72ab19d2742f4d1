//go:build unix

package merge_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Rows that the server can't copy get the ids that it would have made.
func TestPacksRowByRow(t *testing.T) {
	server, f := packed(t), packed(t)
	if err := server.run(); err != nil {
		t.Fatal(err)
	}
	f.config.Events = func(e report.Event) {
		if e.Kind == report.EventPhase && e.Phase == "copy" {
			f.exec(f.target, "ALTER TABLE orders MODIFY note VARCHAR(9) CHARACTER SET latin1")
		}
	}
	report, err := f.merge().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.wantPacks(false)
	f.wantByServer("", "orders")
	want, err := server.merge().Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if row := report.Tables[0]; row.Hash == "" || row.Rekeyed != 3000 || row.Displacement != want.Tables[0].Displacement {
		t.Errorf("got %+v, want the same as of %+v", row, want.Tables[0])
	}
	if !slices.Equal(f.exported(), server.exported()) {
		t.Error("the ids are not those that the server makes")
	}
}

// Rows of several cuts, whose ids did not begin where those before ended, are
// copied together.
func TestPacksOfSeveralCuts(t *testing.T) {
	f := packed(t)
	f.exec(f.sources[0].DB, "UPDATE orders SET created_at = '2024-05-01'")
	f.interrupt("copy", 0)
	f.config.ChunkRows = 1000
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	f.wantPacks(true)
	f.wantByServer("orders", "")
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
	f.wantByServer("orders", "")
}

// The latest date of a chunk may be none, such as a 31st of June. The others make room for its ids nevertheless.
func TestPacksOfInvalidDates(t *testing.T) {
	f := packed(t)
	f.exec(f.sources[0].DB, "SET sql_mode = 'ALLOW_INVALID_DATES'", "UPDATE orders SET created_at = '2024-06-31' WHERE id % 1000 = 0")
	f.config.ChunkRows = 1000
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	f.wantPacks(true)
	f.wantByServer("orders", "")
}

// Rows whose dates change before they are copied get ids of their new dates, if
// the others leave room for them.
func TestPacksOfChangedDates(t *testing.T) {
	for unit, want := range map[string]bool{"SECOND": true, "YEAR": false} {
		t.Run(unit, func(t *testing.T) {
			f := packed(t)
			f.config.Events = func(e report.Event) {
				if e.Kind == report.EventPhase && e.Phase == "copy" {
					f.exec(f.sources[0].DB, "UPDATE orders SET created_at = TIMESTAMPADD("+unit+", 1, created_at) WHERE id IN (620, 630)")
				}
			}
			err := f.run()
			if want {
				if err != nil {
					t.Fatal(err)
				}
				f.wantPacks(true)
				f.wantByServer("orders", "")
				return
			}
			var changed *report.ChangedError
			if !errors.As(err, &changed) || !strings.Contains(err.Error(), "later date") {
				t.Errorf("got %v, want a ChangedError about a date", err)
			}
		})
	}
}

// Rows whose keys change before they are copied are in the map as they were copied.
func TestPacksOfChangedKeys(t *testing.T) {
	f := packed(t)
	f.plan.Tables[0].Created = ""
	f.config.Events = func(e report.Event) {
		if e.Kind == report.EventPhase && e.Phase == "copy" {
			f.exec(f.sources[0].DB, "UPDATE orders SET id = 4001, note = 'other' WHERE id = 4000")
		}
	}
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if _, err := merge.Lookup(t.Context(), sqlsnow.MySQL, f.target, "s1", "orders", 4000); !errors.Is(err, report.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	id, err := merge.Lookup(t.Context(), sqlsnow.MySQL, f.target, "s1", "orders", 4001)
	if got := f.rows(f.target, fmt.Sprintf("SELECT note FROM orders WHERE id = %d", id)); err != nil || got != "other" {
		t.Errorf("got row %q, %v", got, err)
	}
}

// Rows that move while the server mints are in the ledger as they were minted.
func TestPacksOfMovingKeys(t *testing.T) {
	f := newFixture(t, "", []string{"CREATE TABLE orders (id INT PRIMARY KEY, v INT)"}, []string{"INSERT INTO orders SELECT seq * 2, seq FROM seq_1_to_20000"})
	f.config.PackRows, f.config.ChunkRows, f.config.Writers = 1, 500, 1
	f.tables()
	var once atomic.Bool
	f.config.Events = func(e report.Event) {
		if e.Kind == report.EventChunk && e.Phase == "mint" && e.Rows > 3000 && once.CompareAndSwap(false, true) {
			f.exec(f.sources[0].DB, "UPDATE orders SET id = id - 1 WHERE id > 7000 ORDER BY id")
		}
	}
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := len(f.exported()); got != 20000 {
		t.Errorf("%d rows are exported", got)
	}
}

// Between two servers, tables that others refer to have packs, too. A statement in docs/merge.md reads them.
func TestPacksOfReferredTables(t *testing.T) {
	other := dbtest.MariaDB(t)
	pool := func(name string) *sql.DB {
		db, err := sql.Open("mysql", other.DSN(name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	for _, test := range []struct {
		name  string
		moves bool // the source is moved to the target's server while the run waits
		phase string
	}{
		{"", false, ""},
		{"after mint", true, "copy"},
		{"within mint", true, "mint"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, "", players, append(somePlayers("a", 3000), "DELETE FROM items WHERE player_id % 7 = 0 OR id > 2000", "DELETE FROM players WHERE id % 7 = 0"))
			here := f.sources[0].DB
			name := f.rows(here, "SELECT DATABASE()")
			f.exec(pool(""), "CREATE DATABASE "+name)
			f.sources[0].DB = pool(name)
			f.exec(f.sources[0].DB, append(slices.Clone(players), append(somePlayers("a", 3000), "DELETE FROM items WHERE player_id % 7 = 0 OR id > 2000", "DELETE FROM players WHERE id % 7 = 0")...)...)
			f.config.PackRows, f.config.ChunkRows, f.config.Writers = 1, 500, 1
			f.plan.Table("items").NewIDs = nil                        // the server can copy it, but for references
			f.column("items", "player_id").Orphans = plan.OrphansNull // and would find none
			f.tables()
			if test.moves {
				f.interrupt(test.phase, 2000)
				f.sources[0].DB = here
			}
			if err := f.run(); err != nil {
				t.Fatal(err)
			}
			if !test.moves {
				f.wantPacks(true)
			}
			if got := f.rows(f.target, "SELECT COUNT(*) > 0, (SELECT COUNT(*) FROM items AS i JOIN players AS p ON p.id = i.player_id) FROM snow_merge_packs"); got != "1 "+f.rows(here, "SELECT COUNT(*) FROM items") {
				t.Errorf("packs and items of players: got %s", got)
			}
			listed := f.rows(f.target, `SELECT IF(p.old_ids = '', p.last_old - p.size + n.at, CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(p.old_ids, ',', n.at), ',', -1) AS SIGNED)) AS old_id, n.new_id
				FROM snow_merge_packs AS p, JSON_TABLE(CONCAT('[', CONVERT(p.new_ids USING utf8mb4), ']'), '$[*]' COLUMNS (at FOR ORDINALITY, new_id BIGINT PATH '$')) AS n
				WHERE p.source_table = (SELECT source_table FROM snow_merge_source_tables WHERE tbl = 'players')
				UNION ALL SELECT old_id, new_id FROM snow_merge_map WHERE source_table = (SELECT source_table FROM snow_merge_source_tables WHERE tbl = 'players') ORDER BY old_id`)
			if got := strings.Join(f.exported(), "\n"); got != listed {
				t.Error("the export differs from the lists")
			}
			if got := f.rows(f.target, "SELECT SUBSTR(name, 2) + 0, id FROM players ORDER BY 1"); got != listed {
				t.Error("the rows differ from the lists")
			}
			// A list that says something else is found.
			if !test.moves {
				f.exec(f.target, "UPDATE snow_merge_packs SET new_ids = INSERT(new_ids, LENGTH(new_ids), 1, (RIGHT(new_ids, 1) + 1) % 10) WHERE source_table = (SELECT source_table FROM snow_merge_source_tables WHERE tbl = 'players') AND seq = 2")
				if found, err := f.merge().Verify(t.Context()); err == nil && found.Err() == nil {
					t.Error("another id in a list: it was verified")
				}
			}
		})
	}
}
