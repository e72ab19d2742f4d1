//go:build unix

package sqlsnow_test

import (
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/leasefaults"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestFaults(t *testing.T) {
	leasefaults.Run(t, leasefaults.Target{
		Dialect: sqlsnow.MySQL, Server: dbtest.MariaDB, Driver: "mysql", Import: "github.com/go-sql-driver/mysql",
	})
}
