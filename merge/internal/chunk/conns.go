package chunk

import (
	"context"
	"database/sql"
	"errors"

	"github.com/shardsnow/snow/merge/internal/dialect"
)

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
