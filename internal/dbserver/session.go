package dbserver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// Write calls do with a session; do reports whether it changed something. Write skips connections that are in a
// transaction, or on which a temporary table hides one that is to be written.
func (e *Engine) Write(ctx context.Context, db *sql.DB, use Use, do func(*Session) (changed bool, err error)) error {
	return e.on(ctx, db, func(conn *sql.Conn) (begun bool, err error) {
		s := &Session{Conn: conn, engine: e, use: use}
		if err := e.checkSession(ctx, s); err != nil {
			return false, err
		}
		changed, err := do(s)
		if err == nil && !changed {
			err = s.CheckTransaction(ctx)
		} else if err == nil && e.waitDurable != nil {
			err = e.waitDurable(ctx, s)
		}
		if err == nil {
			err = ctx.Err() // some drivers and servers report success although the wait for a replica was cancelled
		}
		return true, err
	})
}

// Read is Write for a query: do reports whether it found a row. The query must be bound to the mark. So it shows
// what is committed now, and not what the transaction of somebody else sees.
func (e *Engine) Read(ctx context.Context, db *sql.DB, do func(*Session) (found bool, err error)) error {
	return e.Write(ctx, db, ForReading, do)
}

// on calls do with a connection; do reports whether it has begun what must not be done twice. on skips connections
// that somebody left in a state that do can't work in, and keeps them until it returns, so that the pool gives
// another one.
func (e *Engine) on(ctx context.Context, db *sql.DB, do func(*sql.Conn) (begun bool, err error)) error {
	var left []*sql.Conn
	defer func() {
		for _, conn := range left {
			_ = conn.Close()
		}
	}()
	for stale := 0; ; {
		conn, err := connect(ctx, db)
		if err != nil {
			return err
		}
		begun, err := do(conn)
		if errors.Is(err, driver.ErrBadConn) && !begun && stale < maxStale {
			stale++
			_ = conn.Close()
			continue
		}
		if errors.Is(err, driver.ErrBadConn) && ctx.Err() != nil {
			err = ctx.Err() // a driver closes its connection when ctx ends
		}
		if !e.isLeft(err) || len(left) == maxLeft || isFull(db) {
			e.release(conn, errors.Is(err, dberrors.ErrReadOnly) || err != nil && e.Dialect.Classify(err) == sqldialect.ReadOnly)
			return err
		}
		left = append(left, conn)
	}
}

// isLeft reports whether err says that somebody left the connection in a state that another one need not be in.
func (e *Engine) isLeft(err error) bool {
	return e.IsInTransaction(err) || errors.Is(err, dberrors.ErrElsewhere) || errors.Is(err, errStopped)
}

// connect is db.Conn, with an error that says so if the pool is used up.
func connect(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	conn, err := db.Conn(ctx)
	if err != nil && ctx.Err() != nil && isFull(db) {
		err = fmt.Errorf("no connection, all %d of the pool are in use: %w", source(db).Stats().MaxOpenConnections, err)
	}
	return conn, err
}

// isFull reports whether a pool has no connection to spare.
func isFull(db *sql.DB) bool {
	s := source(db).Stats()
	return s.MaxOpenConnections > 0 && s.InUse >= s.MaxOpenConnections
}

// release gives a connection back to its pool, unless its server is read-only: after a switch-over the pool would
// go on with the old primary for ever, while a new connection reaches the new one. SQLite has no other server, and
// a database in memory may live in its connection.
func (e *Engine) release(conn *sql.Conn, readOnly bool) {
	if readOnly && e.Dialect != sqldialect.SQLite {
		Discard(conn)
	}
	_ = conn.Close()
}

// Discard closes a connection that must not go back to the pool. The server then ends its locks and its transaction.
func Discard(conn *sql.Conn) {
	_ = conn.Raw(func(c any) error {
		if kept, ok := c.(*keptConn); ok {
			Discard(kept.Conn)
		}
		return driver.ErrBadConn
	})
}

// CheckTransaction returns ErrInTransaction if the session is still in the transaction that it was checked in. It
// is for statements that are not bound to the mark, and for statements that changed nothing.
func (s *Session) CheckTransaction(ctx context.Context) error {
	if s.engine.checkTransaction == nil {
		return nil
	}
	return s.engine.checkTransaction(ctx, s)
}

// Exec executes an UPDATE and returns how many rows it changed.
func (s *Session) Exec(ctx context.Context, st Statement, values map[string]any) (n int64, err error) {
	n, _, err = s.exec(ctx, st, values)
	return n, err
}

// Update executes an UPDATE of one row and reports whether it changed the row. It stores in targets what the
// statement returns; on a server without RETURNING that is a single number.
func (s *Session) Update(ctx context.Context, st Statement, values map[string]any, targets ...any) (changed bool, err error) {
	if s.engine.HasReturning() {
		return s.Query(ctx, st, values, targets...)
	}
	n, id, err := s.exec(ctx, st, values)
	if number, ok := targets[0].(*int64); ok {
		*number = id
	}
	return n > 0, err
}

// HasReturning reports whether an UPDATE can return columns of its row.
func (e *Engine) HasReturning() bool { return e.insertID == nil }

// bind binds a statement to values, the mark among them.
func (s *Session) bind(st Statement, values map[string]any) (text string, args []any) {
	values["mark"] = s.mark
	return st.Bind(values)
}

// exec executes a statement and returns how many rows it changed, and its insert id if the server has no RETURNING.
func (s *Session) exec(ctx context.Context, st Statement, values map[string]any) (n, id int64, err error) {
	text, args := s.bind(st, values)
	result, err := s.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, 0, err
	}
	if n, err = result.RowsAffected(); err != nil || n == 0 || s.engine.HasReturning() {
		return n, 0, err
	}
	if id, err = result.LastInsertId(); err == nil && id == 0 {
		if err = errNoInsertID; s.isReadOnly(ctx) {
			err = fmt.Errorf("%w, and became so during the write", dberrors.ErrReadOnly)
		}
	}
	return n, id, err
}

// Query executes a statement and reports whether it returned a row.
func (s *Session) Query(ctx context.Context, st Statement, values map[string]any, targets ...any) (found bool, err error) {
	text, args := s.bind(st, values)
	rows, err := s.QueryContext(ctx, text, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() { // to the end: SQLite commits there
		if err := rows.Scan(targets...); err != nil {
			return false, err
		}
		found = true
	}
	return found, errors.Join(rows.Err(), rows.Close())
}

// Insert executes an INSERT, which has no mark, on a connection on which it commits by itself.
func (e *Engine) Insert(ctx context.Context, db *sql.DB, use Use, st Statement, values map[string]any) error {
	return e.Write(ctx, db, use, func(on *Session) (bool, error) {
		if err := on.CheckTransaction(ctx); err != nil {
			return false, err
		}
		text, args := on.bind(st, values)
		_, err := on.ExecContext(ctx, text, args...)
		return true, err
	})
}

func (s *Session) isReadOnly(ctx context.Context) bool {
	info, err := s.engine.Ask(ctx, s.Conn)
	return err == nil && info.ReadOnly
}
