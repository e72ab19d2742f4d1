package job

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
)

// A connector makes the sessions of a run. Each is one of the user's pool, and is known to the owner before a step
// gets it, so the next run can end it. A process that was stopped in the middle of a step, and wakes up after
// another run took over, finds its sessions ended and gets no new ones.
type connector struct {
	db *sql.DB
	o  *owner
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	lent, err := c.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{lent: lent}
	if err := c.o.register(ctx, lent); err != nil {
		_ = s.Close()
		return nil, err
	}
	err = lent.Raw(func(conn any) error {
		var ok bool
		if s.fullConn, ok = conn.(fullConn); !ok {
			return fmt.Errorf("the driver's connection %T does not take a context", conn)
		}
		return nil
	})
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// Driver implements driver.Connector.
func (c *connector) Driver() driver.Driver { return c.db.Driver() }

// A fullConn is what drivers for database/sql have since contexts exist.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

// A session is a connection that is lent from the user's pool for the time of a run.
type session struct {
	fullConn
	lent *sql.Conn
}

// Close ends the connection. It does not go back to the pool, because a step may have changed its settings.
func (s *session) Close() error {
	_ = s.lent.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.lent.Close() // done already but for a connection that was broken before
	return nil
}

// CheckNamedValue implements driver.NamedValueChecker.
func (s *session) CheckNamedValue(v *driver.NamedValue) error {
	if c, ok := s.fullConn.(driver.NamedValueChecker); ok {
		return c.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// ResetSession implements driver.SessionResetter.
func (s *session) ResetSession(ctx context.Context) error {
	if c, ok := s.fullConn.(driver.SessionResetter); ok {
		return c.ResetSession(ctx)
	}
	return nil
}

// IsValid implements driver.Validator.
func (s *session) IsValid() bool {
	if c, ok := s.fullConn.(driver.Validator); ok {
		return c.IsValid()
	}
	return true
}

// Ping implements driver.Pinger.
func (s *session) Ping(ctx context.Context) error {
	if c, ok := s.fullConn.(driver.Pinger); ok {
		return c.Ping(ctx)
	}
	return nil
}
