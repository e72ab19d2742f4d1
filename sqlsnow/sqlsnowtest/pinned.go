package sqlsnowtest

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

func pinnedHeld(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	pin := sqlsnow.LeaseConfig{Worker: pointer(uint64(2)), Holder: "first"}
	h := sp.acquire(pin)
	r := h.held()
	if r.worker != 2 || r.ceiling-r.floor != sp.ticks(30*time.Second) {
		s.Errorf("got worker %d with a window of %d ticks, want worker 2 and 30 s", r.worker, r.ceiling-r.floor)
	}
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	var statements atomic.Int64
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		if isWork(statement) && statements.Add(1) == 10 { // in the second or third look
			cancel()
		}
		return send()
	})
	_, err := sp.tryAcquire(ctx, db, pin)
	e := wantAs[*sqlsnow.HeldError](s, "Acquire of a held number", err)
	now := h.held()
	if e.Worker != 2 || e.Holder != "first" || sp.tick(e.Until) < r.ceiling || sp.tick(e.Until) > now.ceiling+sp.ticks(time.Minute) {
		s.Errorf("got %+v, want worker 2, holder %q and until at least %v", e, "first", sp.time(r.ceiling))
	}
	// An unpinned lease does not take it either, and the holder is not affected.
	for range 3 {
		if got := sp.acquire(sqlsnow.LeaseConfig{}).worker(); got == 2 {
			s.Errorf("got number 2, which is pinned")
		}
	}
	h.renew()
	h.within()
	if got := h.held(); got.owner != r.owner {
		s.Errorf("got %+v after %+v, want the same owner", got, r)
	}
}

// waiting starts an Acquire and returns when it has found the number held.
func (s *space) waiting(cfg sqlsnow.LeaseConfig) <-chan *holder {
	s.Helper()
	looked := make(chan struct{}, 1)
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		err := send()
		if isWork(statement) {
			select {
			case looked <- struct{}{}:
			default:
			}
		}
		return err
	})
	got := make(chan *holder, 1)
	go func() {
		h, err := s.tryAcquire(s.Context(), db, cfg)
		if err != nil {
			s.Errorf("Acquire: %v", err)
		}
		got <- h
	}()
	<-looked // the read of the namespace
	<-looked // the read of the number, or the namespace again
	return got
}

func pinnedAfterClose(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	pin := sqlsnow.LeaseConfig{Worker: pointer(uint64(2))}
	h := sp.acquire(pin)
	got := sp.waiting(pin)
	h.within()
	last := h.last
	h.close()
	next := <-got
	if next == nil {
		return
	}
	if next.worker() != 2 {
		s.Errorf("got number %d, want 2", next.worker())
	}
	if id := next.next(); id <= last {
		s.Errorf("got %d, want more than %d, the last id of the former holder", id, last)
	}
	next.within()
}

func pinnedAfterCrash(s *suite) {
	sp := s.space(sqlsnow.Namespace{PinnedWindow: 5 * time.Minute})
	pin := sqlsnow.LeaseConfig{Worker: pointer(uint64(2))}
	h := sp.acquire(pin)
	h.within()
	former := h.crash()
	got := sp.waiting(pin)
	sp.age(2, 10*time.Second)
	select {
	case next := <-got:
		s.Fatalf("got the number minutes before its window ends: %+v", next)
	default:
	}
	aged := sp.row(2) // read before another process can take it
	aged.ceiling -= sp.ticks(6 * time.Minute)
	sp.age(2, 6*time.Minute)
	next := <-got
	if next == nil {
		return
	}
	if r := next.held(); r.worker != 2 || r.floor < aged.ceiling || r.fence <= former.fence {
		s.Errorf("got %+v after %+v, want worker 2, a floor after its ceiling and a larger fence", r, aged)
	}
	next.within()
}

func pinnedLost(s *suite) {
	sp := s.space(sqlsnow.Namespace{PinnedWindow: 8 * time.Second})
	var j journal
	h := sp.acquire(sqlsnow.LeaseConfig{Worker: pointer(uint64(2)), Logger: slog.New(&j)})
	h.within()
	given := sp.give(2)
	e := wantAs[*sqlsnow.LostError](s, "Renew", h.Renew(s.Context()))
	if e.Worker != 2 || e.Reason != sqlsnow.Displaced || e.Holder != other {
		s.Errorf("Renew: got %+v, want worker 2, reason %v and holder %q", e, sqlsnow.Displaced, other)
	}
	s.awaitLoss(&j, 1, sqlsnow.Displaced)
	var err error
	s.await("end of the generator", func() bool {
		var id snow.ID
		if id, err = h.gen.Next(s.Context()); err != nil {
			return true
		}
		if worker, tick := sp.parts(id); worker != 2 || tick >= given.floor {
			s.Errorf("got an id of worker %d in tick %d, want one of worker 2 below %d", worker, tick, given.floor)
		}
		return false
	})
	s.wantIs("Next of a lost lease", err, snow.ErrLeaseExpired)
	s.ended("Done", h.Done())
	_ = wantAs[*sqlsnow.LostError](s, "Err", h.Err())
	if got := h.Stats().Swaps; got != 0 {
		s.Errorf("got %d swaps of a pinned lease", got)
	}
	_ = h.Close(s.Context()) // the contract does not say whether this is an error; the row counts
	sp.same("row of the other holder", sp.row(2), given)
	for worker, r := range sp.rows() {
		if worker != 2 && r.state != free {
			s.Errorf("worker %d was taken: %+v", worker, r)
		}
	}
}

func pinnedRegressed(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	var j journal
	h := sp.acquire(sqlsnow.LeaseConfig{Worker: pointer(uint64(2)), Logger: slog.New(&j)})
	h.within()
	acked := sp.tick(h.Stats().Ceiling)
	sp.set(2, "ceiling_tick = ceiling_tick - ?, renew_seq = renew_seq - 1", sp.ticks(5*time.Second))
	if err := h.Renew(s.Context()); err != nil {
		e := wantAs[*sqlsnow.LostError](s, "Renew", err)
		if e.Reason != sqlsnow.Regressed {
			s.Errorf("Renew: got reason %v, want %v", e.Reason, sqlsnow.Regressed)
		}
	}
	s.await("ceiling that is as it was", func() bool { return sp.row(2).ceiling >= acked })
	s.awaitLoss(&j, 1, sqlsnow.Regressed)
	if got := h.Stats().Swaps; got != 0 {
		s.Errorf("got %d swaps of a pinned lease", got)
	}
	if _, err := h.gen.Next(s.Context()); err != nil && !errors.Is(err, snow.ErrLeaseExpired) {
		s.Errorf("Next: got %v, want an id or %v", err, snow.ErrLeaseExpired)
	}
}
