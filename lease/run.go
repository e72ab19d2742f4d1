package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/retry"
)

// run renews the lease until it ends.
func (l *Lease) run() {
	defer close(l.ended)
	for l.ctx.Err() == nil {
		if l.await(l.ctx, l.wake) != nil || l.lock(l.ctx) != nil {
			return
		}
		if !l.machine.Over() && l.read().Mono >= l.machine.At() { // otherwise Renew was faster
			if out := l.ask(l.ctx); out.Fatal != nil {
				l.end(l.ctx, out.Fatal)
			}
		}
		over := l.machine.Over()
		l.unlock()
		if over {
			return
		}
	}
}

// await returns when the machine's next request is due, or wake has a value.
func (l *Lease) await(ctx context.Context, wake <-chan struct{}) error {
	l.mu.Lock()
	wait := l.machine.At() - l.read().Mono
	l.mu.Unlock()
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lock waits for the turn to use the machine.
func (l *Lease) lock(ctx context.Context) error {
	select {
	case <-l.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Lease) unlock() { l.turn <- struct{}{} }

func (l *Lease) read() protocol.Reading {
	now := time.Now()
	r := protocol.Reading{Mono: now.Sub(l.begin), Wall: now}
	if l.grant != nil {
		r.Running = l.running().UnixMicro()
	}
	return r
}

// ask sends the machine's next request, and carries out the outcome.
func (l *Lease) ask(ctx context.Context) protocol.Outcome {
	sent := l.read()
	q := l.machine.Request(sent)
	r := l.send(ctx, q)
	return l.handle(ctx, q, r, sent.Mono, l.read())
}

// handle carries out what follows from the reply to a request, which was sent at a monotonic time and answered now.
func (l *Lease) handle(ctx context.Context, q protocol.Request, r protocol.Reply, sent time.Duration, now protocol.Reading) protocol.Outcome {
	l.mu.Lock()
	l.took = now.Mono - sent
	if !r.Asked.IsZero() {
		sent = r.Asked.Sub(l.begin)
	}
	if !r.Answered.IsZero() {
		now.Mono, now.Wall = r.Answered.Sub(l.begin), r.Answered
	}
	out := l.machine.Handle(q, r, sent, now)
	out.Err = l.registry.Explain(q.Ask.String(), out.Err)
	out.Fatal = l.registry.Explain(q.Ask.String(), out.Fatal)
	l.carryOut(&out, now)
	l.mu.Unlock()
	l.publish(ctx)
	return out
}

// send sends a request. Once the lease is acquired, it waits for the reply no
// longer than the machine's Timeout.
func (l *Lease) send(ctx context.Context, q protocol.Request) protocol.Reply {
	if l.grant != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.machine.Timeout())
		defer cancel()
	}
	return l.registry.Do(ctx, q)
}

// Renew renews the lease at once. It returns nil if the lease then has a number,
// perhaps another one than before, and ids can be made. A lease also renews
// itself. Renew is for processes that expect to be cut off from the database for
// a while, or have been, and for readiness probes that need the present state. If
// LossWindow is not 0, Renew skips a renewal that would come too early.
func (l *Lease) Renew(ctx context.Context) error {
	if err := l.renew(ctx); err != nil {
		return fmt.Errorf("%s: renew the lease of namespace %q: %w", l.prefix, l.config.Namespace, err)
	}
	return nil
}

func (l *Lease) renew(ctx context.Context) error {
	if err := l.lock(ctx); err != nil {
		return err
	}
	defer func() {
		l.unlock()
		select {
		case l.wake <- struct{}{}:
		default: // it is awake
		}
	}()
	m := l.machine
	if err := l.Err(); err != nil {
		return err
	}
	now := l.read().Mono
	if m.TooSoon(now) {
		return l.tooFarAhead()
	}
	l.mu.Lock()
	m.Hurry(now)
	l.mu.Unlock()
	for tries := 0; !m.Over(); tries++ {
		if err := l.await(ctx, nil); err != nil {
			return err
		}
		out := l.ask(ctx)
		switch {
		case out.Fatal != nil:
			l.end(ctx, out.Fatal)
		case out.Err != nil:
			if !l.registry.IsBusy(out.Err) || tries >= retry.MaxTries {
				return out.Err
			}
		case m.Holds() && !out.Again:
			return nil
		}
	}
	return l.Err()
}

// tooFarAhead returns a *ClockError if ids wait for running time.
func (l *Lease) tooFarAhead() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.waits() {
		return nil
	}
	return l.registry.Explain("", l.machine.Ahead(l.read(), l.running().UnixMicro()))
}

// end stops the generator for good, and returns the first tick that it did not use.
func (l *Lease) end(ctx context.Context, err error) (next uint64) {
	l.mu.Lock()
	if l.err == nil {
		l.grant.Explain(err)
	}
	next = l.grant.Retire()
	if l.err == nil {
		l.err = err
		message := ""
		if !errors.Is(err, ErrClosed) {
			message = "worker lease ended"
		}
		l.note(Event{Kind: Ended, Worker: l.stats.Worker, Err: err}, slog.LevelError, message, "worker", l.stats.Worker, "error", err)
		close(l.done)
	}
	l.mu.Unlock()
	l.publish(ctx)
	return next
}

// Close ends the lease: first its generators, which from now on return
// [snow.ErrLeaseExpired], then the renewals, for whose end it waits. Then it
// gives back the number, so that another process can have it at once. If that
// fails, or ctx ends first, Close returns an error; the number is free when its
// window ends. If ctx has ended before the call, as that of
// [os/signal.NotifyContext] has, Close takes 5 s instead. A [*LostError] says that the number was no longer this lease's,
// which no renewal had noticed yet. Another Close returns the result of the first.
func (l *Lease) Close(ctx context.Context) error {
	l.closing.Do(func() {
		ctx, cancel := retry.ToClose(ctx)
		defer cancel()
		if err := l.close(ctx); err != nil {
			l.closeErr = fmt.Errorf("%s: close the lease of namespace %q: %w", l.prefix, l.config.Namespace, err)
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
	if err := l.lock(ctx); err != nil {
		return err
	}
	defer l.unlock()
	q, ok := l.machine.Release(next)
	if !ok {
		return nil
	}
	var r protocol.Reply
	repeated := false // an earlier release may have been executed
	for range 3 {
		if r = l.send(ctx, q); r.Err == nil || ctx.Err() != nil {
			break
		}
		repeated = true
	}
	released := r.Changed
	if r.Err == nil && !released {
		if r = l.send(ctx, protocol.Request{Ask: protocol.AskRow, Worker: q.Worker}); r.Err == nil {
			released, r.Err = l.machine.Released(q, r.Row, repeated)
			r.Err = l.registry.Explain(q.Ask.String(), r.Err)
		}
	}
	var lost *LostError
	if errors.As(r.Err, &lost) {
		l.mu.Lock()
		l.lost(lost)
		l.mu.Unlock()
		l.publish(ctx)
	}
	if released {
		l.log.Info("worker lease released", "worker", q.Worker)
	}
	return r.Err
}
