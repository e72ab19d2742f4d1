//go:build unix

package segments_test

import (
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/leasefaults"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
	"github.com/shardsnow/snow/sqlsnow/sqlsnowtest"
)

func TestSegmentsOnMariaDB(t *testing.T) {
	sqlsnowtest.RunSegments(t, sqlsnow.MySQL, contractdb.MariaDB(dbtest.MariaDB(t, "max_connections=400")))
}

// No number is taken from a server that may forget it, even if it was set so while a process runs. Nor does an
// administrator's account take numbers from a replica.
func TestSegmentsOnMariaDBThatForgets(t *testing.T) {
	server := dbtest.MariaDB(t, "read_only=0") // of its own, for it is about to be set
	db := contractdb.Open(t, "mysql", server.DSN(server.CreateDatabase(t)))
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
	// A connection that the server ends is replaced.
	var kept int64
	if err := db.QueryRowContext(ctx, "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND db = DATABASE()").Scan(&kept); err != nil {
		t.Fatal(err)
	}
	exec(t, db, fmt.Sprintf("KILL %d", kept))
	for range 5 {
		awaitNext(t, running)
	}
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
