//go:build unix

package datalayers

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

type Order struct {
	ID    snow.ID
	Buyer string
}

const table = `CREATE TABLE orders (
	id        BIGINT NOT NULL PRIMARY KEY CHECK (id > 0),
	buyer     VARCHAR(40) NOT NULL,
	parent_id BIGINT
)`

func newKeys(t *testing.T) *snow.Generator {
	t.Helper()
	worker, err := snow.Fixed(snow.DefaultLayout(), 7)
	check(t, err)
	keys, err := snow.NewGenerator(worker, snow.Config{})
	check(t, err)
	return keys
}

// openSQLite returns an empty database.
func openSQLite(t *testing.T) *sql.DB {
	t.Helper()
	return open(t, "sqlite3", "file:"+filepath.Join(t.TempDir(), "shop.db"))
}

// openMariaDB returns an empty database.
func openMariaDB(t *testing.T) *sql.DB {
	t.Helper()
	server := dbtest.MariaDB(t)
	return open(t, "mysql", server.DSN(server.CreateDatabase(t)))
}

func open(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	check(t, err)
	t.Cleanup(func() { check(t, db.Close()) })
	return db
}

func create(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	check(t, err)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// assign gives every order an id, with one call for all of them.
func assign(ctx context.Context, keys snow.Source, orders []Order) error {
	ids := make([]snow.ID, len(orders))
	if err := keys.Fill(ctx, ids); err != nil {
		return err
	}
	for i := range orders {
		orders[i].ID = ids[i]
	}
	return nil
}

// wantStored checks that the table has these orders and no others.
func wantStored(t *testing.T, db *sql.DB, want ...Order) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT id, buyer FROM orders ORDER BY id")
	check(t, err)
	defer rows.Close()
	var got []Order
	for rows.Next() {
		var o Order
		check(t, rows.Scan(&o.ID, &o.Buyer))
		got = append(got, o)
	}
	check(t, rows.Err())
	slices.SortFunc(want, func(a, b Order) int { return int(a.ID - b.ID) })
	if !slices.Equal(got, want) {
		t.Errorf("the table has %v, want %v", got, want)
	}
}
