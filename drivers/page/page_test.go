//go:build unix

// Package page_test looks at the page of package page in a real browser, Debian's Chromium without a window. What
// it shows is what MariaDB, PostgreSQL and SQLite have.
package page_test

import (
	"database/sql"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/httpsnow/page"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// A database is one with the tables of package sqlsnow.
type database struct {
	driver, dsn string
	dialect     sqlsnow.Dialect
	*sql.DB
}

func newDatabase(t *testing.T, dialect sqlsnow.Dialect, namespaces ...sqlsnow.Namespace) database {
	t.Helper()
	d := database{dialect: dialect}
	switch dialect {
	case sqlsnow.MySQL:
		server := dbtest.MariaDB(t)
		d.driver, d.dsn = "mysql", server.DSN(server.CreateDatabase(t))
	case sqlsnow.Postgres:
		server := dbtest.Postgres(t)
		d.driver, d.dsn = "pgx", server.DSN(server.CreateDatabase(t))
	default:
		d.driver = "sqlite3"
		d.dsn = "file:" + filepath.Join(t.TempDir(), "shop.db") + "?_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)"
	}
	d.DB = d.open(t)
	if err := sqlsnow.Migrate(t.Context(), d.DB, dialect); err != nil {
		t.Fatal(err)
	}
	for _, ns := range namespaces {
		if err := sqlsnow.Init(t.Context(), d.DB, dialect, ns); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d database) open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// name returns what the database is called.
func (d database) name(t *testing.T) (name string) {
	t.Helper()
	if d.dialect == sqlsnow.SQLite {
		return "shop.db"
	}
	query := map[sqlsnow.Dialect]string{sqlsnow.MySQL: "SELECT DATABASE()", sqlsnow.Postgres: "SELECT current_database()"}[d.dialect]
	if err := d.QueryRowContext(t.Context(), query).Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

// held returns "worker holder" of each row that the database has as granted.
func (d database) held(t *testing.T) (all []string) {
	t.Helper()
	rows, err := sqlsnow.Workers(t.Context(), d.DB, d.dialect, "shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range rows {
		if w.State == sqlsnow.Granted {
			all = append(all, fmt.Sprint(w.Worker, " ", w.Holder))
		}
	}
	return all
}

// age puts a time of a worker number back, as if it had passed.
func (d database) age(t *testing.T, worker, column string, by time.Duration) {
	t.Helper()
	query := fmt.Sprintf("UPDATE snow_workers SET %s = %[1]s - %d WHERE namespace = 'shop' AND worker_id = %s", column, by.Milliseconds(), worker)
	if _, err := d.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	for _, dialect := range []sqlsnow.Dialect{sqlsnow.MySQL, sqlsnow.Postgres, sqlsnow.SQLite} {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			b := newBrowser(t)
			shop := sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout(), Workers: 6}
			testPage(t, b, newDatabase(t, dialect, shop))
		})
	}
}

func testPage(t *testing.T, b *browser, d database) {
	logger := slog.New(slog.DiscardHandler)
	shown := d.open(t)
	handler, err := page.New([]page.Database{{DB: shown, Dialect: d.dialect}}, page.Config{Every: 200 * time.Millisecond, Timeout: patience, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)

	killed, other := hold(t, d), hold(t, d)
	b.open(server.URL + "/")
	if want := d.held(t); len(want) != 2 {
		t.Fatalf("held: %v", want)
	} else if got := b.strings(`[...document.querySelectorAll("tr[data-row]")].map(r => r.dataset.row + " " + r.cells[4].innerText)`); !slices.Equal(got, want) {
		t.Errorf("the page shows %q, the database has %q", got, want)
	}
	if got := b.strings(`[...document.querySelectorAll(".counts li")].map(c => c.textContent)`); !slices.Equal(got,
		[]string{"2 held", "0 late", "0 claimed", "0 cooling", "0 reserved", "4 free"}) {
		t.Errorf("counts: %q", got)
	}
	product := map[sqlsnow.Dialect]string{sqlsnow.MySQL: "MariaDB 1", sqlsnow.Postgres: "PostgreSQL 1", sqlsnow.SQLite: "SQLite 3"}[d.dialect]
	if got := b.text(".database h2"); !strings.Contains(got, product) || !strings.Contains(got, d.name(t)) {
		t.Errorf("the database is called %q, it is %s of %s", got, d.name(t), product)
	}

	b.decode(killed.id)
	if got := b.text("#decoded"); !strings.Contains(got, killed.id) || !strings.Contains(got, killed.holder) || !strings.Contains(got, "ago") {
		t.Errorf("id %s of %s: %s", killed.id, killed.holder, got)
	}
	b.strings(`window.marked = true, []`) // which a page that is loaded again does not have

	counters, err := segments.Open(t.Context(), []*sql.DB{d.DB}, d.dialect, segments.Config{Tag: "orders", Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = counters.Close(t.Context()) })
	if err := counters.Fill(t.Context(), make([]snow.ID, 10)); err != nil {
		t.Fatal(err)
	}
	b.await(`document.querySelector("tr[data-tag=orders]")?.cells[4].innerText.includes("a second over")`)
	rows, err := segments.Counters(t.Context(), d.DB, d.dialect)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%v, %v", rows, err)
	}
	b.await(fmt.Sprintf(`document.querySelector("tr[data-tag=orders]").cells[2].innerText === "%d"`, rows[0].Next))

	if wide := b.strings(`document.documentElement.scrollWidth > window.innerWidth ? [document.documentElement.scrollWidth + " > " + window.innerWidth] : []`); len(wide) != 0 {
		t.Errorf("the page is wider than a phone: %v", wide)
	}

	killed.kill()
	d.age(t, killed.worker, "renewed_at_ms", 8*time.Minute)
	row := func(worker string) string {
		return fmt.Sprintf(`document.querySelector('tr[data-row="%s"]')`, worker)
	}
	b.await(row(killed.worker) + `?.className === "late" && document.querySelector(".late-leases").innerText.includes("` + killed.holder + `") && document.title === "(1 late) snow"`)
	if got := b.strings(`[` + row(other.worker) + `.className]`); !slices.Equal(got, []string{"held"}) {
		t.Errorf("the other process: %q", got)
	}
	d.age(t, killed.worker, "ceiling_tick", time.Hour)
	b.await(`!` + row(killed.worker) + ` && document.querySelector("[data-count=free]").textContent === "5 free" && document.title === "snow"`)

	if err := sqlsnow.Fence(t.Context(), d.DB, d.dialect, "shop"); err != nil {
		t.Fatal(err)
	}
	// The fence moves the end of the killed process's window, too: its row still says that the process has it.
	b.await(`document.querySelector(".fences")?.innerText.includes("6 numbers at") &&
		document.querySelector("[data-count=cooling]").textContent === "4 cooling" && document.querySelector("[data-count=late]").textContent === "1 late"`)

	if err := shown.Close(); err != nil {
		t.Fatal(err)
	}
	b.await(`document.querySelector(".failing")?.innerText.includes("has not answered since") && ` + row(other.worker) + ` !== null && document.title.startsWith("(1 down")`)
	server.Close()
	b.await(`!document.getElementById("lost").hidden`)
	b.await(`window.marked === true`)
	b.check(server.URL)
}
