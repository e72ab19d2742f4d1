package chunk

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
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
	undo   string // sets settings of the caller back; none if the connection has none
	broken bool   // a transaction did not end
	mark   string // the value of a variable of the session, if it is asked for
	marked time.Time
	begin  string // begins a transaction that writes

	ledger bool // it writes to the database that it is in, whatever others there are

	renew   string    // begins the transaction that the session is always within, if it is
	renewed time.Time // when that was
	trying  bool      // the transaction belongs to Try, and no statement ends it
}

// OpenSession takes a connection from db. A source's is read-only.
func OpenSession(ctx context.Context, e *dialect.Dialect, db *sql.DB, settings []string) (*Session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, e.Failed("connect", err)
	}
	s := &Session{Conn: conn, Engine: e, begin: e.Begin, renewed: time.Now()}
	if e.Within {
		s.renew = strings.Join(settings, "; ")
	}
	if e.Saved != "" {
		if err := conn.QueryRowContext(ctx, e.Saved).Scan(&s.undo); err != nil {
			return nil, errors.Join(e.Failed("read the session's settings", err), s.Close())
		}
	}
	for _, text := range settings {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return nil, errors.Join(e.Failed("set up a session", err), s.Close())
		}
	}
	if e.Kind == sqlsnow.MySQL {
		s.mark = rand.Text()
		if _, err := conn.ExecContext(ctx, "SET @snow_merge_session = '"+s.mark+"'"); err != nil {
			return nil, errors.Join(e.Failed("set up a session", err), s.Close())
		}
	}
	return s, nil
}

// markAge is how long a session reads before it looks for its mark again.
const markAge = time.Second

// checkMark returns [report.ErrMultiplexed] unless the session still has its connection, as its variable shows.
func (s *Session) checkMark(ctx context.Context) error {
	if s.mark == "" {
		return nil
	}
	var mark sql.NullString
	if err := s.Conn.QueryRowContext(ctx, "SELECT @snow_merge_session").Scan(&mark); err != nil {
		return err
	}
	if mark.String != s.mark {
		return report.ErrMultiplexed
	}
	s.marked = time.Now()
	return nil
}

// Set changes a setting for as long as the session goes on.
func (s *Session) Set(ctx context.Context, text string) error {
	_, err := s.Conn.ExecContext(ctx, text)
	if err == nil && s.renew != "" {
		s.begin, s.renew = s.begin+"; "+text, s.renew+"; "+text
	}
	return err
}

// ExecContext is like [sql.Conn.ExecContext]. Outside of [Session.Try] its effect is committed.
func (s *Session) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if s.renew == "" || s.trying {
		return s.Conn.ExecContext(ctx, query, args...)
	}
	var result sql.Result
	err := s.Try(ctx, nil, func() (err error) {
		result, err = s.Conn.ExecContext(ctx, query, args...)
		return err
	})
	return result, err
}

// longestRead is how long a session that only reads stays within one transaction. It holds locks on the tables that
// it has read, which ALTER TABLE waits for.
const longestRead = time.Second

// goOn ends a transaction that has only read for long, and begins another one. Its rows must be closed.
func (s *Session) goOn(ctx context.Context) {
	if s.renew != "" && !s.trying && time.Since(s.renewed) > longestRead {
		if _, err := s.Conn.ExecContext(ctx, "COMMIT; "+s.renew); err == nil { // otherwise the next statement fails
			s.renewed = time.Now()
		}
	}
}

// Rest ends a transaction that has only read, and begins another one, which holds no locks yet. Its rows must be
// closed.
func (s *Session) Rest(ctx context.Context) error {
	if s.renew == "" || s.trying {
		return nil
	}
	_, err := s.Conn.ExecContext(ctx, "COMMIT; "+s.renew)
	s.renewed = time.Now()
	return s.Engine.Failed("begin another transaction", err)
}

// QueryContext is like [sql.Conn.QueryContext].
func (s *Session) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s.goOn(ctx)
	if time.Since(s.marked) > markAge && !s.trying {
		if err := s.checkMark(ctx); err != nil {
			return nil, err
		}
	}
	rows, err := s.Conn.QueryContext(ctx, query, args...)
	if err != nil && s.renew != "" && !s.trying {
		s.rollback(ctx)
	}
	return rows, err //nolint:rowserrcheck // the caller's
}

// QueryRowContext is like [sql.Conn.QueryRowContext].
func (s *Session) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s.goOn(ctx)
	row := s.Conn.QueryRowContext(ctx, query, args...)
	if row.Err() != nil && s.renew != "" && !s.trying {
		s.rollback(ctx)
	}
	return row
}

// rollback ends a transaction that has failed, even if ctx has ended: the connection goes on, or is broken and
// rolls back itself.
func (s *Session) rollback(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	text := "ROLLBACK"
	if s.renew != "" {
		text += "; " + s.renew
	}
	_, err := s.Conn.ExecContext(ctx, text)
	s.broken, s.renewed = s.broken || err != nil, time.Now()
}

// Close gives the connection back with its settings as they were, or ends it. Before a connection to MySQL ends,
// they are set back for a pooler that keeps its own one.
func (s *Session) Close() error {
	undo := s.undo
	if s.renew != "" {
		undo = "ROLLBACK"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for text := range strings.SplitSeq(undo, ";") {
		if text != "" && !s.broken {
			_, err := s.Conn.ExecContext(ctx, text)
			s.broken = err != nil
		}
	}
	if s.broken || undo == "" || s.Engine.Kind == sqlsnow.MySQL {
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
		case <-time.After(mathrand.N(time.Duration(tries) * 20 * time.Millisecond)):
		}
	}
}

// Try is Transaction without another try.
func (s *Session) Try(ctx context.Context, lock sync.Locker, do func() error) error {
	if lock != nil {
		lock.Lock()
		defer lock.Unlock()
	}
	begin, commit := s.begin, "COMMIT"
	if s.renew != "" { // what was read before ends
		begin, commit = "COMMIT; "+begin, "COMMIT; "+s.renew
	}
	s.trying = true
	defer func() { s.trying, s.renewed = false, time.Now() }()
	if _, err := s.Conn.ExecContext(ctx, begin); err != nil {
		if s.renew != "" {
			s.rollback(ctx)
		}
		return err
	}
	err := s.checkMark(ctx)
	if err == nil {
		err = do()
	}
	if err == nil {
		_, err = s.Conn.ExecContext(ctx, commit)
	}
	if err != nil {
		s.rollback(ctx)
	}
	return err
}

// A Database is what sessions are opened of.
type Database struct {
	DB    *sql.DB
	Names map[string]string // of several databases, see [dialect.Dialect.In]; nil for the one that DB is in
}

// Open returns a session. A source's is read-only.
func (d Database) Open(ctx context.Context, e *dialect.Dialect, settings []string) (*Session, error) {
	return OpenSession(ctx, e.In(d.Names), d.DB, settings)
}

// Conns are the sessions of one goroutine: one in the target and one in each
// source that it has asked for.
type Conns struct {
	Engine  *dialect.Dialect
	dbs     map[string]Database // of sources
	Target  *Session
	sources map[string]*Session
}

// OpenConns connects to the target; sources follow when they are asked for.
func OpenConns(ctx context.Context, e *dialect.Dialect, target Database, sources map[string]Database) (*Conns, error) {
	s, err := target.Open(ctx, e, e.Target)
	if err != nil {
		return nil, err
	}
	s.ledger = true
	return &Conns{Engine: e, dbs: sources, Target: s, sources: map[string]*Session{}}, nil
}

// Source returns the session of a source.
func (c *Conns) Source(ctx context.Context, name string) (*Session, error) {
	if s := c.sources[name]; s != nil {
		return s, nil
	}
	s, err := c.dbs[name].Open(ctx, c.Engine, c.Engine.Source)
	if err != nil {
		return nil, dialect.OfSource(name, err)
	}
	c.sources[name] = s
	return s, nil
}

// Rest lets all sessions rest: no lock of theirs is in the way of others while nothing is read.
func (c *Conns) Rest(ctx context.Context) error {
	errs := []error{c.Target.Rest(ctx)}
	for _, s := range c.sources {
		errs = append(errs, s.Rest(ctx))
	}
	return errors.Join(errs...)
}

// Close closes all sessions.
func (c *Conns) Close() error {
	errs := []error{c.Target.Close()}
	for _, s := range c.sources {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
