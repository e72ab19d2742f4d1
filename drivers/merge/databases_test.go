//go:build unix

package merge_test

import (
	"database/sql"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/mergetest"
	"github.com/shardsnow/snow/sqlsnow"
)

// Each realm is a database, with a schema of accounts and one of characters.
func TestDatabasesOnPostgreSQL(t *testing.T) {
	server := dbtest.Postgres(t)
	mergetest.Databases(t, mergetest.Engine{Dialect: sqlsnow.Postgres, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "pgx", server.DSN(server.CreateDatabase(tb)))
	}})
}
