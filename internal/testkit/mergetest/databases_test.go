//go:build unix

package mergetest_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/mergetest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// The server of the target has the sources too.
func TestDatabasesOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	target := mergetest.Databases(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
	var packs int
	if err := target.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM snow_merge_packs").Scan(&packs); err != nil || packs == 0 {
		t.Errorf("%d packs, %v", packs, err)
	}
}

// The sources are on another server.
func TestDatabasesOnTwoServers(t *testing.T) {
	first, other := dbtest.MariaDB(t), dbtest.MariaDB(t)
	opened := 0
	mergetest.Databases(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		server := other
		if opened++; opened == 1 {
			server = first
		}
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
}

// Realms that share a database of accounts are merged without it: references to it stay as they are, and an
// assertion tests that the rows exist.
func TestSharedDatabase(t *testing.T) {
	server := dbtest.MariaDB(t)
	open := func() (*sql.DB, string) {
		name := server.CreateDatabase(t)
		return mergetest.Open(t, "mysql", server.DSN(name)), name
	}
	exec := func(db *sql.DB, statements ...string) {
		t.Helper()
		for _, text := range statements {
			if _, err := db.ExecContext(t.Context(), dbtest.Sequences(text)); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	shared, auth := open()
	exec(shared, "CREATE TABLE account (id INT AUTO_INCREMENT PRIMARY KEY, username VARCHAR(20) NOT NULL)",
		"INSERT INTO account (username) SELECT CONCAT('a', seq) FROM seq_1_to_90")
	target, into := open()
	if err := errors.Join(
		sqlsnow.Migrate(t.Context(), target, sqlsnow.MySQL),
		sqlsnow.Init(t.Context(), target, sqlsnow.MySQL, sqlsnow.Namespace{Name: "game", Layout: snow.DefaultLayout(), Workers: 4}),
	); err != nil {
		t.Fatal(err)
	}
	var sources []merge.Source
	for _, name := range []string{"eu", "us"} {
		db, is := open()
		exec(db, "CREATE TABLE hero (id INT AUTO_INCREMENT PRIMARY KEY, account INT NOT NULL, name VARCHAR(20) NOT NULL UNIQUE, CONSTRAINT owner FOREIGN KEY (account) REFERENCES "+auth+".account (id))",
			"INSERT INTO hero (account, name) SELECT 91 - seq, CONCAT('"+name+"-', 91 - seq) FROM seq_1_to_90")
		sources = append(sources, merge.Source{Name: name, DB: db, Databases: map[string]string{"characters": is}})
	}
	p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, sources...)
	if err != nil {
		t.Fatal(err)
	}
	hero := p.Table("characters.hero")
	if len(hero.ForeignKeys) > 0 || !strings.Contains(strings.Join(hero.Notes, "\n"), "owner refers to "+auth+".account, in another database") {
		t.Errorf("foreign keys %v, notes %q", hero.ForeignKeys, hero.Notes)
	}
	for _, q := range p.Questions {
		if err := p.Decide(q, plan.AnswerPlain); err != nil {
			t.Fatal(err)
		}
	}
	account := hero.Column("account")
	if account.Role != plan.RolePlain {
		t.Errorf("account has the role %s", account.Role)
	}
	account.Decided, account.Suspects = true, nil
	cfg := merge.Config{Namespace: "game", Databases: map[string]string{"characters": into}, Assertions: []merge.Assertion{
		{Name: "heroes without an account", SQL: "SELECT COUNT(*) FROM {characters}.hero WHERE account NOT IN (SELECT id FROM " + auth + ".account)"},
	}}
	statements, err := p.SchemaIn(cfg.Databases)
	if err != nil {
		t.Fatal(err)
	}
	exec(target, statements...)
	m, err := merge.New(sqlsnow.MySQL, target, sources, p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Assertions) != 1 || found.Assertions[0].Got != "0" {
		t.Errorf("assertions: %+v", found.Assertions)
	}
	var n int
	err = target.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM hero h JOIN "+auth+".account a ON a.id = h.account AND h.name LIKE CONCAT('%-', SUBSTRING(a.username, 2))").Scan(&n)
	if err != nil || n != 180 {
		t.Errorf("%d heroes have their account, %v", n, err)
	}
	exec(target, "UPDATE hero SET account = 1000 WHERE name = 'eu-3'")
	if found, err = m.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(found.Failures, func(f report.Failure) bool { return f.Check == report.CheckAssertion }) {
		t.Errorf("a hero without an account: %+v", found.Failures)
	}
}
