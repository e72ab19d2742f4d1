//go:build unix

package lease_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// A migration runs sqlsnow.Migrate on an empty database of one product.
type migration struct {
	dialect  sqlsnow.Dialect
	driver   string
	dsn      string
	readOnly string   // appended to dsn: refuses writes
	lock     []string // take the lock of Migrate, in a connection
	obstacle string   // makes 0002_snow_workers fail
	waiting  string   // query: how many wait for the lock; empty where nobody can tell
}

func (m migration) open(t *testing.T, parameters string) *sql.DB {
	t.Helper()
	db, err := sql.Open(m.driver, m.dsn+parameters)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func migrate(t *testing.T, db *sql.DB, d sqlsnow.Dialect) {
	t.Helper()
	if err := sqlsnow.Migrate(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statements ...string,
) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// list returns the texts that a query finds.
func list(t *testing.T, db *sql.DB, query string) (texts []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return texts
}

var released = []string{"0001_snow_namespaces", "0002_snow_workers", "0003_snow_segments", "0004_snow_numbers"}

// wantMigrated checks what is recorded and that all tables are there and empty.
func wantMigrated(t *testing.T, db *sql.DB) {
	t.Helper()
	if got := list(t, db, "SELECT name FROM snow_migrations ORDER BY version"); !slices.Equal(got, released) {
		t.Errorf("snow_migrations: got %q, want %q", got, released)
	}
	if got := list(t, db, "SELECT namespace FROM snow_namespaces UNION ALL SELECT namespace FROM snow_workers UNION ALL SELECT tag FROM snow_segments UNION ALL SELECT series FROM snow_numbers"); len(got) != 0 {
		t.Errorf("namespaces %q in new tables", got)
	}
}

func wantNothing(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, table := range []string{"snow_migrations", "snow_namespaces", "snow_workers", "snow_segments", "snow_numbers"} {
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err == nil {
			t.Errorf("%s is there, with %d rows", table, n)
		}
	}
}

var migrationTests = map[string]func(*testing.T, migration){
	"reads only when done": func(t *testing.T, m migration) {
		db := m.open(t, "")
		migrate(t, db, m.dialect)
		wantMigrated(t, db)
		migrate(t, m.open(t, m.readOnly), m.dialect)
	},
	"read-only before": func(t *testing.T, m migration) {
		execute(t, m.open(t, ""), "CREATE TABLE other (id INT)") // SQLite opens no empty file to read
		if err := sqlsnow.Migrate(t.Context(), m.open(t, m.readOnly), m.dialect); !errors.Is(err, sqlsnow.ErrReadOnly) {
			t.Errorf("got %v, want %v", err, sqlsnow.ErrReadOnly)
		}
	},
	"fifty at once": func(t *testing.T, m migration) {
		start := make(chan struct{})
		var wg sync.WaitGroup
		for range 50 {
			db := m.open(t, "")
			if err := db.PingContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				<-start
				if err := sqlsnow.Migrate(t.Context(), db, m.dialect); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		wantMigrated(t, m.open(t, ""))
	},
	"waits for the lock": func(t *testing.T, m migration) {
		db := m.open(t, "")
		holder, err := m.open(t, "").Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer holder.Close()
		execute(t, holder, m.lock...)
		ctx, cancel := context.WithCancel(t.Context())
		impatient, patient := make(chan error), make(chan error)
		go func() { impatient <- sqlsnow.Migrate(ctx, db, m.dialect) }()
		go func() { patient <- sqlsnow.Migrate(t.Context(), db, m.dialect) }()
		for end := time.Now().Add(time.Minute); m.waiting != "" && list(t, db, m.waiting)[0] != "2"; {
			if time.Now().After(end) {
				t.Fatal("nobody waits for the lock after a minute")
			}
		}
		cancel()
		if err := <-impatient; !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "sqlsnow: migrate: ") {
			t.Errorf("cancelled while another holds the lock: got %v, want %v", err, context.Canceled)
		}
		wantNothing(t, db)
		execute(t, holder, "ROLLBACK")
		if err := <-patient; err != nil {
			t.Error(err)
		}
		wantMigrated(t, db)
	},
	"all or nothing": func(t *testing.T, m migration) {
		db := m.open(t, "")
		db.SetMaxOpenConns(1)
		execute(t, db, m.obstacle)
		err := sqlsnow.Migrate(t.Context(), db, m.dialect)
		if err == nil || !strings.HasPrefix(err.Error(), "sqlsnow: migrate: 0002_snow_workers: ") {
			t.Errorf("got %v, want an error that names 0002_snow_workers", err)
		}
		wantNothing(t, db)
		execute(t, db, "CREATE TABLE same_connection (id INT)") // in no transaction that failed
	},
	"after a newer version": func(t *testing.T, m migration) {
		db := m.open(t, "")
		migrate(t, db, m.dialect)
		execute(t, db, "DROP TABLE snow_workers", "INSERT INTO snow_migrations VALUES (9999, '9999_later', CURRENT_TIMESTAMP)")
		migrate(t, db, m.dialect)
		want := append(slices.Clone(released), "9999_later")
		if got := list(t, db, "SELECT name FROM snow_migrations ORDER BY version"); !slices.Equal(got, want) {
			t.Errorf("snow_migrations: got %q, want %q", got, want)
		}
		list(t, db, "SELECT namespace FROM snow_workers")
	},
	"after a tool": func(t *testing.T, m migration) {
		db := m.open(t, "")
		for _, statement := range []string{
			"DROP TABLE snow_migrations", "DELETE FROM snow_migrations", "DELETE FROM snow_migrations WHERE version = 1",
			"DROP TABLE snow_workers", "DROP TABLE snow_namespaces",
		} {
			migrate(t, db, m.dialect)
			execute(t, db, statement)
			migrate(t, db, m.dialect)
			wantMigrated(t, db)
		}
	},
	"one connection": func(t *testing.T, m migration) {
		db := m.open(t, "")
		db.SetMaxOpenConns(1)
		execute(t, db, "CREATE TEMP TABLE mark (id INT)") // goes with its connection
		migrate(t, db, m.dialect)
		wantMigrated(t, db)
		list(t, db, "SELECT id FROM mark")
	},
}

func TestMigratePostgres(t *testing.T) {
	t.Parallel()
	server := dbtest.Postgres(t)
	for name, test := range migrationTests {
		for _, isolation := range []string{"read committed", "serializable"} {
			t.Run(name+"/"+isolation, func(t *testing.T) {
				test(t, migration{
					dialect:  sqlsnow.Postgres,
					driver:   "pgx",
					dsn:      server.DSN(server.CreateDatabase(t)) + "&default_transaction_isolation=" + strings.Replace(isolation, " ", "%20", 1),
					readOnly: "&default_transaction_read_only=on",
					lock:     []string{"BEGIN", "SELECT pg_advisory_xact_lock(8317708120292682087)"},
					obstacle: "CREATE TYPE snow_workers AS ENUM ('x')",
					waiting: "SELECT COUNT(*)::text FROM pg_locks WHERE locktype = 'advisory' AND NOT granted" +
						" AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
				})
			})
		}
	}
}

func TestMigrateSQLite(t *testing.T) {
	t.Parallel()
	for name, test := range migrationTests {
		for _, journal := range []string{"delete", "wal"} {
			t.Run(name+"/"+journal, func(t *testing.T) {
				file := "file:" + filepath.Join(t.TempDir(), "snow.db")
				test(t, migration{
					dialect:  sqlsnow.SQLite,
					driver:   "sqlite3",
					dsn:      file + "?_pragma=busy_timeout(600000)&_pragma=journal_mode(" + journal + ")",
					readOnly: "&mode=ro",
					lock:     []string{"BEGIN IMMEDIATE"},
					obstacle: "CREATE TABLE other (id INT); CREATE INDEX snow_workers ON other (id)",
				})
			})
		}
	}
}

// A database in memory goes with its connection.
func TestMigrateSQLiteInMemory(t *testing.T) {
	db := migration{driver: "sqlite3", dsn: ":memory:"}.open(t, "")
	db.SetMaxOpenConns(1)
	migrate(t, db, sqlsnow.SQLite)
	migrate(t, db, sqlsnow.SQLite)
	wantMigrated(t, db)
}

func TestMigratePostgresColumns(t *testing.T) {
	t.Parallel()
	server := dbtest.Postgres(t)
	db := migration{driver: "pgx", dsn: server.DSN(server.CreateDatabase(t))}.open(t, "")
	migrate(t, db, sqlsnow.Postgres)
	const query = `SELECT concat_ws(' ', c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod), l.collname, CASE WHEN a.attnotnull THEN NULL ELSE 'NULL' END)
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_collation l ON l.oid = a.attcollation
		WHERE c.relkind = 'r' AND a.attnum > 0 AND c.relname IN ('snow_namespaces', 'snow_workers', 'snow_segments')`
	got := list(t, db, query)
	for _, want := range []string{
		"snow_namespaces.namespace character varying(64) C", "snow_namespaces.layout character varying(128) C",
		"snow_namespaces.registry_uuid character(36) C", "snow_namespaces.window_ms integer",
		"snow_workers.namespace character varying(64) C", "snow_workers.worker_id integer", "snow_workers.state smallint",
		"snow_workers.owner character(32) C NULL", "snow_workers.fence bigint", "snow_workers.ceiling_tick bigint",
		"snow_workers.holder character varying(255) default",
		"snow_segments.tag character varying(64) C", "snow_segments.next_id bigint",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// Tables of a schema that is not searched are not ours.
func TestMigratePostgresSchemas(t *testing.T) {
	t.Parallel()
	server := dbtest.Postgres(t)
	dsn := server.DSN(server.CreateDatabase(t))
	migrate(t, migration{driver: "pgx", dsn: dsn}.open(t, ""), sqlsnow.Postgres)
	db := migration{driver: "pgx", dsn: dsn}.open(t, "&search_path=orders")
	execute(t, db, "CREATE SCHEMA orders")
	migrate(t, db, sqlsnow.Postgres)
	wantMigrated(t, db)
}

func TestMigrateSQLiteIsStrict(t *testing.T) {
	t.Parallel()
	db := migration{driver: "sqlite3", dsn: "file:" + filepath.Join(t.TempDir(), "snow.db")}.open(t, "")
	migrate(t, db, sqlsnow.SQLite)
	const insert = "INSERT INTO snow_workers VALUES ('orders', 1, 0, NULL, 0, 0, 'x', 0, 0, 0, '')"
	if _, err := db.ExecContext(t.Context(), insert); err == nil {
		t.Error("a text was stored as a tick")
	}
	execute(t, db, strings.Replace(insert, "'x'", "7", 1))
}
