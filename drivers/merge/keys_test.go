//go:build unix

package merge_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	mergeplan "github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Rows are found by keys of any type, in the server's order, which is not the
// order of their texts.
func TestPostgreSQLKeys(t *testing.T) {
	server := dbtest.Postgres(t)
	open := func() *sql.DB { return opened(t, "pgx", server.DSN(server.CreateDatabase(t))) }
	statements := []string{"CREATE TYPE mood AS ENUM ('up', 'down', 'meh')", "CREATE TABLE players (id SERIAL PRIMARY KEY, friends INT[])"}
	const many = "generate_series(1, 1300) AS n"
	statements = append(statements, "INSERT INTO players (friends) SELECT ARRAY[n, NULL, 1301 - n] FROM "+many)
	types := []string{"mood", "NUMERIC", "INT[]", "INTERVAL", "DOUBLE PRECISION", "TIMESTAMPTZ", "INT4RANGE", "BYTEA", "BOOLEAN", "UUID"}
	for i, value := range []string{
		"(enum_range(NULL::mood))[1 + n % 3]", "n * 0.5 - 300", "ARRAY[n, n % 3]", "n * INTERVAL '1 hour'", "n / 7.0 - 100", "'0010-01-01 00:00:00+00'::timestamptz - n * INTERVAL '20 days'",
		"int4range(n, n + 5)", "decode(md5(n::text), 'hex')", "n % 2 = 0", "md5(n::text)::uuid",
	} {
		statements = append(statements, fmt.Sprintf("CREATE TABLE t%d (k %s, player_id INT REFERENCES players, PRIMARY KEY (k, player_id))", i, types[i]),
			fmt.Sprintf("INSERT INTO t%d SELECT %s, n FROM %s", i, value, many))
	}
	source, target := transfer(t, sqlsnow.Postgres, open, statements...)
	for i, typ := range types {
		query := fmt.Sprintf("SELECT k || ' ' || n FROM t%d JOIN (SELECT id, row_number() OVER (ORDER BY id) AS n FROM players) AS p ON p.id = player_id ORDER BY 1", i)
		query = strings.Replace(query, "k ||", "k::text ||", 1)
		if want, got := lines(t, source, query), lines(t, target, query); want != got {
			t.Errorf("key %s: the rows are not as they were", typ)
		}
	}
	const friends = `SELECT string_agg(COALESCE(f.n::text, '-'), ' ' ORDER BY e.at) FROM players, unnest(friends) WITH ORDINALITY AS e(id, at)
		LEFT JOIN (SELECT id, row_number() OVER (ORDER BY id) AS n FROM players) AS f ON f.id = e.id GROUP BY players.id ORDER BY players.id`
	if want, got := lines(t, source, friends), lines(t, target, friends); want != got || !strings.HasPrefix(got, "1 - 1300\n") {
		t.Errorf("the ids in arrays are not those of the same rows: %.200s", got)
	}
}

// SQLite names no unique key that CREATE TABLE has: each stays a key of its own.
func TestSQLiteUnnamedKeys(t *testing.T) {
	source := opened(t, "sqlite3", "file:"+filepath.Join(t.TempDir(), "source.db"))
	if _, err := source.ExecContext(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b INT, c INT, UNIQUE (a, b), UNIQUE (c, b), UNIQUE (c, a, b))"); err != nil {
		t.Fatal(err)
	}
	plan, err := merge.Inspect(t.Context(), sqlsnow.SQLite, merge.Source{Name: "s1", DB: source})
	if err != nil {
		t.Fatal(err)
	}
	var keys [][]string
	for _, u := range plan.Table("t").Unique {
		keys = append(keys, u.Columns)
	}
	if got, want := fmt.Sprint(keys), "[[a b] [c b] [c a b]]"; got != want {
		t.Errorf("the unique keys are %s, want %s", got, want)
	}
}

// SQLite allows for NULL in primary keys.
func TestSQLiteNullInKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "source.db")
	source, target := opened(t, "sqlite3", "file:"+path), opened(t, "sqlite3", "file:"+filepath.Join(t.TempDir(), "target.db"))
	for _, text := range []string{"CREATE TABLE t (a TEXT, b INTEGER, PRIMARY KEY (a, b))", "INSERT INTO t VALUES ('x', 1), ('x', NULL), ('y', NULL), ('y', NULL)"} {
		if _, err := source.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := merge.Inspect(t.Context(), sqlsnow.SQLite, merge.Source{Name: "s1", DB: source})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := plan.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range schema {
		if _, err := target.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	m, err := merge.New(sqlsnow.SQLite, target, []merge.Source{{Name: "s1", DB: source}}, plan, merge.Config{})
	if err != nil {
		t.Fatal(err)
	}
	forecast, err := m.DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, failed := m.Run(t.Context())
	for _, err := range []error{forecast.Err(), failed} {
		var bad *mergeplan.Error
		if !errors.As(err, &bad) || bad.Table != "t" {
			t.Errorf("got %v, want an error of the table", err)
		}
	}
}
