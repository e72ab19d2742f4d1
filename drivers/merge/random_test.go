//go:build unix

package merge_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/internal/mergetest"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestRandomOnPostgreSQL(t *testing.T) {
	server := dbtest.Postgres(t)
	dsn, n := server.DSN(server.CreateDatabase(t)), 0
	admin := mergetest.Open(t, "pgx", dsn)
	mergetest.Run(t, mergetest.Engine{Dialect: sqlsnow.Postgres, Open: func(tb testing.TB) *sql.DB {
		n++
		schema := fmt.Sprintf("world%d", n) // made a hundred times as fast as a database
		if _, err := admin.ExecContext(tb.Context(), "CREATE SCHEMA "+schema); err != nil {
			tb.Fatal(err)
		}
		return mergetest.Open(tb, "pgx", dsn+"&search_path="+schema)
	}})
}

func TestRandomOnSQLite(t *testing.T) {
	mergetest.Run(t, mergetest.Engine{Dialect: sqlsnow.SQLite, Open: func(tb testing.TB) *sql.DB {
		file := filepath.Join(tb.TempDir(), "snow.db")
		return mergetest.Open(tb, "sqlite3", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(30000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	}})
}
