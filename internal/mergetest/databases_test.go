//go:build unix

package mergetest_test

import (
	"database/sql"
	"testing"

	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/internal/mergetest"
	"github.com/shardsnow/snow/sqlsnow"
)

// The server of the target has the sources too, and copies their rows itself.
func TestDatabasesOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	target := mergetest.Databases(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
	if n := byServer(t, target); n == 0 {
		t.Error("the server copied no chunk itself")
	}
}

// The sources are on another server, so that rows go through the process.
func TestDatabasesOnTwoServers(t *testing.T) {
	first, other := dbtest.MariaDB(t), dbtest.MariaDB(t)
	opened := 0
	target := mergetest.Databases(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		server := other
		if opened++; opened == 1 {
			server = first
		}
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
	if n := byServer(t, target); n > 0 {
		t.Errorf("the server copied %d chunks itself", n)
	}
}

// byServer returns how many chunks a server has copied itself.
func byServer(t *testing.T, target *sql.DB) (n int) {
	t.Helper()
	if err := target.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM snow_merge_chunks WHERE phase = 'copy' AND hash = REPEAT('0', 32)").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
