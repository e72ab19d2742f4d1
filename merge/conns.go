package merge

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Conns are the sessions of one goroutine: one in the target and one in each
// source that it has asked for.
type conns struct {
	engine  *dialect.Dialect
	dbs     map[string]*sql.DB // of sources
	target  *session
	sources map[string]*session

	onTarget map[string]string // the databases of sources that the target's session reads, see sourceDatabase
}

// openConns connects to the target; sources follow when they are asked for.
func openConns(ctx context.Context, e *dialect.Dialect, target *sql.DB, sources map[string]*sql.DB) (*conns, error) {
	s, err := openSession(ctx, e, target, e.Target)
	if err != nil {
		return nil, err
	}
	return &conns{engine: e, dbs: sources, target: s, sources: map[string]*session{}, onTarget: map[string]string{}}, nil
}

// withoutForeignKeys turns the target's checks of foreign keys off.
func (c *conns) withoutForeignKeys(ctx context.Context) error {
	_, err := c.target.ExecContext(ctx, c.engine.Unchecked)
	return c.engine.Failed("turn foreign keys off", err)
}

// source returns the session of a source.
func (c *conns) source(ctx context.Context, name string) (*session, error) {
	if s := c.sources[name]; s != nil {
		return s, nil
	}
	s, err := openSession(ctx, c.engine, c.dbs[name], c.engine.Source)
	if err != nil {
		return nil, report.OfSource(name, err)
	}
	c.sources[name] = s
	return s, nil
}

// all returns the sessions of all sources.
func (c *conns) all(ctx context.Context) (map[string]queryer, error) {
	all := map[string]queryer{}
	for name := range c.dbs {
		s, err := c.source(ctx, name)
		if err != nil {
			return nil, err
		}
		all[name] = s
	}
	return all, nil
}

// read returns rows of a table of a source, see readRange.
func (c *conns) read(ctx context.Context, source string, t *plan.Table, columns []*plan.Column, after, upto []any, limit int) ([][]any, error) {
	s, err := c.source(ctx, source)
	if err != nil {
		return nil, err
	}
	rows, err := readRange(ctx, c.engine, s, t, columns, after, upto, limit)
	if err != nil {
		return nil, report.OfSource(source, c.engine.Failed("read table "+strconv.Quote(t.Name), err))
	}
	return rows, nil
}

func (c *conns) close() error {
	errs := []error{c.target.close()}
	for _, s := range c.sources {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}
