package routecost

import (
	"context"
	"database/sql/driver"
	"io"
	"time"
)

// silent is a database that remembers nothing. It answers queries after a delay with 25 rows, and without one with none.
type silent struct{ delay time.Duration }

// Connect implements [driver.Connector].
func (s silent) Connect(context.Context) (driver.Conn, error) { return s, nil }

// Driver implements [driver.Connector].
func (silent) Driver() driver.Driver { return nil }

// Prepare implements [driver.Conn].
func (silent) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }

// Close implements [driver.Conn].
func (silent) Close() error { return nil }

// Begin implements [driver.Conn].
func (s silent) Begin() (driver.Tx, error) { return s, nil }

// Commit implements [driver.Tx].
func (silent) Commit() error { return nil }

// Rollback implements [driver.Tx].
func (silent) Rollback() error { return nil }

// ExecContext implements [driver.ExecerContext].
func (silent) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), nil
}

// QueryContext implements [driver.QueryerContext].
func (s silent) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	if s.delay == 0 {
		return &orders{left: 0}, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(s.delay):
		return &orders{left: 25, step: int64(s.delay)}, nil
	}
}

// orders are rows in the order of their keys.
type orders struct {
	left int
	step int64
	id   int64
}

// Columns implements [driver.Rows].
func (*orders) Columns() []string { return []string{"id", "buyer_id", "state", "amount", "deleted_at"} }

// Close implements [driver.Rows].
func (*orders) Close() error { return nil }

// Next implements [driver.Rows].
func (o *orders) Next(dest []driver.Value) error {
	if o.left == 0 {
		return io.EOF
	}
	o.left--
	o.id += o.step
	dest[0], dest[1], dest[2], dest[3], dest[4] = o.id, int64(buyer), "open", int64(5), nil
	return nil
}
