package chunk

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/internal/dialect"
)

// Queryer is what a *sql.DB, *sql.Conn and *sql.Tx have in common.
type Queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// A Session is a connection whose settings are the same whatever the caller's
// pool is set to. One goroutine uses it at a time.
type Session struct {
	*sql.Conn
	Engine *dialect.Dialect
	undo   []string
}

// OpenSession takes a connection from db. A source's is read-only.
func OpenSession(ctx context.Context, e *dialect.Dialect, db *sql.DB, settings []string) (*Session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, e.Failed("connect", err)
	}
	s := &Session{Conn: conn, Engine: e}
	for _, name := range e.Settings {
		var value string
		if err := conn.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value); err != nil {
			return nil, errors.Join(e.Failed("read the session's settings", err), s.Close())
		}
		s.undo = append(s.undo, "PRAGMA "+name+" = "+value)
	}
	for _, text := range settings {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return nil, errors.Join(e.Failed("set up a session", err), s.Close())
		}
	}
	return s, nil
}

// Close gives the connection back with its settings as they were, or ends it.
func (s *Session) Close() error {
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

// mostTries is how often a transaction is tried that others are in the way of.
const mostTries = 20

// errRollBack ends a transaction that was only to be tried.
var errRollBack = errors.New("roll back")

// Transaction does something in one transaction, and again if another one was in
// the way. lock, if not nil, is held for as long as a transaction goes on.
func (s *Session) Transaction(ctx context.Context, lock sync.Locker, do func() error) error {
	for tries := 1; ; tries++ {
		err := s.Try(ctx, lock, do)
		if err == nil || tries == mostTries || !s.Engine.IsBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(rand.N(time.Duration(tries) * 20 * time.Millisecond)):
		}
	}
}

// Try is Transaction without another try.
func (s *Session) Try(ctx context.Context, lock sync.Locker, do func() error) error {
	if lock != nil {
		lock.Lock()
		defer lock.Unlock()
	}
	if _, err := s.ExecContext(ctx, s.Engine.Begin); err != nil {
		return err
	}
	err := do()
	if err == nil {
		if _, err = s.ExecContext(ctx, "COMMIT"); err == nil {
			return nil
		}
	}
	// Even if ctx has ended: the connection goes on, or is broken and rolls back itself.
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, _ = s.ExecContext(undo, "ROLLBACK")
	return err
}

// Conns are the sessions of one goroutine: one in the target and one in each
// source that it has asked for.
type Conns struct {
	Engine  *dialect.Dialect
	dbs     map[string]*sql.DB // of sources
	Target  *Session
	sources map[string]*Session

	OnTarget map[string]string // the databases of sources that the target's session reads, see package mysqlexec
}

// OpenConns connects to the target; sources follow when they are asked for.
func OpenConns(ctx context.Context, e *dialect.Dialect, target *sql.DB, sources map[string]*sql.DB) (*Conns, error) {
	s, err := OpenSession(ctx, e, target, e.Target)
	if err != nil {
		return nil, err
	}
	return &Conns{Engine: e, dbs: sources, Target: s, sources: map[string]*Session{}, OnTarget: map[string]string{}}, nil
}

// Source returns the session of a source.
func (c *Conns) Source(ctx context.Context, name string) (*Session, error) {
	if s := c.sources[name]; s != nil {
		return s, nil
	}
	s, err := OpenSession(ctx, c.Engine, c.dbs[name], c.Engine.Source)
	if err != nil {
		return nil, dialect.OfSource(name, err)
	}
	c.sources[name] = s
	return s, nil
}

// Close closes all sessions.
func (c *Conns) Close() error {
	errs := []error{c.Target.Close()}
	for _, s := range c.sources {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
