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
	"github.com/shardsnow/snow/internal/contractdb"
	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/sqlsnowtest"
)

func TestLeasesOnPostgreSQL(t *testing.T) {
	t.Parallel()
	sqlsnowtest.Run(t, sqlsnow.Postgres, contractdb.Postgres(dbtest.Postgres(t, "max_connections=300")))
}

func TestPostgreSQLWithoutSync(t *testing.T) {
	server := dbtest.Postgres(t, "fsync=off")
	db := contractdb.Open(t, "pgx", server.DSN(server.CreateDatabase(t)))
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
	sqlsnowtest.Run(t, sqlsnow.SQLite, contractdb.SQLite)
}

// With the dialect of another server, the error names the server.
func TestOtherDialect(t *testing.T) {
	server := dbtest.Postgres(t)
	for found, db := range map[sqlsnow.Dialect]*sql.DB{
		sqlsnow.Postgres: contractdb.Open(t, "pgx", server.DSN(server.CreateDatabase(t))),
		sqlsnow.SQLite:   contractdb.Open(t, "sqlite3", "file:"+filepath.Join(t.TempDir(), "snow.db")),
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
