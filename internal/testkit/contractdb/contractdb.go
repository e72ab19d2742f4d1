//go:build unix

package contractdb

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow/sqlsnowtest"
)

// MariaDB returns what makes databases on a server, for the driver "mysql".
func MariaDB(server *dbtest.Server) func(*testing.T) sqlsnowtest.Database {
	return func(t *testing.T) sqlsnowtest.Database {
		open := opener("mysql", server.DSN(server.CreateDatabase(t)))
		return sqlsnowtest.Database{
			Open:       open(""),
			ReadOnly:   open("&" + server.Variable("tx_read_only") + "=1"),
			NotDurable: open("&autocommit=0"), // nobody would commit
			Sessions: map[string]func(*testing.T) *sql.DB{
				"found-rows":   open("&clientFoundRows=true"),
				"interpolated": open("&interpolateParams=true&" + server.Variable("tx_isolation") + "=%27READ-UNCOMMITTED%27"),
				"kolkata":      open("&time_zone=%27%2B05:30%27&loc=Asia%2FKolkata"),
				"serializable": open("&" + server.Variable("tx_isolation") + "=%27SERIALIZABLE%27"),
				"sloppy":       open("&sql_mode=%27%27"),
				"few-rows":     open("&sql_select_limit=1&sql_safe_updates=1"),
				"chained":      open("&completion_type=CHAIN"),
				"ansi":         open("&sql_mode=%27ANSI,TRADITIONAL%27"),
			},
		}
	}
}

// Postgres returns what makes databases on a server, for the driver "pgx".
func Postgres(server *dbtest.Server) func(*testing.T) sqlsnowtest.Database {
	return func(t *testing.T) sqlsnowtest.Database {
		open := opener("pgx", server.DSN(server.CreateDatabase(t)))
		return sqlsnowtest.Database{
			Open:     open(""),
			ReadOnly: open("&default_transaction_read_only=on"),
			Sessions: map[string]func(*testing.T) *sql.DB{
				"kolkata":      open("&TimeZone=Asia%2FKolkata"),
				"serializable": open("&default_transaction_isolation=serializable&session_replication_role=replica&row_security=off"),
				"asynchronous": open("&synchronous_commit=off"),
				"simple":       open("&default_query_exec_mode=simple_protocol"),
				"unprepared":   open("&default_query_exec_mode=exec"),
			},
		}
	}
}

// SQLite makes a database, for the driver "sqlite3" of ncruces.
func SQLite(t *testing.T) sqlsnowtest.Database {
	const usual = "&_pragma=journal_mode(wal)&_pragma=synchronous(full)"
	open := opener("sqlite3", "file:"+filepath.Join(t.TempDir(), "snow.db")+"?_pragma=busy_timeout(600000)")
	return sqlsnowtest.Database{
		Open:       open(usual),
		ReadOnly:   open("&_pragma=synchronous(full)&mode=ro"),
		NotDurable: open("&_pragma=journal_mode(wal)&_pragma=synchronous(normal)"),
		Sessions: map[string]func(*testing.T) *sql.DB{
			"immediate": open(usual + "&_txlock=immediate"),
			"extra":     open("&_pragma=journal_mode(wal)&_pragma=synchronous(extra)"),
		},
	}
}

// opener returns what opens a database with more parameters.
func opener(driver, dsn string) func(parameters string) func(*testing.T) *sql.DB {
	return func(parameters string) func(*testing.T) *sql.DB {
		return func(t *testing.T) *sql.DB {
			t.Helper()
			return Open(t, driver, dsn+parameters)
		}
	}
}

// Open opens a database, and closes it at the end of the test.
func Open(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // it may be closed, or its server gone
	return db
}
