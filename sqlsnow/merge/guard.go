package merge

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// A guard holds the lease of the target. Its fence is a number that nobody had
// before. Transactions look at it first and keep it from being changed until
// they end, so a process whose lease was taken over commits nothing any more.
type guard struct {
	engine *engine
	open   func(context.Context) (*session, error) // nil where the writer's connection renews, as SQLite's does
	q      *session                                // for renewals
	fence  int64
	lease  time.Duration

	// Renewals wait for transactions, and the next transactions for them, so that
	// they do not starve at the database's lock.
	mu   sync.RWMutex
	end  context.CancelCauseFunc // of the run, when the lease is lost
	stop chan struct{}
	done chan struct{}
}

// takeLease takes the lease of the target, if its holder has not renewed it in
// time, and renews it until release, by a connection that open returns, if it is
// not nil. It returns the context of what may only be done with the lease.
func (e *engine) takeLease(
	ctx context.Context, s *session, open func(context.Context) (*session, error), run, holder string, lease time.Duration,
) (_ context.Context, _ *guard, err error) {
	g := &guard{engine: e, open: open, q: s, lease: lease, stop: make(chan struct{}), done: make(chan struct{})}
	if open != nil {
		if g.q, err = open(ctx); err != nil {
			return nil, nil, err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, g.q.close())
			}
		}()
	}
	held := &HeldError{}
	err = e.transaction(ctx, s, nil, func() error {
		result, err := s.ExecContext(ctx, e.sql(`UPDATE snow_merge_lease SET fence = fence + 1, run = ?, holder = ?, until_us = {now} + ?
			WHERE id = 1 AND until_us < {now}`), run, holder, lease.Microseconds())
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return err
		}
		var until int64
		if err := s.QueryRowContext(ctx, "SELECT fence, holder, until_us FROM snow_merge_lease WHERE id = 1").Scan(&g.fence, &held.Holder, &until); err != nil {
			return err
		}
		if n == 0 {
			held.Until = time.UnixMicro(until).UTC()
			return held
		}
		return nil
	})
	if err != nil {
		if errors.Is(err, error(held)) {
			return nil, nil, held
		}
		return nil, nil, e.failed("take the lease", err)
	}
	ctx, g.end = context.WithCancelCause(ctx)
	go g.renew(ctx)
	return ctx, g, nil
}

// renew goes on until stop. That a renewal fails is no reason to stop: the
// fence is what keeps two apart.
func (g *guard) renew(ctx context.Context) {
	defer close(g.done)
	ticks := time.NewTicker(g.lease / 3)
	defer ticks.Stop()
	for {
		select {
		case <-g.stop:
			return
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if lost := g.extend(ctx); lost != nil {
			g.end(lost)
			return
		}
	}
}

func (g *guard) extend(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, g.lease)
	defer cancel()
	text := g.engine.sql("UPDATE snow_merge_lease SET until_us = {now} + ? WHERE id = 1 AND fence = ?")
	result, err := g.q.ExecContext(ctx, text, g.lease.Microseconds(), g.fence)
	if err != nil && g.open != nil { // the connection may be gone
		_ = g.q.close()
		s, failed := g.open(ctx)
		if failed != nil {
			return nil
		}
		g.q = s
		result, err = g.q.ExecContext(ctx, text, g.lease.Microseconds(), g.fence)
	}
	if err != nil {
		return nil
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return nil
	}
	return g.lost(ctx)
}

// lost says who has the lease now, or returns nil if it is not lost.
func (g *guard) lost(ctx context.Context) error {
	var lost LostError
	var fence int64
	if err := g.q.QueryRowContext(ctx, "SELECT fence, holder FROM snow_merge_lease WHERE id = 1").Scan(&fence, &lost.Holder); err == nil && fence == g.fence {
		return nil // MySQL counts rows that change, and the clock may have stood still
	}
	return &lost
}

// release gives the lease back and waits for the renewals to end. It tries for as long as the lease would last.
func (g *guard) release() {
	close(g.stop)
	<-g.done
	g.end(nil)
	ctx, cancel := context.WithTimeout(context.Background(), g.lease)
	defer cancel()
	_, _ = g.q.ExecContext(ctx, g.engine.sql("UPDATE snow_merge_lease SET until_us = 0 WHERE id = 1 AND fence = ?"), g.fence)
	if g.open != nil {
		_ = g.q.close()
	}
}

// transaction does something in one transaction of a session, if the lease is
// still held. It does it again if another transaction was in the way.
func (g *guard) transaction(ctx context.Context, s *session, do func() error) error {
	return g.engine.transaction(ctx, s, g.mu.RLocker(), g.fenced(ctx, s, do))
}

// attempt is transaction without another try.
func (g *guard) attempt(ctx context.Context, s *session, do func() error) error {
	return g.engine.try(ctx, s, g.mu.RLocker(), g.fenced(ctx, s, do))
}

func (g *guard) fenced(ctx context.Context, s *session, do func() error) func() error {
	return func() error {
		err := s.QueryRowContext(ctx, g.engine.held, g.fence).Scan(new(int64))
		if errors.Is(err, sql.ErrNoRows) {
			return &LostError{}
		}
		if err != nil {
			return err
		}
		return do()
	}
}

// mostTries is how often a transaction is tried that others are in the way of.
const mostTries = 20

func (e *engine) transaction(ctx context.Context, s *session, lock sync.Locker, do func() error) error {
	for tries := 1; ; tries++ {
		err := e.try(ctx, s, lock, do)
		if err == nil || tries == mostTries || !e.isBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(rand.N(time.Duration(tries) * 20 * time.Millisecond)):
		}
	}
}

func (e *engine) try(ctx context.Context, s *session, lock sync.Locker, do func() error) error {
	if lock != nil {
		lock.Lock()
		defer lock.Unlock()
	}
	if _, err := s.ExecContext(ctx, e.begin); err != nil {
		return err
	}
	err := do()
	if err == nil {
		if _, err = s.ExecContext(ctx, "COMMIT"); err == nil {
			return nil
		}
	}
	// Whatever became of ctx: the connection goes on, or is broken and rolls back itself.
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, _ = s.ExecContext(undo, "ROLLBACK")
	return err
}
