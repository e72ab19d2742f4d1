//go:build unix

package mergetest_test

import (
	"database/sql"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/mergetest"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestCrashOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	mergetest.Crash(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}}, 1, 3)
}
