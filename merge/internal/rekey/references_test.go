//go:build unix

package rekey

import (
	"database/sql"
	"maps"
	"slices"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// opened returns a database with a ledger, and a session of it.
func opened(t *testing.T, statements ...string) *chunk.Session {
	t.Helper()
	server := dbtest.SharedMariaDB(t)
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	e, err := dialect.Of(sqlsnow.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	s, err := chunk.OpenSession(t.Context(), e, db, e.Target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := ledger.Of(s).Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, text := range statements {
		if _, err := s.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return s
}

// Where all rows get new ids, a row that the map does not have is none. Elsewhere it keeps its id, if it exists: that is
// asked of the source only where it matters.
func TestResolve(t *testing.T) {
	s := opened(t,
		"CREATE TABLE players (id BIGINT PRIMARY KEY)", "INSERT INTO players VALUES (1), (2), (3), (4), (5)",
		"INSERT INTO snow_merge_map VALUES (7, 1, 101, 0), (7, 2, 101, 1), (7, 3, NULL, 2)", // 4 and 5 are not there
	)
	players := &plan.Table{Name: "players", Columns: []*plan.Column{{Name: "id", Type: "bigint", Role: plan.RoleKey}}}
	empty := *players
	empty.Empty = true
	kept := func(ids ...int64) map[int64]ledger.Successor {
		found := map[int64]ledger.Successor{}
		for _, id := range ids {
			found[id] = ledger.Successor{ID: id, Fate: ledger.Kept}
		}
		return found
	}
	inMap := map[int64]ledger.Successor{1: {ID: 101, Fate: ledger.Rekeyed}, 2: {ID: 101, Fate: ledger.Merged}, 3: {Fate: ledger.Dropped}}
	besides := func(more map[int64]ledger.Successor) map[int64]ledger.Successor { maps.Copy(more, inMap); return more }
	dropped := map[int64]ledger.Successor{}
	for id := range int64(6) {
		dropped[id+1] = ledger.Successor{Fate: ledger.Dropped}
	}
	for _, test := range []struct {
		name  string
		table *ledger.SourceTable
		exact bool
		want  map[int64]ledger.Successor
	}{
		{"all get new ids", &ledger.SourceTable{ID: 7, Table: players, Mapped: true, Rekeys: true}, false, inMap},
		{"all get new ids, and rows are asked for", &ledger.SourceTable{ID: 7, Table: players, Mapped: true, Rekeys: true}, true, inMap},
		{"ids are kept, and some rows are merged", &ledger.SourceTable{ID: 7, Table: players, Mapped: true}, false, besides(kept(4, 5, 6))},
		{"ids are kept, and rows are asked for", &ledger.SourceTable{ID: 7, Table: players, Mapped: true}, true, besides(kept(4, 5))},
		{"nothing changes", &ledger.SourceTable{ID: 7, Table: players}, false, kept(1, 2, 3, 4, 5, 6)},
		{"nothing changes, and rows are asked for", &ledger.SourceTable{ID: 7, Table: players}, true, kept(1, 2, 3, 4, 5)},
		{"no row is copied", &ledger.SourceTable{ID: 7, Table: &empty, Mapped: true, Rekeys: true}, false, dropped},
		{"the source does not have the table", nil, true, map[int64]ledger.Successor{}},
	} {
		var source *Checker
		if test.exact {
			source = &Checker{s.Engine, s}
		}
		ids := []int64{6, 5, 4, 3, 2, 1}
		got, err := Resolve(t.Context(), ledger.MapOf(s), source, test.table, ids)
		for id, after := range got { // the map says nothing of the ids of rows that are dropped
			if after.Fate == ledger.Dropped {
				got[id] = ledger.Successor{Fate: ledger.Dropped}
			}
		}
		if err != nil || !maps.Equal(got, test.want) {
			t.Errorf("%s: got %v, %v, want %v", test.name, got, err, test.want)
		}
		if !slices.Equal(ids, []int64{6, 5, 4, 3, 2, 1}) {
			t.Errorf("%s: the ids were changed to %v", test.name, ids)
		}
	}
}

// A column is sound if all of its ids are ids of rows, but for the ones that stand for no row.
func TestAreRows(t *testing.T) {
	s := opened(t,
		"CREATE TABLE players (id BIGINT PRIMARY KEY)", "INSERT INTO players VALUES (1), (2)",
		"CREATE TABLE items (id INT PRIMARY KEY, good INT, free INT, bad INT)", "INSERT INTO items VALUES (1, 1, 0, 3), (2, 2, NULL, NULL), (3, NULL, -1, 1)",
	)
	of := func(name string, none ...string) *plan.Column {
		return &plan.Column{Name: name, Type: "int", Role: plan.RoleReference, None: none, Refers: []*plan.Reference{{Table: "players"}}}
	}
	p := &plan.Plan{Tables: []*plan.Table{{Name: "players", Columns: []*plan.Column{{Name: "id", Type: "bigint", Role: plan.RoleKey}}}, {Name: "items"}}}
	for _, test := range []struct {
		column *plan.Column
		want   bool
	}{
		{of("good"), true}, {of("free"), false}, {of("free", "0"), false}, {of("free", "0", "-1"), true}, {of("bad"), false}, {of("bad", "x"), false}, {of("bad", "3"), true},
	} {
		got, err := (&Checker{s.Engine, s}).AreRows(t.Context(), p, p.Table("items"), test.column)
		if err != nil || got != test.want {
			t.Errorf("%s, none %q: got %t, %v", test.column.Name, test.column.None, got, err)
		}
	}
}
