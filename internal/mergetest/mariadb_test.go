//go:build unix

package mergetest_test

import (
	"database/sql"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/internal/mergetest"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestRandomOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	mergetest.Run(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
}
