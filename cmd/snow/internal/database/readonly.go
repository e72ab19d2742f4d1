package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
)

// readOnly opens connections that execute queries only, each of them as a part of a read-only transaction. No
// setting of the session does it: a pooler that gives each transaction any connection to the server would hand the
// setting to other clients.
type readOnly struct{ driver.Connector }

func (c readOnly) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	under, ok := conn.(serverConn)
	if !ok {
		return nil, errors.Join(errors.New("the driver has no read-only transactions"), conn.Close())
	}
	return &readOnlyConn{serverConn: under}, nil
}

// serverConn is what the drivers of MySQL and PostgreSQL have.
type serverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
}

type readOnlyConn struct {
	serverConn
	within bool // a transaction of the caller
	broken bool // a transaction did not end
}

func (c *readOnlyConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *readOnlyConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	opts.ReadOnly = true
	tx, err := c.serverConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.within = true
	return readOnlyTx{tx, c}, nil
}

type readOnlyTx struct {
	driver.Tx
	conn *readOnlyConn
}

func (t readOnlyTx) Commit() error { return t.conn.ended(t.Tx.Commit()) }

func (t readOnlyTx) Rollback() error { return t.conn.ended(t.Tx.Rollback()) }

func (c *readOnlyConn) ended(err error) error {
	c.within, c.broken = false, c.broken || err != nil
	return err
}

// begin begins a transaction for one statement, unless the caller has begun one.
func (c *readOnlyConn) begin(ctx context.Context) (end func() error, err error) {
	if c.within {
		return func() error { return nil }, nil
	}
	tx, err := c.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return nil, err
	}
	return tx.Rollback, nil
}

// errReadOnly is for statements that MySQL would execute all the same: an implicit commit ends a read-only transaction.
var errReadOnly = errors.New("the database is opened for reading: only queries are executed")

// ExecContext executes nothing.
func (*readOnlyConn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return nil, errReadOnly
}

func (c *readOnlyConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	words := strings.Fields(query)
	if len(words) == 0 || !slices.Contains([]string{"SELECT", "WITH", "VALUES", "SHOW"}, strings.ToUpper(words[0])) {
		return nil, errReadOnly
	}
	end, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := c.serverConn.QueryContext(ctx, query, args)
	if errors.Is(err, driver.ErrSkip) { // MySQL's driver prepares statements that have parameters
		var stmt driver.Stmt
		if stmt, err = c.serverConn.PrepareContext(ctx, query); err == nil {
			transaction := end
			end = func() error { return errors.Join(stmt.Close(), transaction()) }
			if queryer, ok := stmt.(driver.StmtQueryContext); ok {
				rows, err = queryer.QueryContext(ctx, args)
			} else {
				err = errReadOnly
			}
		}
	}
	if err != nil {
		return nil, errors.Join(err, end())
	}
	return &readOnlyRows{Rows: rows, end: end}, nil
}

// readOnlyRows end their transaction when they are closed.
type readOnlyRows struct {
	driver.Rows
	end func() error
}

func (r *readOnlyRows) Close() error {
	err, end := r.Rows.Close(), r.end
	r.end = func() error { return nil }
	return errors.Join(err, end())
}

func (c *readOnlyConn) Prepare(query string) (driver.Stmt, error) {
	return readOnlyStmt{c, query}, nil
}

func (c *readOnlyConn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	return readOnlyStmt{c, query}, nil
}

// readOnlyStmt is the text of a statement: the server prepares it within the transaction that executes it.
type readOnlyStmt struct {
	conn  *readOnlyConn
	query string
}

func (readOnlyStmt) Close() error { return nil }

func (readOnlyStmt) NumInput() int { return -1 }

func (readOnlyStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errReadOnly }

func (readOnlyStmt) Query([]driver.Value) (driver.Rows, error) { return nil, errReadOnly }

func (s readOnlyStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.ExecContext(ctx, s.query, args)
}

func (s readOnlyStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.QueryContext(ctx, s.query, args)
}

func (c *readOnlyConn) ResetSession(ctx context.Context) error {
	if c.broken {
		return driver.ErrBadConn
	}
	return c.serverConn.ResetSession(ctx)
}

// IsValid reports whether the pool may keep the connection.
func (c *readOnlyConn) IsValid() bool {
	v, ok := c.serverConn.(driver.Validator)
	return !c.broken && (!ok || v.IsValid())
}
