//go:build unix

package convert

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// smallShop has a reference to its own table, a foreign key that deletes, and a circle.
func smallShop(d sqldialect.Dialect) string {
	text := `CREATE TABLE people (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, boss INT, favourite INT, name VARCHAR(40) NOT NULL,
			FOREIGN KEY (boss) REFERENCES people (id));
		CREATE TABLE orders (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, person INT NOT NULL, total DECIMAL(10,2),
			FOREIGN KEY (person) REFERENCES people (id) ON DELETE CASCADE);
		CREATE TABLE lines (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, order_id INT NOT NULL, n INT NOT NULL, UNIQUE (order_id, n),
			FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE);
		ALTER TABLE people ADD CONSTRAINT favourite FOREIGN KEY (favourite) REFERENCES orders (id) ON DELETE SET NULL;
		INSERT INTO people (boss, name) VALUES (NULL, 'Ada'), (1, 'Bo'), (1, 'Cy');
		INSERT INTO orders (person, total) VALUES (1, 10), (2, 20), (2, NULL);
		INSERT INTO lines (order_id, n) VALUES (1, 1), (1, 2), (3, 1);
		UPDATE people SET favourite = 2 WHERE id = 3`
	if d == sqldialect.MySQL {
		return strings.ReplaceAll(text, " lines ", " `lines` ")
	}
	return strings.ReplaceAll(text, "INT NOT NULL AUTO_INCREMENT", "SERIAL")
}

// eachServer runs a test with a small shop on both kinds of servers.
func eachServer(t *testing.T, test func(t *testing.T, d sqldialect.Dialect, db *sql.DB)) {
	for _, d := range []sqldialect.Dialect{sqldialect.MySQL, sqldialect.Postgres} {
		t.Run(d.String(), func(t *testing.T) {
			start, driver := dbtest.SharedMariaDB, "mysql"
			if d == sqldialect.Postgres {
				start, driver = func(tb testing.TB) *dbtest.Server { return dbtest.Postgres(tb) }, "pgx"
			}
			server := start(t)
			db, err := sql.Open(driver, server.DSN(server.CreateDatabase(t)))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			for text := range strings.SplitSeq(smallShop(d), ";") {
				if _, err := db.ExecContext(t.Context(), text); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			test(t, d, db)
		})
	}
}

func planOf(t *testing.T, d sqldialect.Dialect, db *sql.DB) *plan.Plan {
	t.Helper()
	p, err := Inspect(t.Context(), d, db, InspectConfig{DeclaredOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func conversionOf(t *testing.T, d sqldialect.Dialect, db *sql.DB, p *plan.Plan, cfg Config) *Conversion {
	t.Helper()
	cfg.MaxLag, cfg.MaxBusy = -1, -1
	c, err := New(d, db, p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func verified(t *testing.T, c *Conversion, when string) {
	t.Helper()
	faults, err := c.Verify(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	for _, f := range faults {
		t.Errorf("%s: %v", when, f)
	}
}

// The whole way, from gate to gate, with a verification at each.
func TestConversion(t *testing.T) {
	eachServer(t, func(t *testing.T, d sqldialect.Dialect, db *sql.DB) {
		p := planOf(t, d, db)
		verified(t, conversionOf(t, d, db, p, Config{}), "before")
		var cfg Config
		for {
			c := conversionOf(t, d, db, p, cfg)
			err := c.Run(t.Context())
			verified(t, c, "with "+strings.Join(cfg.Gates, ", "))
			if err == nil {
				break
			}
			var gate *report.GateError
			if !errors.As(err, &gate) || slices.Contains(cfg.Gates, gate.Gate) {
				t.Fatal(err)
			}
			cfg.Gates = append(cfg.Gates, gate.Gate)
		}
		for _, query := range []string{
			"INSERT INTO people (id, boss, name) VALUES (7000000000000000000, 2, 'Di')", "INSERT INTO orders (id, person) VALUES (7000000000000000001, 7000000000000000000)",
		} {
			if _, err := db.ExecContext(t.Context(), query); err != nil {
				t.Errorf("%s: %v", query, err)
			}
		}
		verified(t, conversionOf(t, d, db, p, cfg), "after snow ids")
	})
}

// Each phase is taken back, and nothing is left.
func TestBack(t *testing.T) {
	eachServer(t, func(t *testing.T, d sqldialect.Dialect, db *sql.DB) {
		p := planOf(t, d, db)
		before := schemaOf(t, d, db)
		for _, phase := range []string{"widen", "count"} {
			c := conversionOf(t, d, db, p, Config{Until: phase})
			gates := c.job.GateNames()
			c = conversionOf(t, d, db, p, Config{Until: phase, Gates: gates})
			if err := c.Run(t.Context()); err != nil {
				t.Fatalf("%s: %v", phase, err)
			}
			if _, err := db.ExecContext(t.Context(), "INSERT INTO people (boss, name) VALUES (1, 'meanwhile')"); err != nil {
				t.Fatal(err)
			}
			c = conversionOf(t, d, db, p, Config{})
			if err := c.Back(t.Context()); err != nil {
				t.Fatalf("back from %s: %v", phase, err)
			}
			verified(t, c, "back from "+phase)
			if after := schemaOf(t, d, db); !slices.Equal(after, before) {
				t.Errorf("back from %s:\n%q\nbefore:\n%q", phase, after, before)
			}
		}
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM people WHERE name = 'meanwhile'").Scan(&n); err != nil || n != 2 {
			t.Errorf("%d rows that were inserted meanwhile, %v", n, err)
		}
	})
}

// With a snow id there is no way back. Back says so before it changes anything, rows without an id are counted as
// before, and the run goes on.
func TestNoWayBack(t *testing.T) {
	eachServer(t, func(t *testing.T, d sqldialect.Dialect, db *sql.DB) {
		p := planOf(t, d, db)
		c := conversionOf(t, d, db, p, Config{})
		gates := c.job.GateNames()
		c = conversionOf(t, d, db, p, Config{Until: "count", Gates: gates})
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		exec := func(query string) {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), query); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		exec("INSERT INTO orders (id, person) VALUES (7000000000000000001, 1)")
		before, status := schemaOf(t, d, db), statesOf(t, c)
		c = conversionOf(t, d, db, p, Config{})
		var step *report.StepError
		if err := c.Back(t.Context()); !errors.As(err, &step) || step.At != "undo" {
			t.Fatalf("Back: %v", err)
		}
		if after := schemaOf(t, d, db); !slices.Equal(after, before) || statesOf(t, c) != status {
			t.Errorf("Back has changed\n%q\nto\n%q\nand %s\nto %s", before, after, status, statesOf(t, c))
		}
		// Another table, to which Back would have come first.
		exec("INSERT INTO people (id, boss, name) VALUES (7000000000000000002, 1, 'new')")
		exec("INSERT INTO people (boss, name) VALUES (1, 'old')")
		var id int64
		if err := db.QueryRowContext(t.Context(), "SELECT id FROM people WHERE name = 'old'").Scan(&id); err != nil || id > 1<<31 {
			t.Errorf("a row without an id got %d, %v", id, err)
		}
		exec("DELETE FROM people WHERE name IN ('old', 'new')")
		c = conversionOf(t, d, db, p, Config{Gates: gates})
		if err := c.Run(t.Context()); err != nil {
			if still := (*report.StillCountedError)(nil); !errors.As(err, &still) {
				t.Fatalf("Run: %v", err)
			}
			if err := c.Run(t.Context()); err != nil {
				t.Fatalf("Run again: %v", err)
			}
		}
		// What was narrow is dropped.
		if err := c.Back(t.Context()); !errors.As(err, &step) || step.At != "undo" {
			t.Errorf("Back at the end: %v", err)
		}
		verified(t, c, "the end")
	})
}

func statesOf(t *testing.T, c *Conversion) string {
	t.Helper()
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, step := range s.Steps {
		all = append(all, fmt.Sprint(step.Name, ": ", step.State))
	}
	return strings.Join(all, ", ")
}

// schemaOf returns all columns with their types.
func schemaOf(t *testing.T, d sqldialect.Dialect, db *sql.DB) (all []string) {
	t.Helper()
	where := "DATABASE()"
	if d == sqldialect.Postgres {
		where = "current_schema()"
	}
	rows, err := db.QueryContext(t.Context(), "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = "+where+" ORDER BY 1, 2")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, column, kind string
		if err := rows.Scan(&table, &column, &kind); err != nil {
			t.Fatal(err)
		}
		all = append(all, table+"."+column+" "+kind)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// A fault names the table, the column and what to do.
func TestVerifyFinds(t *testing.T) {
	eachServer(t, func(t *testing.T, d sqldialect.Dialect, db *sql.DB) {
		p := planOf(t, d, db)
		c := conversionOf(t, d, db, p, Config{Until: "widen"})
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{
			"INSERT INTO orders (id, person) VALUES (7000000000000000001, 1)",
			"CREATE TABLE notes (id BIGINT PRIMARY KEY, person INT REFERENCES people (id))",
		} {
			if d == sqldialect.MySQL { // InnoDB wants equal types
				query = strings.ReplaceAll(query, "INT REFERENCES people (id)", "INT")
			}
			if _, err := db.ExecContext(t.Context(), query); err != nil && d == sqldialect.Postgres {
				t.Fatalf("%s: %v", query, err)
			}
		}
		faults, err := c.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, f := range faults {
			found = append(found, f.String())
			if f.Table == "" || f.Remedy == "" || f.What == "" {
				t.Errorf("%+v", f)
			}
		}
		want := map[sqldialect.Dialect][]string{
			sqldialect.MySQL:    {"orders: it has 4 rows, and _snow_old_orders", "orders.id: 1 ids are as high", "orders.id: its counter is at 7000000000000000002"},
			sqldialect.Postgres: {"notes.person: its type is integer", "orders.id: 1 ids are as high"},
		}[d]
		if d == sqldialect.MySQL && p.Table("orders").Method == plan.Alter { // no table of old is there to compare with
			want = want[1:]
		}
		if len(found) != len(want) {
			t.Errorf("%q", found)
		}
		for _, w := range want {
			if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, w) }) {
				t.Errorf("no %q in %q", w, found)
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	step := []job.Step{{Name: "one", Phase: job.Widen}, {Name: "two", Phase: job.Count, Gate: "do this"}}
	db, err := sql.Open("mysql", "nobody@tcp(127.0.0.1:1)/nothing")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for field, cfg := range map[string]Config{
		"Until": {Until: "three"}, "Gates": {Gates: []string{"finish"}}, "Lease": {Lease: 1}, "MaxLag": {MaxLag: -2}, "MaxBusy": {MaxBusy: -2},
		"Holder": {Holder: strings.Repeat("x", 256)},
	} {
		_, err := newConversion(sqldialect.MySQL, db, &plan.Plan{}, cfg, step)
		var wrong *snow.FieldError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, cfg := range []Config{{}, {Until: "two", Gates: []string{"count"}}, {Until: "finish"}} {
		if _, err := newConversion(sqldialect.MySQL, db, &plan.Plan{}, cfg, step); err != nil {
			t.Error(err)
		}
	}
	db.SetMaxOpenConns(3)
	if _, err := newConversion(sqldialect.MySQL, db, &plan.Plan{}, Config{}, step); err == nil {
		t.Error("3 connections are enough")
	}
	if _, err := New(sqldialect.SQLite, db, &plan.Plan{Dialect: "SQLite"}, Config{}); err == nil {
		t.Error("SQLite was taken")
	}
	if _, err := New(sqldialect.MySQL, db, nil, Config{}); err == nil {
		t.Error("no plan was taken")
	}
}
