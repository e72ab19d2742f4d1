//go:build unix

package merge_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// A merge through a pooler that gives each transaction any of its connections leaves no setting behind on them.
func TestPooler(t *testing.T) {
	const connections = 12
	server := dbtest.Postgres(t, "max_connections=60")
	var names []string
	open := func() *sql.DB {
		names = append(names, server.CreateDatabase(t))
		return opened(t, "pgx", server.Pooled(t, names[len(names)-1], connections)+"&default_query_exec_mode=exec")
	}
	source, target := transfer(t, sqlsnow.Postgres, open, "CREATE TABLE players (id SERIAL PRIMARY KEY, name TEXT, born TIMESTAMP)",
		"INSERT INTO players (name, born) SELECT 'player ' || n, '2026-01-01' FROM generate_series(1, 3000) n")
	for name, db := range map[string]*sql.DB{"source": source, "target": target} {
		ctx, cancel := context.WithCancel(t.Context())
		for n := range connections { // one transaction each, so that each has a connection of its own
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			var left sql.NullString
			if err := tx.QueryRowContext(ctx, "SELECT string_agg(name || ' is ' || setting, ', ') FROM pg_settings WHERE source = 'session'").Scan(&left); err != nil {
				t.Fatal(err)
			}
			if left.Valid {
				t.Errorf("%s: the connection has %s", name, left.String)
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO players (id, name) VALUES ($1, 'one more')", -n); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		cancel()
	}
}
