//go:build unix

package segments_test

import (
	"database/sql"
	"errors"
	"log/slog"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/internal/leasefaults"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
	"github.com/shardsnow/snow/sqlsnow/sqlsnowtest"
)

func TestSegmentsOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t, "max_connections=400")
	sqlsnowtest.RunSegments(t, sqlsnow.MySQL, func(t *testing.T) sqlsnowtest.Database {
		dsn := server.DSN(server.CreateDatabase(t))
		open := func(parameters string) func(*testing.T) *sql.DB {
			return func(t *testing.T) *sql.DB { return openMariaDB(t, dsn+parameters) }
		}
		return sqlsnowtest.Database{
			Open:       open(""),
			ReadOnly:   open("&" + server.Variable("tx_read_only") + "=1"),
			NotDurable: open("&autocommit=0"),
			Sessions: map[string]func(*testing.T) *sql.DB{
				"found-rows":   open("&clientFoundRows=true"),
				"interpolated": open("&interpolateParams=true"),
				"serializable": open("&" + server.Variable("tx_isolation") + "=%27SERIALIZABLE%27"),
				"sloppy":       open("&sql_mode=%27%27"),
				"few-rows":     open("&sql_select_limit=1"),
				"chained":      open("&completion_type=CHAIN"),
				"ansi":         open("&sql_mode=%27ANSI,TRADITIONAL%27"),
			},
		}
	})
}

// No number is taken from a server that may forget it, also if that was set while a process runs, nor from a replica by an administrator.
func TestSegmentsOnMariaDBThatForgets(t *testing.T) {
	server := dbtest.MariaDB(t, "read_only=0") // of its own, for it is about to be set
	db := openMariaDB(t, server.DSN(server.CreateDatabase(t)))
	ctx := t.Context()
	if err := sqlsnow.Migrate(ctx, db, sqlsnow.MySQL); err != nil {
		t.Fatal(err)
	}
	cfg := segments.Config{Tag: "orders", Step: 1, MaxStep: 1, Logger: slog.New(slog.DiscardHandler)}
	running, err := segments.Open(ctx, []*sql.DB{db}, sqlsnow.MySQL, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close(ctx)
	for setting, want := range map[string]error{
		"innodb_flush_log_at_trx_commit = 2": sqlsnow.ErrNotDurable,
		"innodb_flush_log_at_trx_commit = 0": sqlsnow.ErrNotDurable,
		"read_only = 1":                      sqlsnow.ErrReadOnly,
	} {
		exec(t, db, "SET GLOBAL "+setting)
		_, err := segments.Open(ctx, []*sql.DB{db}, sqlsnow.MySQL, cfg)
		if !errors.Is(err, want) {
			t.Errorf("%s: Open: got %v, want %v", setting, err, want)
		}
		for n := 0; ; n++ {
			if _, err := running.Next(ctx); err != nil {
				if !errors.Is(err, want) {
					t.Errorf("%s: Next: got %v, want %v", setting, err, want)
				}
				break
			}
			if n > 10 {
				t.Fatalf("%s: ids go on", setting)
			}
		}
		exec(t, db, "SET GLOBAL innodb_flush_log_at_trx_commit = 1", "SET GLOBAL read_only = 0")
		awaitNext(t, running)
	}
}

func openMariaDB(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// awaitNext waits until there are ids again.
func awaitNext(t *testing.T, s *segments.Segments) {
	t.Helper()
	for {
		if _, err := s.Next(t.Context()); err == nil {
			return
		} else if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

func TestSegmentFaults(t *testing.T) {
	leasefaults.RunSegments(t, leasefaults.Target{
		Dialect: sqlsnow.MySQL, Server: dbtest.MariaDB, Driver: "mysql", Import: "github.com/go-sql-driver/mysql",
	})
}
