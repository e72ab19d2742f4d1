//go:build unix

package merge_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/internal/mergetest"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestCrashOnPostgreSQL(t *testing.T) {
	server := dbtest.Postgres(t)
	mergetest.Crash(t, mergetest.Engine{Dialect: sqlsnow.Postgres, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "pgx", server.DSN(server.CreateDatabase(tb)))
	}})
}

func TestCrashOnSQLite(t *testing.T) {
	mergetest.Crash(t, mergetest.Engine{Dialect: sqlsnow.SQLite, Open: func(tb testing.TB) *sql.DB {
		file := filepath.Join(tb.TempDir(), "snow.db")
		return mergetest.Open(tb, "sqlite3", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(30000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	}})
}
