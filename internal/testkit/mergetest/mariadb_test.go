//go:build unix

package mergetest_test

import (
	"database/sql"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/mergetest"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestRandomOnMariaDB(t *testing.T) {
	server, other := dbtest.MariaDB(t), dbtest.MariaDB(t)
	// In every other world the sources are on another server than the target, which is opened first.
	worlds := map[testing.TB]bool{}
	mergetest.Run(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		on := server
		if apart, begun := worlds[tb]; !begun {
			worlds[tb] = len(worlds)%2 == 1
		} else if apart {
			on = other
		}
		return mergetest.Open(tb, "mysql", on.DSN(on.CreateDatabase(tb)))
	}})
}
