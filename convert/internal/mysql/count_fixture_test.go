package mysql

import (
	"context"
	"database/sql"
	"strconv"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// A counted database is one with a table that has the triggers, on a server of its own.
func open(tb testing.TB, server *dbtest.Server) *sql.DB {
	tb.Helper()
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(tb)))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

func session(tb testing.TB, db *sql.DB) *sql.Conn {
	tb.Helper()
	c, err := db.Conn(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

func must(tb testing.TB, db execer, statements ...string) {
	tb.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(tb.Context(), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
}

type queryer interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

func numbers(tb testing.TB, db queryer, query string) (all []int64) {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), query)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			tb.Fatal(err)
		}
		all = append(all, n)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

func hex(tag uint32) string { return strconv.FormatUint(uint64(tag), 16) }
