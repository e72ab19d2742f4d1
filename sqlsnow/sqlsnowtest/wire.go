package sqlsnowtest

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
)

// An interceptor stands between a handle and its database. It is called for every statement, including COMMIT and
// ROLLBACK, and sends the statement by calling send. The caller of the statement gets its error.
type interceptor func(ctx context.Context, statement string, send func() error) error

// wire returns a handle whose statements pass through the interceptor.
func (s *suite) wire(intercept interceptor) *sql.DB {
	s.Helper()
	under := s.open()
	return s.wireTo(func() *sql.DB { return under }, intercept)
}

// wireTo is wire over one of several handles: each new connection calls under for its handle.
func (s *suite) wireTo(under func() *sql.DB, intercept interceptor) *sql.DB {
	db := sql.OpenDB(wire{under, intercept})
	db.SetMaxOpenConns(8)
	s.Cleanup(func() { _ = db.Close() }) // a clause may have closed it
	return db
}

// leaky returns a handle of one connection that is never reset: some drivers would discard a connection that was
// left in a transaction.
func (s *suite) leaky() *sql.DB {
	under := s.open()
	db := sql.OpenDB(leaky{wire{func() *sql.DB { return under }, func(_ context.Context, _ string, send func() error) error { return send() }}})
	db.SetMaxOpenConns(1)
	s.Cleanup(func() { _ = db.Close() })
	return db
}

type leaky struct{ wire }

func (l leaky) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := l.wire.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return leakyConn{conn.(*wireConn)}, nil
}

type leakyConn struct{ *wireConn }

func (leakyConn) ResetSession(context.Context) error { return nil }

// ExecContext sends BEGIN as it is: MySQL does not prepare it.
func (c leakyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	if len(args) > 0 {
		return nil, driver.ErrSkip
	}
	err = c.raw(func(dc driver.Conn) (err error) {
		e, ok := dc.(driver.ExecerContext)
		if !ok {
			return driver.ErrSkip
		}
		result, err = e.ExecContext(ctx, query, args)
		return err
	})
	return result, err
}

// isWrite reports whether a statement changes rows.
func isWrite(statement string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(statement), " ")
	return strings.EqualFold(strings.TrimSpace(word), "UPDATE")
}

// isWork reports whether a statement is neither the beginning nor the end of a transaction, nor the check of a
// session before a write.
func isWork(statement string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(statement), " ")
	return isWrite(statement) || strings.EqualFold(word, "SELECT")
}

// wire is a driver.Connector on top of the connections of a handle.
type wire struct {
	under     func() *sql.DB
	intercept interceptor
}

func (w wire) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := w.under().Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &wireConn{conn, w.intercept}, nil
}

func (w wire) Driver() driver.Driver { return w.under().Driver() }

// wireConn has no ExecContext and no QueryContext, so every statement is prepared and goes through wireStmt.
type wireConn struct {
	conn      *sql.Conn
	intercept interceptor
}

func (c *wireConn) raw(f func(driver.Conn) error) error {
	return c.conn.Raw(func(dc any) error { return f(dc.(driver.Conn)) })
}

func (c *wireConn) Close() error { return c.conn.Close() }

func (c *wireConn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *wireConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	var stmt driver.Stmt
	err := c.raw(func(dc driver.Conn) (err error) {
		if p, ok := dc.(driver.ConnPrepareContext); ok {
			stmt, err = p.PrepareContext(ctx, query)
		} else {
			stmt, err = dc.Prepare(query)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &wireStmt{stmt, c, query}, nil
}

func (c *wireConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *wireConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	var tx driver.Tx
	err := c.raw(func(dc driver.Conn) (err error) {
		if b, ok := dc.(driver.ConnBeginTx); ok {
			tx, err = b.BeginTx(ctx, opts)
		} else {
			tx, err = dc.Begin() //nolint:staticcheck // for drivers that have nothing newer
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return wireTx{tx, c}, nil
}

func (c *wireConn) ResetSession(ctx context.Context) error {
	return c.raw(func(dc driver.Conn) error {
		if r, ok := dc.(driver.SessionResetter); ok {
			return r.ResetSession(ctx)
		}
		return nil
	})
}

func (c *wireConn) IsValid() bool {
	valid := true
	err := c.raw(func(dc driver.Conn) error {
		if v, ok := dc.(driver.Validator); ok {
			valid = v.IsValid()
		}
		return nil
	})
	return err == nil && valid
}

func (c *wireConn) CheckNamedValue(v *driver.NamedValue) error {
	return c.raw(func(dc driver.Conn) error { return checkValue(dc, v) })
}

func checkValue(checker any, v *driver.NamedValue) error {
	if n, ok := checker.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type wireTx struct {
	tx   driver.Tx
	conn *wireConn
}

func (t wireTx) end(statement string, end func() error) error {
	return t.conn.intercept(context.Background(), statement, func() error {
		return t.conn.raw(func(driver.Conn) error { return end() })
	})
}

func (t wireTx) Commit() error   { return t.end("COMMIT", t.tx.Commit) }
func (t wireTx) Rollback() error { return t.end("ROLLBACK", t.tx.Rollback) }

type wireStmt struct {
	driver.Stmt
	conn  *wireConn
	query string
}

func (s *wireStmt) Close() error {
	return s.conn.raw(func(driver.Conn) error { return s.Stmt.Close() })
}

func (s *wireStmt) CheckNamedValue(v *driver.NamedValue) error {
	if _, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return checkValue(s.Stmt, v)
	}
	return s.conn.CheckNamedValue(v)
}

func (s *wireStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (result driver.Result, err error) {
	err = s.conn.intercept(ctx, s.query, func() error {
		return s.conn.raw(func(driver.Conn) (err error) {
			if e, ok := s.Stmt.(driver.StmtExecContext); ok {
				result, err = e.ExecContext(ctx, args)
			} else {
				result, err = s.Exec(values(args)) //nolint:staticcheck // for drivers that have nothing newer
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// QueryContext reads all rows at once, because some drivers run the statement only then.
func (s *wireStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	answer := new(wireRows)
	err := s.conn.intercept(ctx, s.query, func() error {
		return s.conn.raw(func(driver.Conn) (err error) {
			var rows driver.Rows
			if q, ok := s.Stmt.(driver.StmtQueryContext); ok {
				rows, err = q.QueryContext(ctx, args)
			} else {
				rows, err = s.Query(values(args)) //nolint:staticcheck // for drivers that have nothing newer
			}
			if err != nil {
				return err
			}
			return errors.Join(answer.read(rows), rows.Close())
		})
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// wireRows is an answer that was read to its end.
type wireRows struct {
	columns []string
	rows    [][]driver.Value
}

func (r *wireRows) read(rows driver.Rows) error {
	r.columns, r.rows = rows.Columns(), nil
	for {
		next := make([]driver.Value, len(r.columns))
		if err := rows.Next(next); err == io.EOF { //nolint:errorlint // drivers return it bare
			return nil
		} else if err != nil {
			return err
		}
		for i, v := range next {
			if b, ok := v.([]byte); ok {
				next[i] = bytes.Clone(b) // the driver may use it again
			}
		}
		r.rows = append(r.rows, next)
	}
}

func (r *wireRows) Columns() []string { return r.columns }
func (r *wireRows) Close() error      { return nil }

func (r *wireRows) Next(to []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(to, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

func values(args []driver.NamedValue) []driver.Value {
	values := make([]driver.Value, len(args))
	for i, a := range args {
		values[i] = a.Value
	}
	return values
}
