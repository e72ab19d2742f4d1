//go:build unix

// Package number_test checks package numbers on PostgreSQL and SQLite.
package number_test

import (
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/numbertest"
	"github.com/shardsnow/snow/sqlsnow"
)

func postgres(server *dbtest.Server) numbertest.Target {
	return numbertest.Target{
		Dialect: sqlsnow.Postgres, Driver: "pgx",
		DSN:     func(t *testing.T) string { return server.DSN(server.CreateDatabase(t)) },
		Session: "SELECT pg_backend_pid()",
		Others:  "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() AND backend_type = 'client backend'",
		Kill:    "SELECT pg_terminate_backend(%d)",
	}
}

func TestNumbersOnPostgreSQL(t *testing.T) {
	numbertest.Run(t, postgres(dbtest.Postgres(t, "max_connections=400")))
}

func TestNumbersTurnOnPostgreSQL(t *testing.T) {
	server := dbtest.Postgres(t)
	numbertest.RunTurn(t, postgres(server), server)
}

func TestNumbersOnSQLite(t *testing.T) {
	numbertest.Run(t, numbertest.Target{
		Dialect: sqlsnow.SQLite, Driver: "sqlite3",
		DSN: func(t *testing.T) string {
			return "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(60000)&_txlock=immediate"
		},
	})
}

func TestNumbersChild(t *testing.T) {
	numbertest.Child(t, map[string]sqlsnow.Dialect{"pgx": sqlsnow.Postgres, "sqlite3": sqlsnow.SQLite})
}

// A standby takes over that lacks commits.
func TestNumbersFailoverOnPostgreSQL(t *testing.T) {
	numbertest.RunFailover(t, postgres(nil), func(t *testing.T) *dbtest.Server { return dbtest.Postgres(t) })
}
