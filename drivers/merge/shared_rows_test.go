//go:build unix

package merge_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/mergetest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/sqlsnow"
)

// Tables that are the same on both servers are kept once as it is proposed: numbers under equal ids, under a key of the
// program, and without a key.
func TestSharedRows(t *testing.T) {
	t.Run("PostgreSQL", func(t *testing.T) { sharedRows(t, postgres(t)) })
	t.Run("SQLite", func(t *testing.T) { sharedRows(t, sqlite) })
}

func sharedRows(t *testing.T, e mergetest.Engine) {
	target := e.Open(t)
	run := func(db *sql.DB, statements ...string) {
		t.Helper()
		for _, text := range statements {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	var sources []merge.Source
	for n, name := range []string{"s1", "s2"} {
		db := e.Open(t)
		run(db,
			"CREATE TABLE heroes (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)",
			"CREATE TABLE drops (id INTEGER PRIMARY KEY, monster INTEGER NOT NULL, chance INTEGER)",
			"CREATE TABLE shop (monster INTEGER NOT NULL, price INTEGER NOT NULL, amount INTEGER, PRIMARY KEY (monster, price))",
			"CREATE TABLE gacha (weight INTEGER, prize INTEGER)",
			fmt.Sprintf("INSERT INTO heroes VALUES (1, 'a%d'), (2, 'b%d')", n, n),
		)
		for i := range 12 {
			run(db,
				fmt.Sprintf("INSERT INTO drops VALUES (%d, %d, %d)", i+1, 70000+i*37, i%3),
				fmt.Sprintf("INSERT INTO shop VALUES (%d, %d, %d)", 70000+i, i*5, i%3),
				fmt.Sprintf("INSERT INTO gacha VALUES (NULL, %d), (%d, %d)", i/2, i, i),
			)
		}
		sources = append(sources, merge.Source{Name: name, DB: db})
	}
	if err := errors.Join(
		sqlsnow.Migrate(t.Context(), target, e.Dialect),
		sqlsnow.Init(t.Context(), target, e.Dialect, sqlsnow.Namespace{Name: "game", Layout: snow.DefaultLayout(), Workers: 4}),
	); err != nil {
		t.Fatal(err)
	}
	p, err := merge.Inspect(t.Context(), e.Dialect, sources...)
	if err != nil {
		t.Fatal(err)
	}
	p.Questions = nil
	p.Table("heroes").NewIDs = p.Sources
	for _, table := range p.Tables {
		for _, c := range table.Columns {
			c.Decided = true
		}
		for _, u := range table.Unique {
			u.Decided, u.Suspects = true, nil
		}
	}
	statements, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	run(target, statements...)
	m, err := merge.New(e.Dialect, target, sources, p, merge.Config{Namespace: "game", ChunkRows: 5})
	if err != nil {
		t.Fatal(err)
	}
	if forecast, err := m.DryRun(t.Context()); err != nil || forecast.Err() != nil {
		t.Fatal(errors.Join(err, forecast.Err()))
	}
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]int{"heroes": 4, "drops": 12, "shop": 12, "gacha": 24} {
		var got int
		if err := target.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d rows, %v, want %d", table, got, err, want)
		}
	}
}
