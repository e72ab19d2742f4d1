//go:build unix

// Package goose_test migrates all databases of shards with goose.
package goose_test

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

//go:embed migrations/*.sql
var files embed.FS

// up migrates all databases, one after the other. After an error, repeat it.
func up(ctx context.Context, dialect goose.Dialect, databases []*sql.DB, files fs.FS) error {
	for i, db := range databases {
		p, err := goose.NewProvider(dialect, db, files)
		if err == nil {
			_, err = p.Up(ctx)
		}
		if err != nil {
			return &snow.ShardError{Index: i, Err: err}
		}
	}
	return nil
}

// current fails unless all databases have all migrations, and no others. A program calls it when it starts.
func current(ctx context.Context, dialect goose.Dialect, databases []*sql.DB, files fs.FS) error {
	for i, db := range databases {
		p, err := goose.NewProvider(dialect, db, files)
		if err != nil {
			return &snow.ShardError{Index: i, Err: err}
		}
		has, wants, err := p.GetVersions(ctx)
		if err == nil && has != wants {
			err = fmt.Errorf("it has the version %d, and the program has %d", has, wants)
		}
		if err != nil {
			return &snow.ShardError{Index: i, Err: err}
		}
	}
	return nil
}

func TestAcross(t *testing.T) {
	for _, product := range []struct {
		name, driver string
		dialect      goose.Dialect
		dsn          func(t *testing.T) string // of an empty database
	}{
		{"SQLite", "sqlite3", goose.DialectSQLite3, func(t *testing.T) string {
			return "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=busy_timeout(60000)"
		}},
		{"MariaDB", "mysql", goose.DialectMySQL, func(t *testing.T) string {
			s := dbtest.MariaDB(t)
			return s.DSN(s.CreateDatabase(t))
		}},
		{"PostgreSQL", "pgx", goose.DialectPostgres, func(t *testing.T) string {
			s := dbtest.Postgres(t)
			return s.DSN(s.CreateDatabase(t))
		}},
	} {
		t.Run(product.name, func(t *testing.T) {
			ctx := t.Context()
			var databases []*sql.DB
			for range 4 {
				db, err := sql.Open(product.driver, product.dsn(t))
				check(t, err)
				t.Cleanup(func() { db.Close() })
				databases = append(databases, db)
			}
			all, err := fs.Sub(files, "migrations")
			check(t, err)
			first := only(t, all, "00001_orders.sql")

			behind := func(err error, index int, version string) {
				t.Helper()
				var shard *snow.ShardError
				if !errors.As(err, &shard) || shard.Index != index || !strings.Contains(err.Error(), version) {
					t.Errorf("got %v, want database %d with %s", err, index, version)
				}
			}
			behind(current(ctx, product.dialect, databases, first), 0, "it has the version 0, and the program has 1")
			check(t, up(ctx, product.dialect, databases, first))
			check(t, current(ctx, product.dialect, databases, first))

			// Database 2 has a table that is in the way of the second migration.
			_, err = databases[2].ExecContext(ctx, "ALTER TABLE orders ADD COLUMN state INT")
			check(t, err)
			behind(up(ctx, product.dialect, databases, all), 2, "version:2")
			behind(current(ctx, product.dialect, databases, all), 2, "it has the version 1, and the program has 2")
			behind(current(ctx, product.dialect, databases, first), 0, "it has the version 2, and the program has 1")
			_, err = databases[2].ExecContext(ctx, "ALTER TABLE orders DROP COLUMN state")
			check(t, err)
			check(t, up(ctx, product.dialect, databases, all))
			check(t, current(ctx, product.dialect, databases, all))
			for _, db := range databases {
				_, err := db.ExecContext(ctx, "INSERT INTO orders (id, buyer_id) VALUES (1, 2)")
				check(t, err)
			}
		})
	}
}

// only returns one of the files.
func only(t *testing.T, all fs.FS, name string) fs.FS {
	t.Helper()
	text, err := fs.ReadFile(all, name)
	check(t, err)
	return fstest.MapFS{name: {Data: text}}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
