package mergetest

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Preflight tests that runs stop, before they write, if they would lose or
// double rows: databases that are one, and what plans do not have.
func Preflight(t *testing.T, e Engine) {
	open := func(t *testing.T, statements ...string) *sql.DB {
		db := e.Open(t)
		for _, text := range statements {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		return db
	}
	schema := []string{"CREATE TABLE shops (id BIGINT PRIMARY KEY, name VARCHAR(20))", "CREATE TABLE clerks (id BIGINT PRIMARY KEY, name VARCHAR(20))"}
	rows := append(schema[:2:2], "INSERT INTO shops VALUES (2000000000000, 'a'), (2000000000001, 'b')")
	inspect := func(t *testing.T, sources ...merge.Source) *plan.Plan {
		p, err := merge.Inspect(t.Context(), e.Dialect, sources...)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range p.Tables {
			table.NewIDs = nil
			for _, c := range table.Columns {
				c.Decided = true
			}
			for _, u := range table.Unique {
				u.Decided = true
			}
		}
		return p
	}
	run := func(t *testing.T, target *sql.DB, p *plan.Plan, sources ...merge.Source) error {
		m, err := merge.New(e.Dialect, target, sources, p, merge.Config{})
		if err != nil {
			t.Fatal(err)
		}
		forecast, dry := m.DryRun(t.Context())
		if dry == nil {
			dry = forecast.Err()
		}
		found, err := m.Run(t.Context())
		if (dry == nil) != (err == nil) {
			t.Errorf("the dry run says %v, and the run %v", dry, err)
		}
		if err == nil && found.Err() != nil {
			t.Error(found.Err())
		}
		return err
	}
	count := func(t *testing.T, db *sql.DB, query string) (n int) {
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return n
	}

	t.Run("a source is the target", func(t *testing.T) {
		db := open(t, rows...)
		source := merge.Source{Name: "s", DB: db}
		if err := run(t, db, inspect(t, source), source); !errors.Is(err, report.ErrSameDatabase) {
			t.Errorf("got %v, want %v", err, report.ErrSameDatabase)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM shops"); n != 2 {
			t.Errorf("the source has %d rows now", n)
		}
	})
	t.Run("a source is another one", func(t *testing.T) {
		db, target := open(t, rows...), open(t, schema...)
		sources := []merge.Source{{Name: "a", DB: db}, {Name: "b", DB: db}}
		if err := run(t, target, inspect(t, sources...), sources...); !errors.Is(err, report.ErrSameDatabase) {
			t.Errorf("got %v, want %v", err, report.ErrSameDatabase)
		}
	})
	for name, test := range map[string]struct {
		edit   func(p *plan.Plan)
		column string
	}{
		"a table that is not in the plan": {func(p *plan.Plan) {
			p.Tables = slices.DeleteFunc(p.Tables, func(t *plan.Table) bool { return t.Name == "shops" })
		}, ""},
		"a column that is not in the plan": {func(p *plan.Plan) {
			for _, t := range p.Tables {
				if t.Name == "shops" {
					t.Columns = slices.DeleteFunc(t.Columns, func(c *plan.Column) bool { return c.Name == "name" })
				}
			}
		}, "name"},
	} {
		t.Run(name, func(t *testing.T) {
			source, target := merge.Source{Name: "s", DB: open(t, rows...)}, open(t, schema...)
			p := inspect(t, source)
			test.edit(p)
			var wrong *plan.Error
			if err := run(t, target, p, source); !errors.As(err, &wrong) || wrong.Table != "shops" || wrong.Column != test.column {
				t.Errorf("got %v, want a *plan.Error of shops.%s", err, test.column)
			}
			if test.column == "" {
				return
			}
			for _, table := range p.Tables {
				if table.Name == "shops" {
					table.Without = []string{test.column}
				}
			}
			if err := run(t, target, p, source); err != nil {
				t.Fatal(err)
			}
			if n := count(t, target, "SELECT COUNT(*) FROM shops WHERE name IS NULL"); n != 2 {
				t.Errorf("%d rows are without the column, want 2", n)
			}
		})
	}
	interrupted := func(t *testing.T, target *sql.DB, p *plan.Plan, phase string, source merge.Source) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		m, err := merge.New(e.Dialect, target, []merge.Source{source}, p, merge.Config{Events: func(e report.Event) {
			if e.Kind == report.EventPhase && e.Phase == phase {
				stop()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("an interrupted run: %v", err)
		}
	}
	t.Run("a source under a name that another one had", func(t *testing.T) {
		target, first := open(t, schema...), merge.Source{Name: "s", DB: open(t, rows...)}
		if err := run(t, target, inspect(t, first), first); err != nil {
			t.Fatal(err)
		}
		sources := []merge.Source{{Name: "s", DB: open(t, append(schema[:2:2], "INSERT INTO shops VALUES (2000000000009, 'c')")...)}, {Name: "t", DB: open(t, schema...)}}
		if err := run(t, target, inspect(t, sources...), sources...); !errors.Is(err, report.ErrMerged) {
			t.Errorf("got %v, want %v", err, report.ErrMerged)
		}
	})
	t.Run("a run of another plan that has not ended", func(t *testing.T) {
		target, first := open(t, schema...), merge.Source{Name: "s", DB: open(t, rows...)}
		interrupted(t, target, inspect(t, first), "copy", first)
		other := merge.Source{Name: "t", DB: open(t, append(schema[:2:2], "INSERT INTO shops VALUES (2000000000009, 'c')")...)}
		if err := run(t, target, inspect(t, other), other); !errors.Is(err, report.ErrUnfinished) {
			t.Errorf("got %v, want %v", err, report.ErrUnfinished)
		}
	})
	t.Run("a run of another plan that has copied nothing", func(t *testing.T) {
		target, first := open(t, schema...), merge.Source{Name: "s", DB: open(t, rows...)}
		interrupted(t, target, inspect(t, first), "mint", first)
		sources := []merge.Source{first, {Name: "t", DB: open(t, append(schema[:2:2], "INSERT INTO shops VALUES (2000000000009, 'c')")...)}}
		if err := run(t, target, inspect(t, sources...), sources...); err != nil {
			t.Error(err)
		}
	})
	t.Run("a ledger that somebody has deleted from", func(t *testing.T) {
		target, source := open(t, schema...), merge.Source{Name: "s", DB: open(t, rows...)}
		p := inspect(t, source)
		interrupted(t, target, p, "mint", source)
		if _, err := target.ExecContext(t.Context(), "DELETE FROM snow_merge_source_tables"); err != nil {
			t.Fatal(err)
		}
		if err := run(t, target, p, source); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("got %v, want that the ledger is damaged", err)
		}
	})
	t.Run("a foreign key of two columns, and others refer to one of them", func(t *testing.T) {
		const table = "CREATE TABLE people (id BIGINT PRIMARY KEY, tenant BIGINT, boss BIGINT, UNIQUE (tenant, id), FOREIGN KEY (tenant, boss) REFERENCES people (tenant, id))"
		source, target := merge.Source{Name: "s", DB: open(t, table,
			"INSERT INTO people VALUES (2000000000004, 1, NULL)", "INSERT INTO people VALUES (2000000000003, 1, 2000000000004)",
			"INSERT INTO people VALUES (2000000000002, 1, 2000000000003)", "INSERT INTO people VALUES (2000000000001, 1, 2000000000002)",
		)}, open(t, table)
		if err := run(t, target, inspect(t, source), source); err != nil {
			t.Fatal(err)
		}
		if n := count(t, target, "SELECT COUNT(*) FROM people AS a JOIN people AS b ON b.tenant = a.tenant AND b.id = a.boss"); n != 3 {
			t.Errorf("%d people have a boss, want 3", n)
		}
	})
}
