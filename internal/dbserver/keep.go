package dbserver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
)

// Keep returns a handle that takes its connections from db, and keeps the last one that it used until Close gives
// it back. So its user has a connection even if all others of db are in use, as long as it needs one at a time and
// the connection lives. A connection that died is replaced by another one of db. The handle doesn't prepare
// statements.
func Keep(db *sql.DB) *sql.DB {
	kept := sql.OpenDB(keeper{db})
	kept.SetMaxIdleConns(1)
	return kept
}

// Revive looks whether the connection of a handle from Keep is alive, and takes another one if it is not. This also
// keeps the connection alive where something on its way ends idle ones.
func Revive(ctx context.Context, kept *sql.DB) {
	for range 2 {
		conn, err := kept.Conn(ctx)
		if err != nil {
			return
		}
		if err = conn.PingContext(ctx); err != nil {
			Discard(conn)
		}
		_ = conn.Close()
		if err == nil {
			return
		}
	}
}

// source returns the pool that db takes connections from: db itself, unless it is from Keep.
func source(db *sql.DB) *sql.DB {
	if k, ok := db.Driver().(keeper); ok {
		return k.db
	}
	return db
}

// A keeper is the connector of a handle from Keep, and its driver.
type keeper struct{ db *sql.DB }

func (k keeper) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := k.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &keptConn{conn}, nil
}

func (k keeper) Driver() driver.Driver { return k }

func (k keeper) Open(string) (driver.Conn, error) { return k.Connect(context.Background()) }

// A keptConn is a connection of another pool. Close gives it back.
type keptConn struct{ *sql.Conn }

var errKept = errors.New("a kept connection prepares nothing")

func (c *keptConn) Prepare(string) (driver.Stmt, error) { return nil, errKept }

func (c *keptConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *keptConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.IsolationLevel(o.Isolation), ReadOnly: o.ReadOnly})
	if err != nil {
		return nil, dead(err)
	}
	return tx, nil
}

func (c *keptConn) Ping(ctx context.Context) error { return dead(c.PingContext(ctx)) }

// ResetSession does what the pool does before it gives out a connection.
func (c *keptConn) ResetSession(ctx context.Context) error {
	return dead(c.Raw(func(conn any) error {
		if v, ok := conn.(driver.Validator); ok && !v.IsValid() {
			return driver.ErrBadConn
		}
		if r, ok := conn.(driver.SessionResetter); ok {
			return r.ResetSession(ctx)
		}
		return nil
	}))
}

func (c *keptConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.Conn.ExecContext(ctx, query, plain(args)...)
	return result, dead(err)
}

func (c *keptConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.Conn.QueryContext(ctx, query, plain(args)...) //nolint:rowserrcheck // Next does
	if err != nil {
		return nil, dead(err)
	}
	return keptRows{rows}, nil
}

func plain(args []driver.NamedValue) []any {
	values := make([]any, len(args))
	for i, arg := range args {
		values[i] = arg.Value
	}
	return values
}

// dead returns the error by which a pool recognises a connection that is closed.
func dead(err error) error {
	if errors.Is(err, sql.ErrConnDone) {
		return driver.ErrBadConn
	}
	return err
}

type keptRows struct{ *sql.Rows }

func (r keptRows) Columns() []string {
	names, _ := r.Rows.Columns() // an error only after Close
	return names
}

func (r keptRows) Next(dest []driver.Value) error {
	if !r.Rows.Next() {
		if err := r.Err(); err != nil {
			return dead(err)
		}
		return io.EOF
	}
	values, targets := make([]any, len(dest)), make([]any, len(dest))
	for i := range values {
		targets[i] = &values[i]
	}
	err := r.Scan(targets...)
	for i, v := range values {
		dest[i] = v
	}
	return err
}
