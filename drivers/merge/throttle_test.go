//go:build unix

package merge_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A dry run with a throttle forecasts the same as one without, and is in no transaction for longer than one read.
func TestThrottle(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		server := dbtest.Postgres(t)
		open := func() *sql.DB { return opened(t, "pgx", server.DSN(server.CreateDatabase(t))) }
		watch, last := open(), ""
		testThrottle(t, sqlsnow.Postgres, open, func() {
			const text = "SELECT COUNT(*), CAST(clock_timestamp() AS text) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND xact_start < CAST($1 AS timestamptz)"
			var old int
			before := last
			if last == "" {
				before = "-infinity"
			}
			if err := watch.QueryRowContext(t.Context(), text, before).Scan(&old, &last); err != nil {
				t.Fatal(err)
			}
			if old > 0 {
				t.Errorf("%d transactions are as old as the chunk before", old)
			}
		})
	})
	t.Run("sqlite", func(t *testing.T) {
		n := 0
		testThrottle(t, sqlsnow.SQLite, func() *sql.DB {
			n++
			return opened(t, "sqlite3", "file:"+filepath.Join(t.TempDir(), fmt.Sprint(n, ".db")))
		}, func() {})
	})
}

func testThrottle(t *testing.T, d sqlsnow.Dialect, open func() *sql.DB, watch func()) {
	ctx := t.Context()
	exec := func(db *sql.DB, statements ...string) {
		t.Helper()
		for _, text := range statements {
			if _, err := db.ExecContext(ctx, text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	key := map[sqlsnow.Dialect]string{sqlsnow.Postgres: "SERIAL", sqlsnow.SQLite: "INTEGER"}[d]
	var sources []merge.Source
	for _, name := range []string{"eu", "us"} {
		db := open()
		exec(db, "CREATE TABLE heroes (id "+key+" PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE, level INT)", "CREATE TABLE visits (hero INT, at INT)",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) INSERT INTO heroes (id, name, level) SELECT i * 2, 'h' || i, i % 50 FROM n",
			"INSERT INTO visits VALUES (2, 1), (2, 1), (4, 9)")
		sources = append(sources, merge.Source{Name: name, DB: db})
	}
	p, err := merge.Inspect(ctx, d, sources...)
	if err != nil {
		t.Fatal(err)
	}
	p.Questions = nil
	for _, table := range p.Tables {
		for _, c := range table.Columns {
			if c.Decided, c.Suspects = true, nil; c.Role == plan.RoleUndecided {
				c.Role = plan.RolePlain
			}
		}
		for _, u := range table.Unique {
			if u.Decided = true; u.Columns[0] == "name" {
				u.Rule = plan.RuleSuffix
			}
		}
	}
	hero := p.Table("visits").Column("hero")
	hero.Role, hero.Refers, hero.Gone = plan.RoleReference, []*plan.Reference{{Table: "heroes"}}, plan.OrphansDrop
	heroes := p.Table("heroes")
	heroes.NewIDs, heroes.IDs, heroes.WithoutRows = p.Sources, plan.IDsDense, []*plan.Condition{{Where: "level = 1"}}
	schema, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	target := open()
	exec(target, schema...)
	forecast := func(throttle int, events func(report.Event)) *report.Forecast {
		t.Helper()
		m, err := merge.New(d, target, sources, p, merge.Config{Throttle: throttle, Events: events})
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.DryRun(ctx)
		if err == nil {
			err = f.Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Took, f.Waited, f.Estimate = 0, 0, 0
		return f
	}
	reads := 0
	got := forecast(1200, func(e report.Event) {
		if e.Kind == report.EventChunk {
			reads++
			watch()
		}
	})
	if want := forecast(0, nil); !reflect.DeepEqual(got, want) || got.Tables[0].Dropped == 0 || len(got.Clashes) == 0 {
		t.Errorf("with a throttle the forecast is\n%+v\nwithout one\n%+v", got, want)
	}
	if reads < 4 {
		t.Errorf("there were %d reads", reads)
	}
}
