package merge

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/shardsnow/snow/merge/internal/dialect"
)

// queryer is what a *sql.DB, *sql.Conn and *sql.Tx have in common.
type queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// A session is a connection whose settings are the same whatever the caller's
// pool is set to. One goroutine uses it at a time.
type session struct {
	*sql.Conn
	engine *dialect.Dialect
	undo   []string
}

// openSession takes a connection from db. A source's is read-only.
func openSession(ctx context.Context, e *dialect.Dialect, db *sql.DB, settings []string) (*session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, e.Failed("connect", err)
	}
	s := &session{Conn: conn, engine: e}
	for _, name := range e.Settings {
		var value string
		if err := conn.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value); err != nil {
			return nil, errors.Join(e.Failed("read the session's settings", err), s.close())
		}
		s.undo = append(s.undo, "PRAGMA "+name+" = "+value)
	}
	for _, text := range settings {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return nil, errors.Join(e.Failed("set up a session", err), s.close())
		}
	}
	return s, nil
}

// close gives the connection back with its settings as they were, or ends it.
func (s *session) close() error {
	for _, text := range s.undo {
		if _, err := s.ExecContext(context.Background(), text); err != nil {
			s.undo = nil
			break
		}
	}
	if len(s.undo) == 0 {
		_ = s.Raw(func(any) error { return driver.ErrBadConn }) // the pool ends it
	}
	err := s.Conn.Close()
	if errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}
