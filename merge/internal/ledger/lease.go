package ledger

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/report"
)

// A Lease is the right to write to the target. Its fence is a fencing token: a
// number that no earlier holder had. Each transaction reads the fence first and
// keeps it from being changed until it ends, so a process whose lease was taken
// over commits nothing any more.
type Lease struct {
	open  func(context.Context) (*chunk.Session, error) // nil where the writer's session renews, as SQLite's does
	s     *chunk.Session                                // for renewals
	fence int64
	time  time.Duration

	// Renewals wait for transactions, and the next transactions for them, so that
	// they do not starve at the database's lock.
	mu   sync.RWMutex
	end  context.CancelCauseFunc // of the run, when the lease is lost
	stop chan struct{}
	done chan struct{}
}

// TakeLease takes the lease of the target, unless its holder has renewed it in
// time, and renews it until release: by a session that open returns, if it is
// not nil. The context that it returns ends when the lease is lost.
func TakeLease(
	ctx context.Context, s *chunk.Session, open func(context.Context) (*chunk.Session, error), run, holder string, ttl time.Duration,
) (_ context.Context, _ *Lease, err error) {
	l := &Lease{open: open, s: s, time: ttl, stop: make(chan struct{}), done: make(chan struct{})}
	if open != nil {
		if l.s, err = open(ctx); err != nil {
			return nil, nil, err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, l.s.Close())
			}
		}()
	}
	e := s.Engine
	held := &report.RunningError{}
	err = s.Transaction(ctx, nil, func() error {
		result, err := s.ExecContext(ctx, e.SQL(`UPDATE snow_merge_lease SET fence = fence + 1, run = ?, holder = ?, until_us = {now} + ?
			WHERE id = 1 AND until_us < {now}`), run, holder, ttl.Microseconds())
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return err
		}
		var until int64
		if err := s.QueryRowContext(ctx, "SELECT fence, holder, until_us FROM snow_merge_lease WHERE id = 1").Scan(&l.fence, &held.Holder, &until); err != nil {
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
		return nil, nil, e.Failed("take the lease", err)
	}
	ctx, l.end = context.WithCancelCause(ctx)
	go l.renew(ctx)
	return ctx, l, nil
}

// renew goes on until stop. A renewal that fails is no reason to stop: the fence
// is what keeps two holders apart.
func (l *Lease) renew(ctx context.Context) {
	defer close(l.done)
	ticks := time.NewTicker(l.time / 3)
	defer ticks.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if lost := l.extend(ctx); lost != nil {
			l.end(lost)
			return
		}
	}
}

func (l *Lease) extend(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, l.time)
	defer cancel()
	result, err := l.update(ctx, "until_us = {now} + ?", l.time.Microseconds(), l.fence)
	if err != nil {
		return nil
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return nil
	}
	return l.lost(ctx)
}

// update changes the lease's row, if it is still ours. A statement that was cancelled or cut off has ended its
// connection: then another one does it.
func (l *Lease) update(ctx context.Context, assignments string, args ...any) (sql.Result, error) {
	text := l.s.Engine.SQL("UPDATE snow_merge_lease SET " + assignments + " WHERE id = 1 AND fence = ?")
	result, err := l.s.ExecContext(ctx, text, args...)
	if err == nil || l.open == nil {
		return result, err
	}
	_ = l.s.Close()
	s, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	l.s = s
	return l.s.ExecContext(ctx, text, args...)
}

// lost says who has the lease now, or returns nil if it is not lost.
func (l *Lease) lost(ctx context.Context) error {
	var lost report.OvertakenError
	var fence int64
	if err := l.s.QueryRowContext(ctx, "SELECT fence, holder FROM snow_merge_lease WHERE id = 1").Scan(&fence, &lost.Holder); err == nil && fence == l.fence {
		return nil // MySQL counts rows that change, and the clock may have stood still
	}
	return &lost
}

// releaseTries is enough for a pool that holds connections which a server has ended: each try ends one of them.
const releaseTries = 5

// Release gives the lease back and waits for the renewals to end. It tries for as long as the lease would last.
func (l *Lease) Release() {
	close(l.stop)
	<-l.done
	l.end(nil)
	ctx, cancel := context.WithTimeout(context.Background(), l.time)
	defer cancel()
	for range releaseTries {
		// The fence moves on, so a cancelled renewal that reaches the database later has no effect.
		if _, err := l.update(ctx, "until_us = 0, fence = fence + 1", l.fence); err == nil || ctx.Err() != nil {
			break
		}
	}
	if l.open != nil {
		_ = l.s.Close()
	}
}

// Transaction does something in one transaction of a session, if the database
// still has our fencing token. It does it again if another transaction was in the way.
func (l *Lease) Transaction(ctx context.Context, s *chunk.Session, do func() error) error {
	return s.Transaction(ctx, l.mu.RLocker(), func() error {
		err := s.QueryRowContext(ctx, s.Engine.Held, l.fence).Scan(new(int64))
		if errors.Is(err, sql.ErrNoRows) {
			return &report.OvertakenError{}
		}
		if err != nil {
			return err
		}
		return do()
	})
}
