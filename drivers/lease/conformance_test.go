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
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
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
		ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), LossWindow: loss}
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

func TestElsewhereOnPostgreSQL(t *testing.T) {
	server := dbtest.Postgres(t)
	dsn := server.DSN(server.CreateDatabase(t))
	open := func(t *testing.T) *sql.DB { return contractdb.Open(t, "pgx", dsn) }
	for _, s := range []string{"CREATE SCHEMA tenant", "CREATE ROLE tenant", "GRANT ALL ON SCHEMA tenant, public TO tenant"} {
		if _, err := open(t).ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	forgetful := func(table string) contractdb.Forgetful {
		return contractdb.Forgetful{
			Table: table, Want: "UNLOGGED",
			Make: []string{"ALTER TABLE " + table + " SET UNLOGGED"}, Undo: []string{"ALTER TABLE " + table + " SET LOGGED"},
		}
	}
	contractdb.Elsewhere{
		Dialect: sqlsnow.Postgres,
		Open:    open,
		Tenant:  contractdb.Open(t, "pgx", dsn+"&search_path=tenant"), // which is the schema of its DSN
		Moves:   [][]string{{"SET search_path = tenant"}, {"SET search_path = tenant, public"}},
		Hide:    "CREATE TEMPORARY TABLE {table} AS SELECT * FROM {table}",
		Drop:    "DROP TABLE pg_temp.{table}",
		Forgets: []contractdb.Forgetful{
			forgetful("snow_workers"), forgetful("snow_namespaces"), forgetful("snow_segments"),
			{
				Table: "snow_namespaces", Want: "a relation of kind v",
				Make: []string{"ALTER TABLE snow_namespaces RENAME TO others", "CREATE VIEW snow_namespaces AS SELECT * FROM others"},
				Undo: []string{"DROP VIEW snow_namespaces", "ALTER TABLE others RENAME TO snow_namespaces"},
			},
		},
	}.Run(t)
	// With the default search_path, "$user" is the schema of the role.
	db := open(t)
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "SET ROLE tenant"); err != nil {
		t.Fatal(err)
	}
	var failed *sqlsnow.DatabaseError
	if _, err := sqlsnow.Workers(t.Context(), db, sqlsnow.Postgres, "orders"); !errors.As(err, &failed) || !failed.Elsewhere {
		t.Errorf("after SET ROLE: got %v, want a DatabaseError with Elsewhere", err)
	}
}

func TestElsewhereOnSQLite(t *testing.T) {
	contractdb.Elsewhere{
		Dialect: sqlsnow.SQLite,
		Open:    contractdb.SQLite(t).Open,
		Hide:    "CREATE TEMPORARY TABLE {table} AS SELECT * FROM main.{table}",
		Drop:    "DROP TABLE temp.{table}",
		Forgets: []contractdb.Forgetful{{
			Table: "snow_namespaces", Want: "a view",
			Make: []string{"ALTER TABLE snow_namespaces RENAME TO others", "CREATE VIEW snow_namespaces AS SELECT * FROM others"},
			Undo: []string{"DROP VIEW snow_namespaces", "ALTER TABLE others RENAME TO snow_namespaces"},
		}},
	}.Run(t)
}
