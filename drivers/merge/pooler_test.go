//go:build unix

package merge_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/report"
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

// A session that only reads ends its transaction after a while, so that ALTER TABLE does not wait for the end of a run.
func TestReadersEndTransactions(t *testing.T) {
	server := dbtest.Postgres(t)
	open := func() *sql.DB { return opened(t, "pgx", server.DSN(server.CreateDatabase(t))) }
	source, target := open(), open()
	exec(t, source, "CREATE TABLE players (id BIGINT PRIMARY KEY, name TEXT)")
	exec(t, source, "INSERT INTO players SELECT 7200000000000000000 + n, 'player ' || n FROM generate_series(1, 2000) n")
	sources := []merge.Source{{Name: "old", DB: source}}
	p, err := merge.Inspect(t.Context(), sqlsnow.Postgres, sources...)
	if err != nil {
		t.Fatal(err)
	}
	asProposed(p)
	exec(t, target, "CREATE TABLE players (id BIGINT PRIMARY KEY, name TEXT)")
	var paused sql.NullTime
	looks := 0
	m, err := merge.New(sqlsnow.Postgres, target, sources, p, merge.Config{ChunkRows: 100, Writers: 1, Events: func(e report.Event) {
		if e.Kind != report.EventChunk || e.Phase != "verify" {
			return
		}
		if !paused.Valid {
			if err := source.QueryRowContext(t.Context(), "SELECT clock_timestamp()").Scan(&paused); err != nil {
				t.Error(err)
			}
			time.Sleep(1100 * time.Millisecond) // longer than a session reads in one transaction
			return
		}
		looks++
		var old int
		if err := source.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()"+
			" AND query_start > $1::timestamptz + INTERVAL '1 s' AND xact_start <= $1::timestamptz", paused.Time).Scan(&old); err != nil || old > 0 {
			t.Errorf("%d sessions have read in an old transaction, %v", old, err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context()); err != nil || looks < 10 {
		t.Errorf("%d looks, %v", looks, err)
	}
}
