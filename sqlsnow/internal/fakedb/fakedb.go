// Package fakedb is a database whose answers a test makes up.
package fakedb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
)

// An Answer returns the only row that a statement has, or nil if it has none.
type Answer func(ctx context.Context, query string) (row []driver.Value, err error)

// Open opens a database that answers queries, and statements that are executed. A statement with a row has changed one,
// and their insert id is its first value, an int64. There are no transactions, and nothing is prepared.
func Open(query, exec Answer) *sql.DB { return sql.OpenDB(connector{query, exec}) }

// Unexpected is the answer to statements that a test does not expect.
func Unexpected(context.Context, string) ([]driver.Value, error) { return nil, errUnexpected }

var errUnexpected = errors.New("unexpected")

type connector struct{ query, exec Answer }

func (c connector) Connect(context.Context) (driver.Conn, error) { return conn(c), nil }
func (c connector) Driver() driver.Driver                        { return nil }

type conn connector

func (conn) Prepare(string) (driver.Stmt, error) { return nil, errUnexpected }
func (conn) Begin() (driver.Tx, error)           { return nil, errUnexpected }
func (conn) Close() error                        { return nil }

// Ping is the query by which a pool asks whether a connection lives.
const Ping = "ping"

func (c conn) Ping(ctx context.Context) error {
	_, err := c.query(ctx, Ping)
	return err
}

func (c conn) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	row, err := c.query(ctx, query)
	return &rows{row: row, done: row == nil}, err
}

func (c conn) ExecContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	row, err := c.exec(ctx, query)
	return result(row), err
}

type rows struct {
	row  []driver.Value
	done bool
}

func (r *rows) Columns() []string { return make([]string, len(r.row)) }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(dest []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done = true
	copy(dest, r.row)
	return nil
}

type result []driver.Value

func (r result) RowsAffected() (int64, error) { return int64(min(1, len(r))), nil }
func (r result) LastInsertId() (int64, error) { return r[0].(int64), nil }
