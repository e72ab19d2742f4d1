//go:build unix

package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// A fault cuts the connection at one statement: before the server gets it, or after it has done it. Commits are
// statements.
type fault struct {
	dsn   string
	at    int64
	after bool
	seen  atomic.Int64
}

func (f *fault) Driver() driver.Driver { return stdlib.GetDefaultDriver() }

func (f *fault) Connect(context.Context) (driver.Conn, error) {
	c, err := stdlib.GetDefaultDriver().Open(f.dsn)
	if err != nil {
		return nil, err
	}
	return &cut{c.(*stdlib.Conn), f}, nil
}

type cut struct {
	*stdlib.Conn
	f *fault
}

// do does a statement, or cuts the connection.
func (c *cut) do(statement func() error) error {
	hit := c.f.seen.Add(1) == c.f.at
	if !hit {
		return statement()
	}
	if c.f.after {
		_ = statement()
	}
	c.Close()
	return errLost
}

func (c *cut) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (r driver.Result, err error) {
	err = c.do(func() (err error) { r, err = c.Conn.ExecContext(ctx, q, args); return err })
	return r, err
}

func (c *cut) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (r driver.Rows, err error) {
	err = c.do(func() (err error) { r, err = c.Conn.QueryContext(ctx, q, args); return err })
	return r, err
}

func (c *cut) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.BeginTx(ctx, o)
	return &cutTx{tx, c}, err
}

type cutTx struct {
	driver.Tx
	c *cut
}

func (t *cutTx) Commit() error { return t.c.do(t.Tx.Commit) }

// smallTables and small are a schema with some of everything, so that many runs of it are quick.
func smallTables() []*plan.Table {
	all := shopTables()
	return []*plan.Table{all[0], all[1], {
		Name: "shapes", Key: "id", Counter: "serial", Sequence: "shapes_id_seq", Method: plan.Alter, Group: 1,
		Columns: []*plan.Column{{Name: "id", Type: "integer", To: "bigint"}, {Name: "customer_id", Type: "integer", To: "bigint"}},
	}}
}

var small = []string{
	`CREATE TABLE customers (id serial PRIMARY KEY, name text, referrer int REFERENCES customers ON DELETE SET NULL CHECK (referrer <> 0))`,
	`CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer_id int NOT NULL REFERENCES customers ON DELETE CASCADE, parent_id int REFERENCES orders, total int)`,
	`CREATE INDEX by_customer ON orders (customer_id) WHERE id > 0`,
	`CREATE TABLE shapes (id serial PRIMARY KEY, customer_id int REFERENCES customers ON DELETE CASCADE, twice int GENERATED ALWAYS AS (id * 2) STORED)`,
	`CREATE VIEW ids AS SELECT o.id, name FROM orders o JOIN customers c ON c.id = customer_id`,
	`INSERT INTO customers (name, referrer) SELECT 'c', CASE WHEN n > 5 THEN n - 5 END FROM generate_series(1, 100) n`,
	`INSERT INTO orders (customer_id, parent_id) SELECT n, NULLIF(n - 1, 0) FROM generate_series(1, 100) n`,
	`INSERT INTO shapes (customer_id) SELECT n FROM generate_series(1, 10) n`,
}

// TestKilledAtAnyStatement cuts the connection at a statement of a run, and lets another run go on. It does so forth
// and back, for each statement in the long form.
func TestKilledAtAnyStatement(t *testing.T) {
	w := newWorld(t, dbtest.Postgres(t, "fsync=off"), smallTables(), small...)
	template := w.text("SELECT current_database()")
	rows, narrow := contents(w), w.describe()
	admin := w.open(w.server.DSN("postgres"))
	w.db.Close()
	n := 0
	clone := func() *world {
		n++
		name := fmt.Sprintf("snow_clone_%d", n)
		for _, s := range []string{"CREATE DATABASE " + name + " TEMPLATE " + template} {
			if _, err := admin.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		c := &world{T: t, server: w.server, dsn: w.server.DSN(name), plan: w.plan}
		c.db = c.open(c.dsn)
		return c
	}
	drop := func(c *world) {
		c.db.Close()
		if _, err := admin.Exec("DROP DATABASE " + fmt.Sprintf("snow_clone_%d", n) + " WITH (FORCE)"); err != nil {
			t.Fatal(err)
		}
	}
	// One run without a fault says how many statements there are, and what is right.
	c := clone()
	forth, back := &fault{dsn: c.dsn}, &fault{dsn: c.dsn}
	c.must(c.forth(c.openFault(forth), job.Count))
	wide := c.describe()
	c.must(c.back(c.openFault(back)))
	if diff := differences(narrow, c.describe()); diff != "" {
		t.Fatalf("after the way back:\n%s", diff)
	}
	drop(c)
	kills := forth.seen.Load() + back.seen.Load()
	t.Logf("%d statements forth, %d back", forth.seen.Load(), back.seen.Load())
	stride := testscale.Of(kills/8, 1)
	for at := int64(1); at <= kills; at += stride {
		after := at/stride%2 == 0
		for _, after := range testscale.Of([]bool{after}, []bool{false, true}) {
			c := clone()
			back := at - forth.seen.Load()
			if back <= 0 {
				c.killed(&fault{dsn: c.dsn, at: at, after: after}, func(db *sql.DB) error { return c.forth(db, job.Count) })
				c.must(c.forth(c.db, job.Count))
				if diff := differences(wide, c.describe()); diff != "" {
					t.Fatalf("killed at statement %d (%v):\n%s", at, after, diff)
				}
			} else {
				c.must(c.forth(c.db, job.Count))
				c.killed(&fault{dsn: c.dsn, at: back, after: after}, c.back)
			}
			c.must(c.back(c.db))
			if diff := differences(narrow, c.describe()); diff != "" {
				t.Fatalf("killed at statement %d (%v), after the way back:\n%s", at, after, diff)
			}
			if now := contents(c); now != rows {
				t.Fatalf("killed at statement %d (%v): rows before:\n%s\nafter:\n%s", at, after, rows, now)
			}
			drop(c)
		}
	}
}

func (w *world) openFault(f *fault) *sql.DB {
	db := sql.OpenDB(f)
	w.Cleanup(func() { db.Close() })
	return db
}

// killed does something that must fail by the fault.
func (w *world) killed(f *fault, do func(*sql.DB) error) {
	w.Helper()
	db := w.openFault(f)
	defer db.Close()
	if err := do(db); !errors.Is(err, errLost) {
		w.Fatalf("killed at statement %d: got %v", f.at, err)
	}
}

// TestIndexLeftByKill builds an index anew that a kill has left in an invalid state.
func TestIndexLeftByKill(t *testing.T) {
	w := newWorld(t, dbtest.Postgres(t, "fsync=off"), smallTables()[:1], small...)
	w.exec("DROP TABLE orders, shapes CASCADE")
	for _, s := range w.steps() {
		if strings.HasSuffix(s.Name, ": indexes") {
			break
		}
		r, err := newRun(context.Background(), w.db, s)
		w.must(err)
		w.must(s.Do(context.Background(), r))
	}
	w.exec("ALTER TABLE customers DROP CONSTRAINT customers_pkey CASCADE", "INSERT INTO customers (id) VALUES (1)")
	if _, err := w.db.Exec(`CREATE UNIQUE INDEX CONCURRENTLY _snow_copy_customers_pkey ON customers (_snow_id)`); err == nil {
		t.Fatal("the index was built over equal rows")
	}
	w.exec("DELETE FROM customers WHERE name IS NULL", "ALTER TABLE customers ADD PRIMARY KEY (id)")
	if valid := w.text("SELECT indisvalid FROM pg_index WHERE indexrelid = '_snow_copy_customers_pkey'::regclass"); valid != "false" {
		t.Fatalf("the index is valid: %s", valid)
	}
	w.must(w.forth(w.db, job.Widen))
	if got := w.text(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'customers_pkey'::regclass`); got != "true" {
		t.Fatalf("the key's index is valid: %q", got)
	}
}
