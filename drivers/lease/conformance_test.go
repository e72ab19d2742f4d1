//go:build unix

package lease_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/sqlsnowtest"
)

func TestLeasesOnPostgreSQL(t *testing.T) {
	t.Parallel()
	server := dbtest.Postgres(t, "max_connections=300")
	sqlsnowtest.Run(t, sqlsnow.Postgres, func(t *testing.T) sqlsnowtest.Database {
		dsn := server.DSN(server.CreateDatabase(t))
		open := func(parameters string) func(*testing.T) *sql.DB { return opener("pgx", dsn+parameters) }
		return sqlsnowtest.Database{
			Open:     open(""),
			ReadOnly: open("&default_transaction_read_only=on"),
			Sessions: map[string]func(*testing.T) *sql.DB{
				"kolkata":      open("&TimeZone=Asia%2FKolkata"),
				"serializable": open("&default_transaction_isolation=serializable"),
				"asynchronous": open("&synchronous_commit=off"),
				"simple":       open("&default_query_exec_mode=simple_protocol"),
				"unprepared":   open("&default_query_exec_mode=exec"),
			},
		}
	})
}

func TestPostgreSQLWithoutSync(t *testing.T) {
	server := dbtest.Postgres(t, "fsync=off")
	db := opener("pgx", server.DSN(server.CreateDatabase(t)))(t)
	defer db.Close()
	if err := sqlsnow.Migrate(t.Context(), db, sqlsnow.Postgres); err != nil {
		t.Fatal(err)
	}
	for _, loss := range []time.Duration{0, time.Minute} {
		ns := sqlsnow.Namespace{Name: "orders", Layout: snow.Default(), LossWindow: loss}
		if err := sqlsnow.Init(t.Context(), db, sqlsnow.Postgres, ns); !errors.Is(err, sqlsnow.ErrNotDurable) {
			t.Errorf("Init with a LossWindow of %v: got %v, want %v", loss, err, sqlsnow.ErrNotDurable)
		}
	}
}

func TestLeasesOnSQLite(t *testing.T) {
	t.Parallel()
	sqlsnowtest.Run(t, sqlsnow.SQLite, func(t *testing.T) sqlsnowtest.Database {
		const usual = "&_pragma=journal_mode(wal)&_pragma=synchronous(full)"
		dsn := "file:" + filepath.Join(t.TempDir(), "snow.db") + "?_pragma=busy_timeout(600000)"
		open := func(parameters string) func(*testing.T) *sql.DB { return opener("sqlite3", dsn+parameters) }
		return sqlsnowtest.Database{
			Open:       open(usual),
			ReadOnly:   open("&_pragma=synchronous(full)&mode=ro"),
			NotDurable: open("&_pragma=journal_mode(wal)&_pragma=synchronous(normal)"),
			Sessions: map[string]func(*testing.T) *sql.DB{
				"immediate": open(usual + "&_txlock=immediate"),
				"extra":     open("&_pragma=journal_mode(wal)&_pragma=synchronous(extra)"),
			},
		}
	})
}

// With the dialect of another server, the error names the server.
func TestOtherDialect(t *testing.T) {
	server := dbtest.Postgres(t)
	for found, db := range map[sqlsnow.Dialect]*sql.DB{
		sqlsnow.Postgres: opener("pgx", server.DSN(server.CreateDatabase(t)))(t),
		sqlsnow.SQLite:   opener("sqlite3", "file:"+filepath.Join(t.TempDir(), "snow.db"))(t),
	} {
		defer db.Close()
		for _, d := range []sqlsnow.Dialect{sqlsnow.MySQL, sqlsnow.Postgres, sqlsnow.SQLite} {
			err := sqlsnow.Migrate(t.Context(), db, d)
			var field *snow.FieldError
			if d == found && err == nil {
				continue
			}
			if d == found || !errors.As(err, &field) || field.Field != "dialect" || !strings.Contains(field.Bound, found.String()) {
				t.Errorf("Migrate of %v with the dialect %v: %v", found, d, err)
			}
		}
	}
}

func opener(driver, dsn string) func(*testing.T) *sql.DB {
	return func(t *testing.T) *sql.DB {
		t.Helper()
		db, err := sql.Open(driver, dsn)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
}
