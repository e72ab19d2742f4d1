//go:build unix

package merge_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/mergetest"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestProofOnPostgreSQL(t *testing.T) { mergetest.Proof(t, postgres(t)) }

func TestClashesOnPostgreSQL(t *testing.T) {
	testscale.NeedLong(t)
	mergetest.Clashes(t, postgres(t))
}

func TestProofOnSQLite(t *testing.T) { mergetest.Proof(t, sqlite) }

func TestClashesOnSQLite(t *testing.T) { mergetest.Clashes(t, sqlite) }

// postgres opens schemas of one database, which are made a hundred times as fast as databases.
func postgres(t *testing.T) mergetest.Engine {
	server := dbtest.Postgres(t)
	dsn, n := server.DSN(server.CreateDatabase(t)), 0
	admin := mergetest.Open(t, "pgx", dsn)
	return mergetest.Engine{Dialect: sqlsnow.Postgres, Open: func(tb testing.TB) *sql.DB {
		n++
		schema := fmt.Sprintf("world%d", n)
		if _, err := admin.ExecContext(tb.Context(), "CREATE SCHEMA "+schema); err != nil {
			tb.Fatal(err)
		}
		return mergetest.Open(tb, "pgx", dsn+"&search_path="+schema)
	}}
}

var sqlite = mergetest.Engine{Dialect: sqlsnow.SQLite, Open: func(tb testing.TB) *sql.DB {
	const settings = "?_txlock=immediate&_pragma=busy_timeout(600000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)"
	return mergetest.Open(tb, "sqlite3", "file:"+filepath.Join(tb.TempDir(), "snow.db")+settings)
}}

func TestPreflightOnPostgreSQL(t *testing.T) { mergetest.Preflight(t, postgres(t)) }

func TestPreflightOnSQLite(t *testing.T) { mergetest.Preflight(t, sqlite) }

func TestCopiesOnPostgreSQL(t *testing.T) { mergetest.Copies(t, postgres(t)) }

func TestCopiesOnSQLite(t *testing.T) { mergetest.Copies(t, sqlite) }

func TestWitnessOnPostgreSQL(t *testing.T) { mergetest.Witness(t, postgres(t)) }

func TestWitnessOnSQLite(t *testing.T) { mergetest.Witness(t, sqlite) }

func TestBindingOnPostgreSQL(t *testing.T) { mergetest.Binding(t, postgres(t)) }

func TestBindingOnSQLite(t *testing.T) { mergetest.Binding(t, sqlite) }

func TestBoundsOnPostgreSQL(t *testing.T) { mergetest.Bounds(t, postgres(t)) }

func TestBoundsOnSQLite(t *testing.T) { mergetest.Bounds(t, sqlite) }

func TestPackedOnPostgreSQL(t *testing.T) { mergetest.Packed(t, postgres(t)) }

func TestPackedGoneOnPostgreSQL(t *testing.T) { mergetest.PackedGone(t, postgres(t)) }

func TestPackedOnSQLite(t *testing.T) { mergetest.Packed(t, sqlite) }

func TestPackedGoneOnSQLite(t *testing.T) { mergetest.PackedGone(t, sqlite) }

func TestCountersOnPostgreSQL(t *testing.T) { mergetest.Counters(t, postgres(t)) }

func TestCountersOnSQLite(t *testing.T) { mergetest.Counters(t, sqlite) }
