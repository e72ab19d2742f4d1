//go:build unix

package mergetest_test

import (
	"database/sql"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/mergetest"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestProofOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	mergetest.Proof(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
}

func TestClashesOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	mergetest.Clashes(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
}

func TestPreflightOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	mergetest.Preflight(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
}

func TestCopiesOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	mergetest.Copies(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
}

func TestWitnessOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	mergetest.Witness(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
}

func TestBindingOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	mergetest.Binding(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
}

func TestBoundsOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	mergetest.Bounds(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
}

func TestPackedOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	e := mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}}
	mergetest.Packed(t, e)
	mergetest.PackedGone(t, e)
}

func TestCountersOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	mergetest.Counters(t, mergetest.Engine{Dialect: sqlsnow.MySQL, Open: func(tb testing.TB) *sql.DB {
		return mergetest.Open(tb, "mysql", server.DSN(server.CreateDatabase(tb)))
	}})
}
