package dbserver

import (
	"context"
	"database/sql"
	"strconv"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// An Engine is what one kind of database server has of its own.
type Engine struct {
	Dialect sqldialect.Dialect
	Now     string // the database's clock in microseconds since 1970 UTC; it stands still during a statement

	div      string
	greatest string
	least    string
	bound    string // binds a write to the look at its session; ends in AND where there is something
	guard    string // what must hold for a write to be durable once it is confirmed; ends in AND where there is something
	from     string // what the guard reads from
	durable  string // what else must hold for numbers of a segment; ends in AND where there is something

	// insertID writes 1 so that an UPDATE gives an expression to its caller as the insert id. It is nil where UPDATE has RETURNING.
	insertID func(expression string) string

	info     string // the query, whose first column is Now
	readInfo func(row []sql.NullString) Info

	look        func(ctx context.Context, s *Session) error // at a session, see there
	waitDurable func(ctx context.Context, s *Session) error // waits until what was written is durable; nil where its confirmation says so
	apart       func(ctx context.Context, s *Session) error // see Session.Apart; nil where look will do
}

// For returns the engine of a dialect, or a *snow.FieldError if there is no such dialect.
func For(d sqldialect.Dialect) (*Engine, error) {
	switch d {
	case sqldialect.MySQL:
		return mysqlEngine(), nil
	case sqldialect.Postgres:
		return postgresEngine(), nil
	case sqldialect.SQLite:
		return sqliteEngine(), nil
	}
	return nil, &snow.FieldError{Field: "dialect", Value: strconv.Itoa(int(d)), Bound: "want MySQL, Postgres or SQLite"}
}

// A Queryer is what a *sql.DB, *sql.Conn and *sql.Tx have in common.
type Queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
