package sqlsnow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/shardsnow/snow"
)

const (
	defaultMaxSkew = 30 * time.Second
	longestMaxSkew = time.Hour
)

// A Lease is the right to stamp ids with a worker number that nobody else has
// in the same ticks: a [snow.Worker]. It renews itself until Close. If the
// number is lost it gets another one, and ids go on ascending; callers notice
// nothing as long as the window that was granted lasts. Methods are safe for
// concurrent use.
type Lease struct {
	grant    *snow.Grant
	registry *registry
	machine  *machine      // whoever has the turn may use it
	late     int           // the same: how many requests took too long, less those that did not
	turn     chan struct{} // holds one value, which is the turn
	wake     chan struct{} // tells run that the machine has something else to do
	log      *slog.Logger
	config   LeaseConfig
	held     *HeldError // why Acquire waits
	begin    time.Time  // what monotonic times are counted from

	ctx    context.Context // of the renewals
	cancel context.CancelFunc
	ended  chan struct{} // closed when no renewal is under way any more
	done   chan struct{}

	mu       sync.Mutex // of what follows
	stats    LeaseStats
	outage   outage
	gone     *LostError // the number that the generator has is lost
	stopped  bool       // the generator must not stamp it any more
	reached  time.Time  // of ids, when running time had to go back
	ceiling  int64
	took     time.Duration // by the last request
	notes    []note        // that the log and OnEvent are not told of yet
	err      error
	closing  sync.Once
	closeErr error
	telling  sync.Mutex // one note at a time
}

// Grant returns what the lease may stamp, for [snow.NewGenerator].
func (l *Lease) Grant() *snow.Grant { return l.grant }

// run renews the lease until it ends.
func (l *Lease) run() {
	defer close(l.ended)
	for l.ctx.Err() == nil {
		if l.await(l.ctx, l.wake) != nil || l.take(l.ctx) != nil {
			return
		}
		if l.machine.step != stepOver && l.read().mono >= l.machine.at { // Renew may have been here
			if out := l.ask(l.ctx); out.fatal != nil {
				l.end(l.ctx, out.fatal)
			}
		}
		over := l.machine.step == stepOver
		l.turn <- struct{}{}
		if over {
			return
		}
	}
}

// await returns when the machine has something to ask, or is to be looked at.
func (l *Lease) await(ctx context.Context, wake <-chan struct{}) error {
	l.mu.Lock()
	wait := l.machine.at - l.read().mono
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

// take waits for the turn to use the machine.
func (l *Lease) take(ctx context.Context) error {
	select {
	case <-l.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Lease) read() reading {
	now := time.Now()
	r := reading{mono: now.Sub(l.begin), wall: now}
	if l.grant != nil {
		r.running = l.running().UnixMicro()
	}
	return r
}

// running returns the time that the next id is stamped with, at the earliest.
func (l *Lease) running() time.Time {
	if now := l.grant.Now(); now.After(l.reached) {
		return now
	}
	return l.reached
}

// ask lets the machine ask the database once, and carries out what follows.
func (l *Lease) ask(ctx context.Context) outcome {
	sent := l.read()
	q := l.machine.request(sent)
	r := l.do(ctx, q)
	l.mu.Lock()
	now := l.read()
	l.took = now.mono - sent.mono
	out := l.machine.handle(q, r, sent.mono, now)
	l.carryOut(&out, now)
	l.mu.Unlock()
	l.tell(ctx)
	return out
}

// do sends a request. Once the lease is acquired, nobody waits longer for one
// than a part of the time between two renewals. Each that takes longer doubles
// that for the next one, up to 5 s: a database that is slow for long is heard.
func (l *Lease) do(ctx context.Context, q request) reply {
	if l.grant == nil {
		return l.registry.do(ctx, q)
	}
	const longest = 5 * time.Second
	limit := min(max(renewEvery(l.machine.window)/2, 500*time.Millisecond)<<l.late, longest)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := l.registry.do(bounded, q)
	switch {
	case bounded.Err() == nil:
		l.late = max(l.late-1, 0)
	case ctx.Err() == nil && limit < longest:
		l.late++
	}
	return r
}

// carryOut does what an outcome says. The caller holds mu.
func (l *Lease) carryOut(out *outcome, now reading) {
	s := &l.stats
	s.Skew = l.machine.clock.skew
	if out.now != 0 && l.grant != nil {
		l.grant.Advance(time.UnixMicro(out.now))
	}
	if out.retreat != 0 {
		if last := l.grant.Retreat(time.UnixMicro(out.retreat)); last.After(l.reached) {
			l.reached = last
		}
	}
	if out.raise != 0 {
		l.grant.Raise(uint64(out.raise))
		l.ceiling = out.raise
	}
	if out.renewed {
		s.Renewals++
		s.Renewed = time.UnixMicro(l.machine.clock.predict(now.mono)).UTC()
		s.Err, l.gone = nil, nil
		l.explain(nil)
		l.note(LeaseEvent{Kind: Renewed, Worker: s.Worker}, slog.LevelDebug, "worker lease renewed",
			"worker", s.Worker, "until", l.registry.terms.timeOf(l.ceiling))
	}
	if out.suspend {
		l.gone = &LostError{Worker: s.Worker, Reason: Regressed} // until it turns out to be another, or not at all
		l.grant.Explain(l.gone)
		l.grant.Suspend()
		l.stopped = true
	}
	if out.lost != nil {
		l.lost(out.lost)
	}
	if out.open != nil {
		if err := l.open(out.open, now); err != nil && out.err == nil {
			out.err = err
		}
	}
	switch {
	case out.err != nil:
		s.Err = out.err
		s.Failures++
		message := "" // before there is a lease, Acquire returns it
		if l.grant != nil {
			l.explain(out.err)
			if l.outage.fail(now.mono) {
				message = "worker lease not renewed"
			}
		}
		l.note(LeaseEvent{Kind: Failed, Worker: s.Worker, Err: out.err}, slog.LevelWarn, message,
			"worker", s.Worker, "until", l.registry.terms.timeOf(l.ceiling), "error", out.err)
	case l.outage.failures > 0 && l.machine.step == stepRenew && (out.renewed || out.open != nil):
		l.note(LeaseEvent{}, slog.LevelInfo, "worker lease outage over", "worker", s.Worker,
			"outage", now.mono-l.outage.since, "failures", l.outage.failures, "until", l.registry.terms.timeOf(l.ceiling))
		l.outage = outage{}
	}
}

// explain tells generators why the window will be over, should no renewal be in
// time. The caller holds mu.
func (l *Lease) explain(err error) {
	switch {
	case l.err != nil: // it is told already
	case l.gone != nil && err != nil:
		l.grant.Explain(fmt.Errorf("%w, and no other one is had: %w", l.gone, err))
	case l.gone == nil:
		l.grant.Explain(&NotRenewedError{Since: l.stats.Renewed, Err: err})
	}
}

// lost tells of a loss. The caller holds mu.
func (l *Lease) lost(e *LostError) {
	l.stats.Err, l.gone = e, e
	if l.err == nil {
		l.grant.Explain(e)
	}
	l.note(LeaseEvent{Kind: Lost, Worker: e.Worker, Err: e}, slog.LevelError, "worker number lost",
		"worker", e.Worker, "reason", e.Reason.String(), "holder", e.Holder)
}

// open lets the generator stamp a seat.
func (l *Lease) open(seat *seat, now reading) error {
	t := &l.registry.terms
	if l.grant == nil {
		grant, err := snow.NewGrant(t.layout, time.UnixMicro(l.machine.clock.predict(now.mono)))
		if err != nil {
			return err
		}
		l.grant = grant
	}
	err := l.grant.Open(snow.Window{
		Datacenter: l.config.Datacenter, Worker: uint64(seat.worker),
		Floor: uint64(seat.floor), Ceiling: uint64(min(seat.ceiling, t.lastTick()+1)),
	})
	s, first, again := &l.stats, l.machine.seat == nil, seat.opened
	if err != nil && again && seat.lost { // its window is over
		return nil
	}
	if err != nil && !first && !errors.Is(err, snow.ErrTimeExhausted) && !errors.Is(err, snow.ErrLeaseExpired) {
		l.machine.keep(seat, now)
		return l.machine.ahead(now, l.running().UnixMicro())
	}
	if err != nil {
		return err
	}
	l.machine.opened(seat, now)
	l.stopped = false
	if again {
		l.ceiling = seat.ceiling
		if !seat.lost {
			l.gone = nil
		}
		return nil
	}
	l.gone = nil
	former := s.Worker
	s.Datacenter, s.Worker, s.Fence, s.Err = l.config.Datacenter, uint64(seat.worker), seat.fence, nil
	s.Renewed = time.UnixMicro(l.machine.clock.predict(now.mono)).UTC()
	l.ceiling = seat.ceiling
	l.explain(nil)
	until := t.timeOf(seat.ceiling)
	if first {
		l.note(LeaseEvent{Kind: Acquired, Worker: s.Worker}, slog.LevelInfo, "worker lease acquired", "worker", s.Worker, "until", until)
		return nil
	}
	s.Swaps++
	l.note(LeaseEvent{Kind: Swapped, Worker: s.Worker, From: former}, slog.LevelWarn, "worker number swapped",
		"from", former, "worker", s.Worker, "until", until)
	return nil
}

// Renew renews the lease now instead of at its next time, and returns nil if a
// number is held after it, be it another one than before, and ids can be made. Renewals need no
// call of it; it is for those who expect to be away from the database for a
// while, or have been, and for readiness probes that want to know now. Where
// LossWindow is not 0, a renewal that would come too early is left out.
func (l *Lease) Renew(ctx context.Context) error {
	if err := l.renew(ctx); err != nil {
		return fmt.Errorf("sqlsnow: renew the lease of namespace %q: %w", l.config.Namespace, err)
	}
	return nil
}

func (l *Lease) renew(ctx context.Context) error {
	if err := l.take(ctx); err != nil {
		return err
	}
	defer func() {
		l.turn <- struct{}{}
		select {
		case l.wake <- struct{}{}:
		default: // it is awake
		}
	}()
	m := l.machine
	if err := l.Err(); err != nil {
		return err
	}
	now := l.read().mono
	if m.step == stepRenew && now < m.seat.renewed+l.registry.terms.minRenew {
		return nil
	}
	l.mu.Lock()
	m.hurry(now)
	l.mu.Unlock()
	for tries := 0; m.step != stepOver; tries++ {
		if err := l.await(ctx, nil); err != nil {
			return err
		}
		out := l.ask(ctx)
		switch {
		case out.fatal != nil:
			l.end(ctx, out.fatal)
		case out.err != nil:
			if !l.registry.engine.isBusy(out.err) || tries >= mostTries {
				return out.err
			}
		case m.step == stepRenew && !out.again:
			return nil
		}
	}
	return l.Err()
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
		l.note(LeaseEvent{Kind: Ended, Worker: l.stats.Worker, Err: err}, slog.LevelError, message, "worker", l.stats.Worker, "error", err)
		close(l.done)
	}
	l.mu.Unlock()
	l.tell(ctx)
	return next
}

// Done returns a channel that is closed when no id can be made any more: after
// Close, or when there is no way back from what happened. See Err.
func (l *Lease) Done() <-chan struct{} { return l.done }

// Err returns nil as long as Done is open. Then it says why it is not:
// [ErrClosed], a [*LostError] of a number that had to be this one,
// [ErrNamespaceMismatch], [ErrNoNamespace] or [snow.ErrTimeExhausted].
func (l *Lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
