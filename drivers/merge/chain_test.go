//go:build unix

package merge_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Old ids are found through two merges, whose second was interrupted while it copied the ledger of the first.
func TestChain(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		server := dbtest.Postgres(t)
		testChain(t, sqlsnow.Postgres, "SERIAL", func() *sql.DB { return opened(t, "pgx", server.DSN(server.CreateDatabase(t))) })
	})
	t.Run("sqlite", func(t *testing.T) {
		n := 0
		testChain(t, sqlsnow.SQLite, "INTEGER", func() *sql.DB {
			n++
			return opened(t, "sqlite3", "file:"+filepath.Join(t.TempDir(), fmt.Sprint(n, ".db")))
		})
	})
}

func testChain(t *testing.T, d sqlsnow.Dialect, key string, open func() *sql.DB) {
	ctx := t.Context()
	exec := func(db *sql.DB, statements ...string) {
		t.Helper()
		for _, text := range statements {
			if _, err := db.ExecContext(ctx, text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	server := func(name string) *sql.DB {
		db := open()
		exec(db, "CREATE TABLE heroes (id "+key+" PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE, origin TEXT, level INT)",
			fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700) INSERT INTO heroes (id, name, origin, level) SELECT i * 2, 'h' || i, '%s ' || (i * 2), i %% 50 FROM n`, name))
		return db
	}
	job := func(target *sql.DB, ids plan.IDs, level int, events func(report.Event), sources ...merge.Source) *merge.Merge {
		t.Helper()
		p, err := merge.Inspect(ctx, d, sources...)
		if err != nil {
			t.Fatal(err)
		}
		p.Questions = nil
		table := p.Table("heroes")
		table.NewIDs, table.IDs, table.WithoutRows = p.Sources, ids, []*plan.Condition{{Where: fmt.Sprintf("level = %d", level)}}
		for _, c := range table.Columns {
			if c.Decided = true; c.Role == plan.RoleUndecided {
				c.Role = plan.RolePlain
			}
		}
		for _, u := range table.Unique {
			if u.Decided = true; u.Columns[0] == "name" {
				u.Rule = plan.RuleSuffix
			}
		}
		schema, err := p.Schema()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := target.ExecContext(ctx, "SELECT 1 FROM heroes"); err != nil {
			exec(target, schema...)
		}
		m, err := merge.New(d, target, sources, p, merge.Config{Events: events})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	eu, us, asia, first, second := server("eu"), server("us"), server("asia"), open(), open()
	if _, err := job(first, plan.IDsDense, 0, nil, merge.Source{Name: "s1", DB: eu}, merge.Source{Name: "s2", DB: us}).Run(ctx); err != nil {
		t.Fatal(err)
	}
	eu.Close()
	us.Close()
	again := []merge.Source{{Name: "m12", DB: first}, {Name: "s1", DB: asia}}
	stopped, stop := context.WithCancel(ctx)
	if _, err := job(second, plan.IDsOffset, 1, func(e report.Event) {
		if e.Phase == "inherit" && e.Kind == report.EventChunk {
			stop()
		}
	}, again...).Run(stopped); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the run to end", err)
	}
	m := job(second, plan.IDsOffset, 1, nil, again...)
	if _, err := m.Run(ctx); err != nil {
		t.Fatal(err)
	}
	first.Close()
	for source, origin := range map[string]string{"m12/s1": "eu", "s2": "us", "/s1": "asia"} {
		for n := 1; n <= 700; n += 7 {
			id, err := merge.Lookup(ctx, d, second, source, "heroes", int64(2*n))
			if gone := n%50 == 1 || n%50 == 0 && origin != "asia"; gone {
				if left := new(report.LeftOutError); !errors.As(err, &left) || left.Reason != "without_rows 1" {
					t.Errorf("%s %d: got %v", source, 2*n, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %d: %v", source, 2*n, err)
			} else if got, want := lines(t, second, fmt.Sprintf("SELECT origin FROM heroes WHERE id = %d", id)), fmt.Sprint(origin, " ", 2*n); got != want {
				t.Errorf("%s %d: got %s, want %s", source, 2*n, got, want)
			}
		}
	}
	if _, err := merge.Lookup(ctx, d, second, "s1", "heroes", 4); !errors.As(err, new(*report.AmbiguousSourceError)) {
		t.Errorf("s1: got %v", err)
	}
	var text strings.Builder
	if err := merge.Export(ctx, d, second, &text); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "\nm12/s1,heroes,"); n != 700 {
		t.Errorf("%d ids of m12/s1 are exported", n)
	}
}
