//go:build unix

package merge_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/mysqlpooler"
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
			waitInVain(t, source)
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

// waitInVain waits for a table that a session has read, for longer than a session reads in one transaction.
func waitInVain(t *testing.T, db *sql.DB) {
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), "SET LOCAL lock_timeout = 1100"); err != nil {
		t.Error(err)
	}
	var refused *pgconn.PgError
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE players"); !errors.As(err, &refused) || refused.Code != "55P03" { // lock_not_available
		t.Errorf("the table that was read: got %v, want to wait for its lock in vain", err)
	}
}

// The connections of an application's pool have the settings that they had, after a merge that worked, one that
// failed and one that was cancelled.
func TestSettingsStay(t *testing.T) {
	for _, tt := range []struct {
		dialect  sqlsnow.Dialect
		open     func(t *testing.T) *sql.DB
		settings string
	}{
		{sqlsnow.MySQL, func(t *testing.T) *sql.DB {
			server := dbtest.MariaDB(t)
			return opened(t, "mysql", server.DSN(server.CreateDatabase(t))+"&time_zone=%27%2B05:30%27&sql_mode=%27ANSI%27&unique_checks=0&lock_wait_timeout=77")
		}, "SELECT CONCAT_WS(' ', @@time_zone, @@sql_mode, @@autocommit, @@foreign_key_checks, @@unique_checks, @@lock_wait_timeout," +
			" @@group_concat_max_len, @@tx_isolation, @@tx_read_only, @@character_set_results, @@collation_connection, @snow_merge_session)"},
		{sqlsnow.Postgres, func(t *testing.T) *sql.DB {
			server := dbtest.Postgres(t)
			return opened(t, "pgx", server.DSN(server.CreateDatabase(t))+"&TimeZone=Asia%2FKolkata&lock_timeout=77000")
		}, "SELECT string_agg(name || ' ' || setting, ' ' ORDER BY name) FROM pg_settings WHERE source IN ('session', 'client')" +
			" OR name LIKE 'transaction%' OR name = 'session_replication_role'"},
		{sqlsnow.SQLite, func(t *testing.T) *sql.DB {
			return opened(t, "sqlite3", "file:"+filepath.Join(t.TempDir(), "a.db")+"?_pragma=busy_timeout(77000)&_pragma=journal_mode(wal)")
		}, "SELECT query_only || ' ' || foreign_keys || ' ' || timeout FROM pragma_query_only, pragma_foreign_keys, pragma_busy_timeout"},
	} {
		t.Run(tt.dialect.String(), func(t *testing.T) {
			source, target := tt.open(t), tt.open(t)
			want := map[*sql.DB]string{}
			for _, db := range []*sql.DB{source, target} {
				db.SetMaxIdleConns(50)
				var settings string
				if err := db.QueryRowContext(t.Context(), tt.settings).Scan(&settings); err != nil {
					t.Fatal(err)
				}
				want[db] = settings
			}
			const players = "CREATE TABLE players (id BIGINT PRIMARY KEY, name VARCHAR(50))"
			exec(t, source, players)
			exec(t, source, "INSERT INTO players VALUES (7200000000000000001, 'one'), (7200000000000000002, 'two'), (7200000000000000003, 'three')")
			sources := []merge.Source{{Name: "old", DB: source}}
			p, err := merge.Inspect(t.Context(), tt.dialect, sources...)
			if err != nil {
				t.Fatal(err)
			}
			asProposed(p)
			run := func(what string, fails bool, stop func(context.CancelFunc)) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				m, err := merge.New(tt.dialect, target, sources, p, merge.Config{ChunkRows: 1, WithoutForeignKeys: true, Events: func(e report.Event) {
					if e.Kind == report.EventChunk {
						stop(cancel)
					}
				}})
				if err == nil {
					_, err = m.Run(ctx)
				}
				if (err != nil) != fails {
					t.Fatalf("%s: %v", what, err)
				}
				for db, want := range want {
					for n := db.Stats().Idle; n > 0; n-- {
						conn, err := db.Conn(t.Context())
						if err != nil {
							t.Fatal(err)
						}
						defer conn.Close()
						var got string
						if err := conn.QueryRowContext(t.Context(), tt.settings).Scan(&got); err != nil || got != want {
							t.Errorf("%s: a connection has %q, want %q, %v", what, got, want, err)
						}
					}
				}
			}
			run("without a table", true, func(context.CancelFunc) {})
			exec(t, target, players)
			run("cancelled", true, func(cancel context.CancelFunc) { cancel() })
			run("done", false, func(context.CancelFunc) {})
		})
	}
}

// A session of MySQL whose statements go to several connections of a pooler has lost its settings, and the merge is
// refused.
func TestMultiplexed(t *testing.T) {
	server := dbtest.MariaDB(t)
	direct := server.DSN(server.CreateDatabase(t))
	exec(t, opened(t, "mysql", direct), "CREATE TABLE players (id BIGINT PRIMARY KEY, born TIMESTAMP)")
	for connections, want := range map[int]error{1: nil, 2: report.ErrMultiplexed} {
		db := opened(t, "mysql", mysqlpooler.Start(t, direct, connections))
		if _, err := merge.Inspect(t.Context(), sqlsnow.MySQL, merge.Source{Name: "old", DB: db}); !errors.Is(err, want) {
			t.Errorf("%d connections: got %v, want %v", connections, err, want)
		}
	}
}
