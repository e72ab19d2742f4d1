//go:build unix

package functions_test

import (
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/functiontest"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestFunctions(t *testing.T) {
	functiontest.Run(t, functiontest.Target{Dialect: sqlsnow.MySQL, Server: dbtest.MariaDB, Driver: "mysql"})
}
