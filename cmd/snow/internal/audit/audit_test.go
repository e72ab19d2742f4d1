//go:build unix

package audit_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/audit"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/internal/idcolumn"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// A product is an empty database, and one more connection to it that only reads.
type product struct {
	db, readOnly *sql.DB
	dialect      sqlsnow.Dialect
	dsn          string // of a server
}

// each runs a test with an empty database of each product.
func each(t *testing.T, test func(t *testing.T, p product)) {
	t.Parallel()
	for _, name := range []string{"mysql", "postgres", "sqlite"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := product{}
			value := filepath.Join(t.TempDir(), "shop.db")
			switch name {
			case "mysql":
				server := dbtest.MariaDB(t)
				p.dialect, p.dsn = sqlsnow.MySQL, server.DSN(server.CreateDatabase(t))
				value = inFile(t, p.dsn)
			case "postgres":
				server := dbtest.Postgres(t)
				p.dialect, p.dsn = sqlsnow.Postgres, server.DSN(server.CreateDatabase(t))
				value = inFile(t, p.dsn)
			default:
				p.dialect = sqlsnow.SQLite
			}
			p.db = open(t, value, name, database.Create)
			if err := sqlsnow.Migrate(t.Context(), p.db, p.dialect); err != nil {
				t.Fatal(err)
			}
			p.readOnly = open(t, value, name, database.ReadOnly)
			test(t, p)
		})
	}
}

func (p product) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := p.db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// audit returns the findings in short: severity, column, and the first words of the problem.
func (p product) audit(t *testing.T, cfg audit.Config) (findings []audit.Finding, report *audit.Report) {
	t.Helper()
	report, err := audit.Run(t.Context(), p.readOnly, p.dialect, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Problem == "" || f.Remedy == "" || f.Table == "" || f.Severity != audit.Error && f.Severity != audit.Warning {
			t.Errorf("a finding has not all: %+v", f)
		}
	}
	return report.Findings, report
}

// want checks that the findings are these and no others: "warning orders.id" and a part of the problem.
func want(t *testing.T, got []audit.Finding, all ...string) {
	t.Helper()
	left := slices.Clone(got)
	for _, w := range all {
		head, problem, _ := strings.Cut(w, ": ")
		i := slices.IndexFunc(left, func(f audit.Finding) bool {
			place := f.Table
			if f.Column != "" {
				place += "." + f.Column
			}
			return fmt.Sprintf("%s %s", f.Severity, place) == head && strings.Contains(f.Problem, problem)
		})
		if i < 0 {
			t.Errorf("not found: %s; there is %+v", w, left)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, f := range left {
		t.Errorf("found as well: %+v", f)
	}
}

// lease takes a worker number and returns a generator with it.
func (p product) lease(t *testing.T, namespace string, worker *uint64) *snow.Generator {
	t.Helper()
	lease, err := sqlsnow.Acquire(t.Context(), p.db, p.dialect, sqlsnow.LeaseConfig{Namespace: namespace, Worker: worker, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Close(context.Background()) })
	gen, err := snow.NewGenerator(lease, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return gen
}

func next(t *testing.T, gen *snow.Generator) snow.ID {
	t.Helper()
	id, err := gen.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func initNamespace(t *testing.T, p product, name string, workers int) {
	t.Helper()
	if err := sqlsnow.Init(t.Context(), p.db, p.dialect, sqlsnow.Namespace{Name: name, Layout: snow.DefaultLayout(), Workers: workers}); err != nil {
		t.Fatal(err)
	}
}

func TestColumns(t *testing.T) {
	each(t, func(t *testing.T, p product) {
		auto, other := "id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", "AUTO_INCREMENT"
		switch p.dialect {
		case sqlsnow.Postgres:
			auto, other = "id BIGSERIAL PRIMARY KEY", "serial"
		case sqlsnow.SQLite:
			auto, other = "id INTEGER PRIMARY KEY AUTOINCREMENT", "AUTOINCREMENT"
		}
		p.exec(t,
			"CREATE TABLE good (id BIGINT NOT NULL PRIMARY KEY, note TEXT)",
			"CREATE TABLE users ("+auto+")",
			"CREATE TABLE small (id INT NOT NULL PRIMARY KEY)",
			"CREATE TABLE posts (id BIGINT NOT NULL PRIMARY KEY, user_id INT, good_id VARCHAR(30), small_id INT, other_id INT)",
			"CREATE TABLE countries (code CHAR(2) NOT NULL PRIMARY KEY)",
			"CREATE TABLE quiet (id INT NOT NULL PRIMARY KEY, user_id INT)",
			"CREATE TABLE refers (id BIGINT NOT NULL PRIMARY KEY, boss BIGINT, FOREIGN KEY (boss) REFERENCES good (id))",
		)
		wanted := []string{
			"warning users.id: it is " + other,
			"warning posts.good_id: by its name it refers to good.id",
		}
		if p.dialect != sqlsnow.SQLite { // whose integers all have 64 bits
			wanted = append(wanted,
				"warning posts.user_id: by its name it refers to users.id",
				"warning small.id: of 32 bits; an id has 63 and no sign; posts.small_id refers to it by its name",
			)
		}
		if p.dialect == sqlsnow.Postgres { // which lets types differ, and has schemas
			p.exec(t, "CREATE TABLE thin (id BIGINT PRIMARY KEY, boss INT REFERENCES good (id))", "CREATE SCHEMA far",
				"CREATE TABLE far.things (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, good_id INT)")
			wanted = append(wanted, "warning thin.boss: it refers to good.id", "warning far.things.id: an identity column")
		}
		got, report := p.audit(t, audit.Config{Ignore: []string{"qui*", "posts.other_id"}})
		want(t, got, wanted...)
		if len(report.Notes) != 1 || len(report.Namespaces) != 0 || report.Tables < 6 {
			t.Errorf("%+v", report)
		}

		// With ids in the referenced table, a narrow reference and a number of the table's own are errors.
		initNamespace(t, p, "shop", 4)
		gen := p.lease(t, "shop", nil)
		p.exec(t, fmt.Sprintf("INSERT INTO users (id) VALUES (%d)", next(t, gen)), fmt.Sprintf("INSERT INTO good (id) VALUES (%d)", next(t, gen)))
		wanted = []string{"error users.id: counts on from the largest id", "error posts.good_id: by its name"}
		if p.dialect != sqlsnow.SQLite {
			wanted = append(wanted, "error posts.user_id: by its name")
		}
		got, report = p.audit(t, audit.Config{Ignore: []string{"quiet", "small", "*.small_id", "thin", "far.*"}})
		want(t, got, wanted...)
		if len(report.Notes) != 0 || !slices.Equal(report.Namespaces, []string{"shop"}) {
			t.Errorf("%+v", report)
		}
	})
}

func TestIDs(t *testing.T) {
	each(t, func(t *testing.T, p product) {
		initNamespace(t, p, "shop", 4)
		initNamespace(t, p, "billing", 4)
		zero, one := uint64(0), uint64(1)
		shop, billing := p.lease(t, "shop", &zero), p.lease(t, "billing", &one)
		for _, name := range []string{"orders", "mixed", "foreign_rows", "ahead", "counted", "negative", "mixed_signs"} {
			p.exec(t, "CREATE TABLE "+name+" (id BIGINT NOT NULL PRIMARY KEY)")
		}
		insert := func(table string, id snow.ID) {
			t.Helper()
			p.exec(t, fmt.Sprintf("INSERT INTO %s (id) VALUES (%d)", table, id))
		}
		for range 5 {
			insert("orders", next(t, shop))
			insert("mixed", next(t, shop))
			insert("mixed", next(t, billing))
		}
		fixed, err := snow.Fixed(snow.DefaultLayout(), 3)
		if err != nil {
			t.Fatal(err)
		}
		stranger, err := snow.NewGenerator(fixed, snow.Config{})
		if err != nil {
			t.Fatal(err)
		}
		insert("foreign_rows", next(t, shop))
		insert("foreign_rows", next(t, stranger))
		end := idcolumn.End(snow.DefaultLayout(), time.Now().Add(24*time.Hour))
		insert("ahead", end)
		insert("counted", 17)
		insert("negative", -5)
		insert("mixed_signs", -9223372036854775808)
		insert("mixed_signs", next(t, shop))

		got, _ := p.audit(t, audit.Config{})
		want(t, got,
			"error mixed.id: the namespaces billing and shop both write it",
			"error foreign_rows.id: 1 of its latest 2 ids are of worker numbers that nobody had leased then",
			"error ahead.id: above all ids that can be made now",
			"warning negative.id: its smallest value is -5, and no id is negative",
			"error mixed_signs.id: its smallest value is -9223372036854775808",
		)
		got, _ = p.audit(t, audit.Config{Namespaces: []string{"billing"}, Ignore: []string{"ahead", "foreign_rows", "negative", "mixed_signs"}})
		want(t, got, "error orders.id: nobody had leased then", "error mixed.id: 5 of its latest 10 ids")
		if _, err := audit.Run(t.Context(), p.readOnly, p.dialect, audit.Config{Namespaces: []string{"nix"}}); err == nil {
			t.Error("a namespace that does not exist is no error")
		}
		if _, err := p.readOnly.ExecContext(t.Context(), "CREATE TABLE written (id INT)"); err == nil {
			t.Error("the session of an audit can write")
		}
	})
}

// PostgreSQL has a foreign key to a partitioned table once more for each partition. It counts once.
func TestReferencesToPartitions(t *testing.T) {
	t.Parallel()
	server := dbtest.Postgres(t)
	p := product{dialect: sqlsnow.Postgres}
	p.db = open(t, inFile(t, server.DSN(server.CreateDatabase(t))), "postgres", database.Create)
	p.exec(t, "CREATE TABLE parts (id BIGINT PRIMARY KEY) PARTITION BY HASH (id)", "CREATE TABLE uses (id BIGINT PRIMARY KEY, part INT REFERENCES parts)",
		"CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0)", "CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1)")
	if got, err := audit.References(t.Context(), p.db, p.dialect, "uses"); err != nil || !slices.Equal(got, []string{"parts"}) {
		t.Errorf("uses refers to %q, %v", got, err)
	}
}
