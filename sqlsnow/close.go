package sqlsnow

import (
	"context"
	"errors"
	"fmt"
)

// Close ends the lease: first its generators, which from now on return
// [snow.ErrLeaseExpired], then the renewals, for which it waits. Then it gives
// back the number, so that another process can have it at once. If that fails,
// or ctx ends before, Close returns an error; the number is free when its
// window ends. A [*LostError] says that it was not this lease's any more, which
// nobody knew yet. Another Close returns the outcome of the first.
func (l *Lease) Close(ctx context.Context) error {
	l.closing.Do(func() {
		if err := l.close(ctx); err != nil {
			l.closeErr = fmt.Errorf("sqlsnow: close the lease of namespace %q: %w", l.config.Namespace, err)
		}
	})
	return l.closeErr
}

func (l *Lease) close(ctx context.Context) error {
	next := l.end(ctx, ErrClosed)
	l.cancel()
	select {
	case <-l.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := l.take(ctx); err != nil {
		return err
	}
	defer func() { l.turn <- struct{}{} }()
	q, ok := l.machine.release(next)
	if !ok {
		return nil
	}
	var r reply
	unknown := false // whether an attempt was done
	for range 3 {
		if r = l.do(ctx, q); r.err == nil || ctx.Err() != nil {
			break
		}
		unknown = true
	}
	released := r.changed
	if r.err == nil && !released {
		if r = l.do(ctx, request{ask: askRow, worker: q.worker}); r.err == nil {
			released, r.err = l.machine.left(q, r.row, unknown)
		}
	}
	var lost *LostError
	if errors.As(r.err, &lost) {
		l.mu.Lock()
		l.lost(lost)
		l.mu.Unlock()
		l.tell(ctx)
	}
	if released {
		l.log.Info("worker lease released", "worker", q.worker)
	}
	return r.err
}
