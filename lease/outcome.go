package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/protocol"
)

// carryOut does what an outcome says. The caller holds mu.
func (l *Lease) carryOut(out *protocol.Outcome, now protocol.Reading) {
	s := &l.stats
	s.Skew = l.machine.Skew()
	if out.Now != 0 && l.grant != nil {
		l.grant.Advance(time.UnixMicro(out.Now))
	}
	if out.Retreat != 0 {
		last, next := l.grant.Retreat(time.UnixMicro(out.Retreat))
		if last.After(l.reached) {
			l.reached = last
		}
		l.resumes = next
	}
	if out.Raise != 0 {
		l.grant.Raise(uint64(out.Raise))
		l.ceiling = out.Raise
	}
	if l.grant != nil {
		l.machine.Report(out, now, l.running().UnixMicro(), l.waits())
		out.Err = l.registry.Explain("", out.Err)
	}
	if out.Renewed {
		s.Renewals++
		s.Renewed = time.UnixMicro(l.machine.Predict(now.Mono)).UTC()
		s.Err, l.gone = nil, nil
		l.explain(nil)
		l.note(Event{Kind: Renewed, Worker: s.Worker}, slog.LevelDebug, "worker lease renewed",
			"worker", s.Worker, "until", l.params.TimeOf(l.ceiling))
	}
	if out.Suspend {
		// provisional: the number may turn out to be lost otherwise, or not lost
		l.gone = &LostError{Worker: s.Worker, Reason: Regressed}
		l.grant.Explain(l.gone)
		l.grant.Suspend()
		l.stopped = true
	}
	if out.Lost != nil {
		l.lost(exportedLoss(out.Lost))
	}
	if out.Open != nil {
		if err := l.open(out.Open, now); err != nil && out.Err == nil {
			out.Err, out.Retry = err, false
		}
	}
	switch {
	case out.Err != nil:
		s.Err = out.Err
		s.Failures++
		message := "" // before there is a lease, Acquire returns the error
		if l.grant != nil {
			l.explain(out.Err)
			if l.outage.fail(now.Mono) {
				message = "worker lease not renewed"
			}
		}
		l.note(Event{Kind: Failed, Worker: s.Worker, Err: out.Err}, slog.LevelWarn, message,
			"worker", s.Worker, "until", l.params.TimeOf(l.ceiling), "error", out.Err)
	case l.outage.failures > 0 && l.machine.Holds() && (out.Renewed || out.Open != nil):
		l.note(Event{}, slog.LevelInfo, "worker lease outage over", "worker", s.Worker,
			"outage", now.Mono-l.outage.since, "failures", l.outage.failures, "until", l.params.TimeOf(l.ceiling))
		l.outage = outage{}
	}
}

// explain gives generators the reason for the end of the window, in case no
// renewal succeeds before it. The caller holds mu.
func (l *Lease) explain(err error) {
	switch {
	case l.err != nil: // generators know why already
	case l.gone != nil && err != nil:
		l.grant.Explain(fmt.Errorf("%w, and there is no other one: %w", l.gone, err))
	case l.gone == nil:
		l.grant.Explain(&notRenewedError{l.stats.Renewed, err})
	}
}

// lost records a loss. The caller holds mu.
func (l *Lease) lost(e *LostError) {
	l.stats.Err, l.gone = e, e
	if l.err == nil {
		l.grant.Explain(e)
	}
	l.note(Event{Kind: Lost, Worker: e.Worker, Err: e}, slog.LevelError, "worker number lost",
		"worker", e.Worker, "reason", e.Reason.String(), "holder", e.Holder)
}

// open lets the generator use a number.
func (l *Lease) open(h *protocol.Holding, now protocol.Reading) error {
	p := &l.params
	if l.grant == nil {
		grant, err := snow.NewGrant(p.Layout, time.UnixMicro(l.machine.Predict(now.Mono)))
		if err != nil {
			return err
		}
		l.grant = grant
	}
	err := l.grant.Open(snow.Window{
		Datacenter: l.config.Datacenter, Worker: uint64(h.Worker),
		Floor: uint64(h.Floor), Ceiling: uint64(min(h.Ceiling, p.LastTick()+1)),
	})
	s, first, again := &l.stats, l.machine.Holding() == nil, h.IsOpen()
	if err != nil && again && h.IsLost() { // its window is over
		return nil
	}
	if err != nil && !first && !errors.Is(err, snow.ErrTimeExhausted) && !errors.Is(err, snow.ErrLeaseExpired) {
		l.machine.Keep(h, now)
		return l.registry.Explain("", l.machine.Ahead(now, l.running().UnixMicro()))
	}
	if err != nil {
		return err
	}
	l.machine.Opened(h, now)
	l.stopped = false
	if again {
		l.ceiling = h.Ceiling
		if !h.IsLost() {
			l.gone = nil
		}
		return nil
	}
	l.gone = nil
	former := s.Worker
	s.Datacenter, s.Worker, s.Fence, s.Err = l.config.Datacenter, uint64(h.Worker), h.Fence, nil
	s.Renewed = time.UnixMicro(l.machine.Predict(now.Mono)).UTC()
	l.ceiling = h.Ceiling
	l.explain(nil)
	until := p.TimeOf(h.Ceiling)
	if first {
		l.note(Event{Kind: Acquired, Worker: s.Worker}, slog.LevelInfo, "worker lease acquired", "worker", s.Worker, "until", until)
		return nil
	}
	s.Swaps++
	l.note(Event{Kind: Swapped, Worker: s.Worker, From: former}, slog.LevelWarn, "worker number swapped",
		"from", former, "worker", s.Worker, "until", until)
	return nil
}

// note keeps an event for publish. The caller holds mu.
func (l *Lease) note(e Event, level slog.Level, message string, args ...any) {
	if l.grant != nil {
		e.Ceiling = l.params.TimeOf(l.ceiling)
	}
	if e.Kind != Ended {
		e.Took = l.took
	}
	l.notes = append(l.notes, note{e, level, message, args})
}

// publish passes the notes to the log and OnEvent. It does not hold mu meanwhile,
// so that both may call Stats, or wait for goroutines that do.
func (l *Lease) publish(ctx context.Context) {
	l.publishing.Lock()
	defer l.publishing.Unlock()
	l.mu.Lock()
	notes := l.notes
	l.notes = nil
	l.mu.Unlock()
	for _, n := range notes {
		if n.message != "" {
			l.log.Log(ctx, n.level, n.message, n.args...)
		}
		if l.config.OnEvent != nil && n.event.Kind != 0 {
			l.config.OnEvent(ctx, n.event)
		}
	}
}
