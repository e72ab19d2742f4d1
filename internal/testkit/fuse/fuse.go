// Package fuse lets a program end, as far as its database can tell, without ending the process.
package fuse

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
)

// ErrBlown is the error of all statements from the last one on.
var ErrBlown = errors.New("the process is dead")

// A Fuse ends a process, as far as a database can tell: after some statements
// none arrives any more, and connections end without a word. The last one is
// done or not, and its reply is lost.
type Fuse struct {
	Left  int  // statements
	Done  bool // whether the last statement is
	Unlit bool // it does not burn yet

	mu    sync.Mutex
	blown bool
}

// Light lets the fuse burn.
func (f *Fuse) Light() {
	f.mu.Lock()
	f.Unlit = false
	f.mu.Unlock()
}

// burn is called around each statement.
func (f *Fuse) burn(do func() error) error {
	f.mu.Lock()
	if f.blown {
		f.mu.Unlock()
		return ErrBlown
	}
	if f.Unlit {
		f.mu.Unlock()
		return do()
	}
	f.Left--
	f.blown = f.Left <= 0
	last, done := f.blown, f.Done
	f.mu.Unlock()
	if last && !done {
		return ErrBlown
	}
	err := do()
	if errors.Is(err, driver.ErrSkip) { // it comes again, prepared
		f.mu.Lock()
		f.Left++
		f.blown = f.Left <= 0
		f.mu.Unlock()
		return err
	}
	if last {
		return ErrBlown
	}
	return err
}

// Pool returns a pool of connections to the database of db, behind the fuse. Each of them is a session that ends with
// it.
func (f *Fuse) Pool(db *sql.DB) *sql.DB { return sql.OpenDB(connector{f, db}) }

type connector struct {
	fuse *Fuse
	db   *sql.DB
}

func (c connector) Driver() driver.Driver { return c.db.Driver() }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	c.fuse.mu.Lock()
	blown := c.fuse.blown
	c.fuse.mu.Unlock()
	if blown {
		return nil, ErrBlown
	}
	hold, err := c.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	b := &behind{fuse: c.fuse, hold: hold}
	return b, hold.Raw(func(raw any) error { b.raw = raw.(driver.Conn); return nil })
}

// behind is a connection behind a fuse.
type behind struct {
	fuse *Fuse
	hold *sql.Conn
	raw  driver.Conn
}

// Close ends the connection, whatever is under way, rather than giving it back.
func (b *behind) Close() error {
	_ = b.hold.Raw(func(any) error { return driver.ErrBadConn })
	return nil
}

func (b *behind) Begin() (driver.Tx, error) { return nil, driver.ErrSkip }

func (b *behind) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	err = b.fuse.burn(func() error { tx, err = b.raw.(driver.ConnBeginTx).BeginTx(ctx, o); return err })
	return tx, err
}

func (b *behind) CheckNamedValue(v *driver.NamedValue) error {
	if c, ok := b.raw.(driver.NamedValueChecker); ok {
		return c.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (b *behind) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	e, ok := b.raw.(driver.ExecerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	err = b.fuse.burn(func() error { result, err = e.ExecContext(ctx, query, args); return err })
	return result, err
}

func (b *behind) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, err error) {
	q, ok := b.raw.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	err = b.fuse.burn(func() error { rows, err = q.QueryContext(ctx, query, args); return err })
	if errors.Is(err, ErrBlown) && rows != nil {
		_ = rows.Close()
	}
	return rows, err
}

func (b *behind) Prepare(query string) (driver.Stmt, error) {
	return b.PrepareContext(context.Background(), query)
}

func (b *behind) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := b.raw.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &prepared{s, b}, nil
}

type prepared struct {
	driver.Stmt
	conn *behind
}

func (p *prepared) CheckNamedValue(v *driver.NamedValue) error {
	if c, ok := p.Stmt.(driver.NamedValueChecker); ok {
		return c.CheckNamedValue(v)
	}
	return p.conn.CheckNamedValue(v)
}

func (p *prepared) ExecContext(ctx context.Context, args []driver.NamedValue) (result driver.Result, err error) {
	err = p.conn.fuse.burn(func() error { result, err = p.Stmt.(driver.StmtExecContext).ExecContext(ctx, args); return err })
	return result, err
}

func (p *prepared) QueryContext(ctx context.Context, args []driver.NamedValue) (rows driver.Rows, err error) {
	err = p.conn.fuse.burn(func() error { rows, err = p.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args); return err })
	if errors.Is(err, ErrBlown) && rows != nil {
		_ = rows.Close()
	}
	return rows, err
}
