//go:build unix

package merge_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/mergetest"
	"github.com/shardsnow/snow/merge"
	mergeplan "github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Accounts of two sources and of the target are one where their names are: what they have of each item is added,
// and their heroes get other slots where those clash.
func TestAccountsBecomeOne(t *testing.T) {
	t.Run("PostgreSQL", func(t *testing.T) { accounts(t, postgres(t)) })
	t.Run("SQLite", func(t *testing.T) { accounts(t, sqlite) })
}

func accounts(t *testing.T, e mergetest.Engine) {
	schema := []string{
		"CREATE TABLE accounts (id INTEGER PRIMARY KEY, name VARCHAR(9) NOT NULL UNIQUE, gold NUMERIC(12,2), seen TIMESTAMP, note VARCHAR(20))",
		"CREATE TABLE bank (account_id INTEGER NOT NULL REFERENCES accounts (id), item VARCHAR(9) NOT NULL, amount SMALLINT NOT NULL, PRIMARY KEY (account_id, item))",
		"CREATE TABLE heroes (account_id INTEGER NOT NULL REFERENCES accounts (id), slot SMALLINT NOT NULL, name VARCHAR(9) NOT NULL, PRIMARY KEY (account_id, slot))",
	}
	target, s1, s2 := e.Open(t), e.Open(t), e.Open(t)
	run := func(db *sql.DB, statements ...string) {
		t.Helper()
		for _, text := range statements {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	run(s1, append(schema,
		"INSERT INTO accounts VALUES (1, 'ann', 1.50, '2024-01-01 00:00:00', 'a'), (2, 'bob', 1, NULL, NULL)",
		"INSERT INTO bank VALUES (1, 'ore', 10), (2, 'ore', 1)", "INSERT INTO heroes VALUES (1, 0, 'a0'), (1, 2, 'a2'), (2, 0, 'b0')")...)
	run(s2, append(schema,
		"INSERT INTO accounts VALUES (1, 'bob', 2.25, '2025-06-01 12:30:00', 'b'), (2, 'ann', 10, '2023-01-01 00:00:00', 'c')",
		"INSERT INTO bank VALUES (2, 'ore', 20), (2, 'gem', 3), (1, 'ore', 4)", "INSERT INTO heroes VALUES (1, 0, 'B0'), (1, 1, 'B1'), (2, 0, 'A0'), (2, 1, 'A1')")...)
	if err := errors.Join(
		sqlsnow.Migrate(t.Context(), target, e.Dialect),
		sqlsnow.Init(t.Context(), target, e.Dialect, sqlsnow.Namespace{Name: "game", Layout: snow.DefaultLayout(), Workers: 4}),
	); err != nil {
		t.Fatal(err)
	}
	sources := []merge.Source{{Name: "s1", DB: s1}, {Name: "s2", DB: s2}}
	p, err := merge.Inspect(t.Context(), e.Dialect, sources...)
	if err != nil {
		t.Fatal(err)
	}
	decide(p)
	p.Questions = nil
	for _, table := range p.Tables {
		for _, u := range table.Unique {
			if u.Rule, u.Decided, u.Suspects = mergeplan.RuleKeep, true, nil; table.Name == "heroes" {
				u.Rule = mergeplan.RuleRenumber
			}
			if len(u.Columns) == 1 && u.Columns[0] == "id" {
				u.Rule = mergeplan.RuleFail
			}
		}
	}
	for column, how := range map[string]mergeplan.Combine{"gold": mergeplan.CombineSum, "seen": mergeplan.CombineMax, "note": "COALESCE({a}, '') || {b}"} {
		p.Table("accounts").Column(column).Combine = how
	}
	p.Table("bank").Column("amount").Combine = mergeplan.CombineSum
	statements, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	run(target, append(statements, "INSERT INTO accounts VALUES (100, 'ann', 0.25, NULL, 't')", "INSERT INTO bank VALUES (100, 'ore', 5)", "INSERT INTO heroes VALUES (100, 1, 't1')")...)
	m, err := merge.New(e.Dialect, target, sources, p, merge.Config{Namespace: "game", ChunkRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	forecast, err := m.DryRun(t.Context())
	if err != nil || forecast.Problems > 0 {
		t.Fatal(err, forecast.Err())
	}
	if report, err := m.Run(t.Context()); err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	for query, want := range map[string]string{
		"SELECT name || ' ' || gold || ' ' || CAST(seen AS VARCHAR(19)) || ' ' || note FROM accounts ORDER BY name":                    "ann 11.75 2024-01-01 00:00:00 tac\nbob 3.25 2025-06-01 12:30:00 b",
		"SELECT a.name || ' ' || b.item || ' ' || b.amount FROM bank b JOIN accounts a ON a.id = b.account_id ORDER BY a.name, b.item": "ann gem 3\nann ore 35\nbob ore 5",
		"SELECT a.name || ' ' || h.slot || ' ' || h.name FROM heroes h JOIN accounts a ON a.id = h.account_id ORDER BY a.name, h.slot": "ann 0 a0\nann 1 t1\nann 2 a2\nann 3 A0\nann 4 A1\nbob 0 b0\nbob 1 B0\nbob 2 B1",
	} {
		if got := lines(t, target, query); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
