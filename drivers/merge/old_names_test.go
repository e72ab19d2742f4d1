//go:build unix

package merge_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/mergetest"
	"github.com/shardsnow/snow/merge"
	mergeplan "github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Friends by name follow a hero who is renamed. Names that differ in case only are names of others.
func TestOldNames(t *testing.T) {
	t.Run("PostgreSQL", func(t *testing.T) { oldNames(t, postgres(t)) })
	t.Run("SQLite", func(t *testing.T) { oldNames(t, sqlite) })
}

func oldNames(t *testing.T, e mergetest.Engine) {
	schema := []string{
		"CREATE TABLE heroes (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)",
		"CREATE TABLE friends (hero_id INTEGER NOT NULL REFERENCES heroes (id), friend_name TEXT NOT NULL, PRIMARY KEY (hero_id, friend_name))",
		"CREATE TABLE duels (winner_name VARCHAR(20), loser_name VARCHAR(20))",
	}
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
	for _, name := range []string{"s1", "s2"} {
		db := e.Open(t)
		run(db, schema...)
		for i := range 20 {
			hero := fmt.Sprint(name, "hero", i)
			if i == 3 {
				hero = "Ann"
			}
			run(db, fmt.Sprintf("INSERT INTO heroes VALUES (%d, '%s')", i+1, hero))
		}
		if name == "s2" {
			run(db, "INSERT INTO heroes VALUES (30, 'ann')")
		} else {
			run(db, "INSERT INTO heroes VALUES (30, 'ann of s1')")
		}
		run(db, "INSERT INTO friends SELECT a.id, b.name FROM heroes a CROSS JOIN heroes b WHERE a.id <= 5", "INSERT INTO duels SELECT a.name, b.name FROM heroes a JOIN heroes b ON b.id = a.id + 1")
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
	for _, column := range []*mergeplan.Column{p.Table("friends").Column("friend_name"), p.Table("duels").Column("winner_name"), p.Table("duels").Column("loser_name")} {
		if column.Role != mergeplan.RoleName {
			t.Errorf("%s: role %s, want name", column.Name, column.Role)
		}
	}
	decide(p)
	p.Questions = nil
	for _, table := range p.Tables {
		if table.Key() != nil {
			table.NewIDs = p.Sources
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
	m, err := merge.New(e.Dialect, target, sources, p, merge.Config{Namespace: "game", ChunkRows: 7})
	if err != nil {
		t.Fatal(err)
	}
	forecast, err := m.DryRun(t.Context())
	if err != nil || forecast.Err() != nil {
		t.Fatal(errors.Join(err, forecast.Err()))
	}
	found, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(found.OldNames) != 3 || !slices.EqualFunc(found.OldNames, forecast.OldNames, func(a, b report.OldNames) bool {
		return a.Column == b.Column && a.Rows == b.Rows && a.Follow && b.Follow
	}) {
		t.Errorf("the report has %+v, the forecast %+v", found.OldNames, forecast.OldNames)
	}
	for query, want := range map[string]string{
		"SELECT COUNT(*) FROM friends WHERE friend_name = 'Ann_s2'":              "5",
		"SELECT COUNT(*) FROM friends WHERE friend_name = 'Ann'":                 "5",
		"SELECT COUNT(*) FROM friends WHERE friend_name = 'ann'":                 "5",
		"SELECT COUNT(*) FROM friends f JOIN heroes h ON h.name = f.friend_name": "210",
		"SELECT loser_name FROM duels WHERE winner_name = 'Ann_s2'":              "s2hero4",
		"SELECT winner_name FROM duels WHERE loser_name = 'Ann_s2'":              "s2hero2",
	} {
		var got string
		if err := target.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", query, got, err, want)
		}
	}
}
