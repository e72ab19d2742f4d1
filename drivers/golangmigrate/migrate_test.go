//go:build unix

// Package golangmigrate_test runs the files of package migrations with golang-migrate, by itself and in turns with
// sqlsnow.Migrate. It is a module of its own because of the drivers that come with golang-migrate.
package golangmigrate_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/mysql"
	pgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/database/sqlite"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/migrations"
	"github.com/shardsnow/snow/sqlsnow"
)

// A product is a database product on which both ways of migrating are tested.
type product struct {
	dialect sqlsnow.Dialect
	files   fs.FS
	driver  string // of database/sql
	dsn     string // of an empty database
	tool    func(*sql.DB) (database.Driver, error)
}

// world is an empty database with golang-migrate at hand.
type world struct {
	product
	db   *sql.DB
	tool *migrate.Migrate
}

func newWorld(t *testing.T, p product) *world {
	t.Helper()
	open := func() *sql.DB {
		db, err := sql.Open(p.driver, p.dsn)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	w := &world{product: p, db: open()}
	source, err := iofs.New(p.files, ".")
	if err != nil {
		t.Fatal(err)
	}
	driver, err := p.tool(open()) // closes it
	if err != nil {
		t.Fatal(err)
	}
	if w.tool, err = migrate.NewWithInstance("migrations", source, p.driver, driver); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		sourceErr, toolErr := w.tool.Close()
		if err := errors.Join(sourceErr, toolErr, w.db.Close()); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) migrate(t *testing.T) {
	t.Helper()
	if err := sqlsnow.Migrate(t.Context(), w.db, w.dialect); err != nil {
		t.Fatal(err)
	}
}

// want checks the version that golang-migrate is at, and that the first so many tables can be read.
func (w *world) want(t *testing.T, version uint, tables int) {
	t.Helper()
	got, dirty, err := w.tool.Version()
	if version == 0 && !errors.Is(err, migrate.ErrNilVersion) || version != 0 && (err != nil || got != version || dirty) {
		t.Errorf("version: got %d, dirty %v, %v; want %d", got, dirty, err, version)
	}
	for i, table := range []string{"snow_namespaces", "snow_workers", "snow_segments", "snow_numbers"} {
		want := i < tables
		var n int
		if err := w.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); (err == nil) != want {
			t.Errorf("%s is there: want %v, reading it got %v", table, want, err)
		}
	}
}

func done(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var orders = map[string]func(*testing.T, *world){
	"tool alone": func(t *testing.T, w *world) {
		w.want(t, 0, 0)
		done(t, w.tool.Steps(1))
		w.want(t, 1, 1)
		done(t, w.tool.Up())
		w.want(t, 4, 4)
		if err := w.tool.Up(); !errors.Is(err, migrate.ErrNoChange) {
			t.Errorf("up again: got %v, want %v", err, migrate.ErrNoChange)
		}
		done(t, w.tool.Steps(-1))
		w.want(t, 3, 3)
		done(t, w.tool.Down())
		w.want(t, 0, 0)
		done(t, w.tool.Up())
		w.want(t, 4, 4)
	},
	"tool, then Migrate": func(t *testing.T, w *world) {
		done(t, w.tool.Steps(1))
		w.migrate(t)
		w.want(t, 1, 4)
		done(t, w.tool.Up())
		w.migrate(t)
		w.want(t, 4, 4)
		done(t, w.tool.Down())
		w.want(t, 0, 0)
		w.migrate(t) // its record says that all was done
		w.want(t, 0, 4)
	},
	"Migrate, then tool": func(t *testing.T, w *world) {
		w.migrate(t)
		w.want(t, 0, 4)
		done(t, w.tool.Up())
		w.want(t, 4, 4)
		done(t, w.tool.Steps(-1))
		w.want(t, 3, 3)
		w.migrate(t)
		w.want(t, 3, 4)
		done(t, w.tool.Up())
		done(t, w.tool.Down())
		w.want(t, 0, 0)
	},
}

func run(t *testing.T, empty func(*testing.T) product) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) { order(t, newWorld(t, empty(t))) })
	}
}

func TestMariaDB(t *testing.T) {
	t.Parallel()
	server := dbtest.MariaDB(t)
	run(t, func(t *testing.T) product {
		return product{
			sqlsnow.MySQL, migrations.MySQL(), "mysql", server.DSN(server.CreateDatabase(t)),
			func(db *sql.DB) (database.Driver, error) { return mysql.WithInstance(db, &mysql.Config{}) },
		}
	})
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	server := dbtest.Postgres(t)
	run(t, func(t *testing.T) product {
		return product{
			sqlsnow.Postgres, migrations.Postgres(), "pgx/v5", server.DSN(server.CreateDatabase(t)),
			func(db *sql.DB) (database.Driver, error) { return pgx.WithInstance(db, &pgx.Config{}) },
		}
	})
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T) product {
		return product{
			sqlsnow.SQLite, migrations.SQLite(), "sqlite", filepath.Join(t.TempDir(), "snow.db") + "?_pragma=busy_timeout(600000)",
			func(db *sql.DB) (database.Driver, error) { return sqlite.WithInstance(db, &sqlite.Config{}) },
		}
	})
}
