//go:build unix

package page_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"log/slog"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardsnow/snow/httpsnow/page"
	"github.com/shardsnow/snow/sqlsnow"
)

// A counting connector counts the statements that its connections prepare, which is all that they can do.
type counting struct {
	driver.Connector
	n *atomic.Int64
}

func (c counting) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	return countingConn{conn, c.n}, err
}

type countingConn struct {
	driver.Conn
	n *atomic.Int64
}

func (c countingConn) Prepare(query string) (driver.Stmt, error) {
	c.n.Add(1)
	return c.Conn.Prepare(query)
}

// However many browsers look at six namespaces, the database gets this many queries once in Config.Every.
func TestQueries(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, sqlsnow.SQLite, spaces()...)
	connector, err := d.Driver().(driver.DriverContext).OpenConnector(d.dsn)
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	db := sql.OpenDB(counting{connector, &n})
	t.Cleanup(func() { _ = db.Close() })
	handler, err := page.New([]page.Database{{DB: db, Dialect: d.dialect}}, page.Config{Every: 100 * time.Millisecond, Timeout: patience, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	look := func() int64 {
		n.Store(0)
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/live", nil))
		return n.Load()
	}
	const first, then = 29, 20 // for n namespaces 4 n + 5 once a minute, and else 3 n + 2
	if got := look(); got != first {
		t.Errorf("at first: %d queries, want %d", got, first)
	}
	for got := int64(0); got == 0; { // until what was read is too old
		if got = look(); got != 0 && got != then {
			t.Errorf("then: %d queries, want %d", got, then)
		}
	}
}
