//go:build unix

package chunk_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestSpan(t *testing.T) {
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
	var values []string
	for i := range 3000 {
		values = append(values, fmt.Sprintf("(1, 'note', %[1]d), (2, 'note', %[1]d)", 10*(i+1)))
	}
	for _, text := range []string{
		"CREATE TABLE items (realm INT NOT NULL, note VARCHAR(20) NOT NULL, id BIGINT NOT NULL, PRIMARY KEY (id, realm))",
		"INSERT INTO items VALUES " + strings.Join(values, ", "),
	} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	realm, note, id := &plan.Column{Name: "realm", Type: "int"}, &plan.Column{Name: "note", Type: "varchar(20)"}, &plan.Column{Name: "id", Type: "bigint"}
	columns := []*plan.Column{realm, note, id}
	keys := func(ids ...int64) (all [][]any) {
		for _, id := range ids {
			all = append(all, []any{id, int64(1)})
		}
		return all
	}
	every := func(step, n int) (ids []int64) {
		for i := range n {
			ids = append(ids, int64(10*(1+i*step)))
		}
		return ids
	}
	for _, tt := range []struct {
		name string
		by   []*plan.Column
		keys [][]any
		rows int // -1: it is not worth while
	}{
		{"neighbours, in any order", []*plan.Column{id, realm}, keys(30, 10, 20), 6},
		{"some of them twice", []*plan.Column{id, realm}, keys(30, 30, 10), 4},
		{"some that are not there", []*plan.Column{id, realm}, keys(7, 10, 1<<40), -1},
		{"nobody in between", []*plan.Column{id, realm}, keys(29_990, 1<<40), 2},
		{"every other one", []*plan.Column{id, realm}, keys(every(1, 1500)...), 3000},
		{"every twentieth", []*plan.Column{id, realm}, keys(every(20, 150)...), -1},
		{"no integers", []*plan.Column{note}, [][]any{{"note"}}, -1},
		{"none", []*plan.Column{id, realm}, nil, -1},
	} {
		rows, ok, err := new(chunk.Span).Read(t.Context(), e, db, "items", columns, tt.by, tt.keys)
		switch {
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case ok != (tt.rows >= 0):
			t.Errorf("%s: worth while: got %t", tt.name, ok)
		case ok && len(rows) != tt.rows:
			t.Errorf("%s: got %d rows, want %d", tt.name, len(rows), tt.rows)
		}
		for _, row := range rows {
			wanted := slices.ContainsFunc(tt.keys, func(key []any) bool { return key[0] == row[2] })
			if n, _ := row[2].(int64); !wanted || row[1] != "note" || n == 0 {
				t.Errorf("%s: got row %v", tt.name, row)
			}
		}
	}
}

// A span that has learned to pass over the rows of others finds all of its own, whatever comes after.
func TestSpanAmongOthers(t *testing.T) {
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
	random := rand.New(rand.NewPCG(3, 4))
	// Ids as those of two workers, then of another sequence, then far apart and negative.
	var own, all []int64
	for i := range int64(2000) {
		own, all = append(own, i<<22|1<<12|random.Int64N(4)), append(all, i<<22|2<<12)
	}
	for i := range int64(1000) {
		own, all = append(own, 1<<40+3*i), append(all, 1<<40+3*i+1)
	}
	for range 500 {
		own = append(own, random.Int64()-1<<62)
	}
	slices.Sort(own)
	all = append(all, own...)
	var values []string
	for _, id := range all {
		values = append(values, fmt.Sprintf("(%d)", id))
	}
	for _, text := range []string{"CREATE TABLE items (id BIGINT NOT NULL PRIMARY KEY)", "INSERT INTO items VALUES " + strings.Join(values, ", ")} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	columns := []*plan.Column{{Name: "id", Type: "bigint"}}
	for range 20 {
		var span chunk.Span
		worth := 0
		for rest := own[random.IntN(600):]; len(rest) > 0; {
			n := min(len(rest), 1+random.IntN(300))
			keys := make([][]any, n)
			for i, id := range rest[:n] {
				keys[i] = []any{id}
			}
			rows, ok, err := span.Read(t.Context(), e, db, "items", columns, columns, keys)
			if err != nil {
				t.Fatal(err)
			}
			if ok && !slices.EqualFunc(rows, keys, slices.Equal) {
				t.Fatalf("got %d rows of %d from %d on", len(rows), n, rest[0])
			}
			if ok {
				worth++
			}
			rest = rest[n:]
		}
		if worth == 0 {
			t.Error("it was never worth while")
		}
	}
}
