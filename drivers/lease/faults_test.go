//go:build unix

package lease_test

import (
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/leasefaults"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestFaults(t *testing.T) {
	leasefaults.Run(t, leasefaults.Target{
		Dialect: sqlsnow.Postgres, Server: dbtest.Postgres, Driver: "pgx", Import: "github.com/jackc/pgx/v5/stdlib",
	})
}
