//go:build unix

// Package segment_test runs the contract of segments on PostgreSQL and SQLite.
package segment_test

import (
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
	"github.com/shardsnow/snow/sqlsnow/sqlsnowtest"
)

func TestSegmentsOnPostgreSQL(t *testing.T) {
	sqlsnowtest.RunSegments(t, sqlsnow.Postgres, contractdb.Postgres(dbtest.Postgres(t, "max_connections=400")))
}

func TestSegmentsOnPostgreSQLWithoutSync(t *testing.T) {
	server := dbtest.Postgres(t, "fsync=off")
	db := contractdb.Open(t, "pgx", server.DSN(server.CreateDatabase(t)))
	defer db.Close()
	if err := sqlsnow.Migrate(t.Context(), db, sqlsnow.Postgres); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"", "INSERT INTO snow_segments VALUES ('orders', 's', 1, 0, 1, 1, 0)"} {
		if _, err := db.ExecContext(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		_, err := segments.Open(t.Context(), []*sql.DB{db}, sqlsnow.Postgres, segments.Config{Tag: "orders"})
		if !errors.Is(err, sqlsnow.ErrNotDurable) {
			t.Errorf("after %q: got %v, want %v", row, err, sqlsnow.ErrNotDurable)
		}
	}
}

func TestSegmentsOnSQLite(t *testing.T) {
	sqlsnowtest.RunSegments(t, sqlsnow.SQLite, contractdb.SQLite)
}

// With a journal that a crash destroys, no setting of synchronous makes SQLite durable.
func TestSegmentsOnSQLiteWithoutJournal(t *testing.T) {
	dsn := "file:" + filepath.Join(t.TempDir(), "snow.db") + "?_pragma=synchronous(extra)&_pragma=journal_mode"
	cfg := segments.Config{Tag: "orders", Logger: slog.New(slog.DiscardHandler)}
	for _, test := range []struct {
		mode string
		want error
	}{
		{"memory", sqlsnow.ErrNotDurable}, // without a row
		{"delete", nil},
		{"memory", sqlsnow.ErrNotDurable},
		{"off", sqlsnow.ErrNotDurable},
		{"truncate", nil},
	} {
		db := contractdb.Open(t, "sqlite3", dsn+"("+test.mode+")")
		defer db.Close()
		if err := sqlsnow.Migrate(t.Context(), db, sqlsnow.SQLite); err != nil {
			t.Fatal(err)
		}
		s, err := segments.Open(t.Context(), []*sql.DB{db}, sqlsnow.SQLite, cfg)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.mode, err, test.want)
		}
		if err == nil {
			defer s.Close(t.Context())
		}
	}
}
