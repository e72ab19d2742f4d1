//go:build unix

// Package gormcheck_test runs gormsnow's CreateOnce, Check and queries on MariaDB, PostgreSQL and SQLite.
package gormcheck_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// newGenerator returns a generator for a worker number that nobody else has.
func newGenerator(tb testing.TB) *snow.Generator {
	tb.Helper()
	return newGeneratorOf(tb, snow.DefaultLayout())
}

func newGeneratorOf(tb testing.TB, layout snow.Layout) *snow.Generator {
	tb.Helper()
	worker, err := snow.Fixed(layout, 7)
	if err != nil {
		tb.Fatal(err)
	}
	generator, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	return generator
}

// A database is an empty one of a product.
type database struct {
	product string
	dsn     string
	addr    string // of its server, empty for SQLite
}

// each runs a test with an empty database of each product, which run at the same time.
func each(t *testing.T, test func(t *testing.T, d database)) {
	t.Parallel()
	for _, product := range []string{"mariadb", "postgres", "sqlite"} {
		t.Run(product, func(t *testing.T) {
			t.Parallel()
			test(t, newDatabase(t, product))
		})
	}
}

func newDatabase(t *testing.T, product string) database {
	t.Helper()
	switch product {
	case "mariadb":
		server := dbtest.MariaDB(t)
		return database{product, server.DSN(server.CreateDatabase(t)), server.Addr()}
	case "postgres":
		server := dbtest.Postgres(t)
		return database{product, server.DSN(server.CreateDatabase(t)), server.Addr()}
	}
	return database{product, "file:" + filepath.Join(t.TempDir(), "test.db") + "?_pragma=busy_timeout(600000)&_pragma=journal_mode(wal)", ""}
}

func (d database) dialector() gorm.Dialector {
	switch d.product {
	case "mariadb":
		return mysql.Open(d.dsn)
	case "postgres":
		return postgres.Open(d.dsn)
	}
	return gormlite.Open(d.dsn)
}

// openBare returns a pool of its own, without the plugin.
func (d database) openBare(tb testing.TB, config gorm.Config) *gorm.DB {
	tb.Helper()
	config.DisableForeignKeyConstraintWhenMigrating = true // sharded tables have none
	config.Logger = logger.Discard
	db, err := gorm.Open(d.dialector(), &config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		pool, err := db.DB()
		if err == nil {
			err = pool.Close()
		}
		if err != nil {
			tb.Error(err)
		}
	})
	pool, err := db.DB()
	if err != nil {
		tb.Fatal(err)
	}
	pool.SetMaxOpenConns(32)
	return db
}

func (d database) open(tb testing.TB, config gorm.Config) *gorm.DB {
	tb.Helper()
	db := d.openBare(tb, config)
	if err := db.Use(gormsnow.New(newGenerator(tb))); err != nil {
		tb.Fatal(err)
	}
	return db
}

func migrate(tb testing.TB, db *gorm.DB, models ...any) {
	tb.Helper()
	if err := db.AutoMigrate(models...); err != nil {
		tb.Fatal(err)
	}
}

func execute(tb testing.TB, db *gorm.DB, statements ...string) {
	tb.Helper()
	for _, statement := range statements {
		if err := db.Exec(statement).Error; err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestMain fails the package where goroutines are left at its end.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := goroutinesLeft(); code == 0 && left != "" {
		fmt.Println("goroutines left:\n" + left)
		code = 1
	}
	os.Exit(code)
}

func goroutinesLeft() (left string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 6000 { // goroutines of connections that were closed a moment ago are ending
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left = ""
		for _, stack := range strings.Split(string(stacks), "\n\n") {
			// Until the end of the process dbtest keeps one goroutine, and GORM one for each cache of prepared
			// statements.
			if !strings.Contains(stack, "TestMain") && !strings.Contains(stack, "internal/testkit/dbtest.") && !strings.Contains(stack, "gorm/internal/lru.") {
				left += stack + "\n\n"
			}
		}
		if left == "" {
			return ""
		}
		<-tick.C
	}
	return left
}
