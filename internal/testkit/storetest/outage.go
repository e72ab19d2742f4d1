package storetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/lease"
)

// away returns a client whose writes fail, without being sent, while gone is true.
func (s *space) away() (c Client, gone *atomic.Bool) {
	s.Helper()
	gone = new(atomic.Bool)
	return s.c.Wired(s.T, func(send func() error) error {
		if gone.Load() {
			return errCut
		}
		return send()
	}), gone
}

// without acquires a lease on a client that can be cut off.
func (s *space) without(cfg lease.Config) (h *holder, gone *atomic.Bool) {
	s.Helper()
	c, gone := s.away()
	h, err := s.try(c, cfg)
	if err != nil {
		s.Fatal(err)
	}
	return h, gone
}

// tick returns the number and the tick of an id.
func (s *space) tick(id snow.ID) (worker uint64, tick int64) {
	s.Helper()
	parts, err := s.ns.Layout.Decompose(id)
	if err != nil {
		s.Fatal(err)
	}
	return parts.Worker, int64(parts.Time.Sub(s.ns.Layout.Epoch()) / s.ns.Layout.Tick())
}

// toTheEnd makes ids until there are none, and checks that each is of a number and below a tick.
func (s *space) toTheEnd(h *holder, worker uint64, end int64) {
	s.Helper()
	s.await("end of the window", func() bool {
		id, err := h.keys.Next(s.Context())
		if err != nil {
			if !errors.Is(err, snow.ErrLeaseExpired) {
				s.Errorf("at the end of the window: %v", err)
			}
			return true
		}
		if got, tick := s.tick(id); got != worker || tick >= end {
			s.Errorf("an id of worker %d in tick %d, want worker %d below %d", got, tick, worker, end)
		}
		return false
	})
}

// again waits until a lease renews and makes ids.
func (s *space) again(h *holder) {
	s.Helper()
	s.await("renewal", func() bool { return h.Renew(s.Context()) == nil })
	s.await("id", func() bool {
		_, err := h.keys.Next(s.Context())
		return err == nil
	})
}

func lostAndNoneFree(s *space) {
	s.init(lease.Namespace{Workers: 1, Window: 3 * time.Second})
	h := s.acquire(lease.Config{})
	end := s.row(0).int("ceiling_tick")
	s.give(0)
	_ = as[*lease.NoWorkerError](s, s.renewed(h))
	s.toTheEnd(h, 0, end)
	if err := h.Err(); err != nil {
		s.Errorf("Err of a lease that may still find a number: %v", err)
	}
	s.set(0, row{"ceiling_tick": s.now() - 1, "floor_tick": s.now() - 1})
	s.again(h)
	if r := s.row(0); r["owner"] == "another" {
		s.Errorf("the row is %v, want it to be the lease's", r)
	}
}

// renewed renews until the result is not a loss.
func (s *space) renewed(h *holder) (err error) {
	s.Helper()
	s.await("renewal without a loss", func() bool {
		err = h.Renew(s.Context())
		return !errors.As(err, new(*lease.LostError))
	})
	return err
}

func closeDuringRenewal(s *space) {
	s.init(lease.Namespace{Workers: 1})
	var on atomic.Bool
	arrived, release := make(chan bool), make(chan bool)
	h, err := s.try(s.c.Wired(s.T, func(send func() error) error {
		if on.Swap(false) {
			arrived <- true
			<-release
		}
		return send()
	}), lease.Config{})
	if err != nil {
		s.Fatal(err)
	}
	last := s.next(h)
	on.Store(true)
	renewed, closed := make(chan error, 1), make(chan error, 1)
	go func() { renewed <- h.Renew(s.Context()) }()
	<-arrived
	go func() { closed <- h.Close(s.Context()) }()
	s.await("end of the generator", func() bool {
		id, err := h.keys.Next(s.Context())
		last = max(last, id)
		return err != nil
	})
	close(release)
	s.Logf("Renew: %v", <-renewed)
	if err := <-closed; err != nil {
		s.Errorf("Close: %v", err)
	}
	_, used := s.tick(last)
	if r := s.row(0); r["state"] != "free" || r.int("ceiling_tick") <= used || r.int("ceiling_tick") > s.now()+2000 {
		s.Errorf("the row is %v, want it free from a tick after %d, at most 2 s from now", r, used)
	}
}

func outage(s *space) {
	s.init(lease.Namespace{Workers: 2, Window: 2 * time.Second})
	h, gone := s.without(lease.Config{})
	gone.Store(true)
	worker := h.Stats().Worker
	before := s.row(worker)
	s.toTheEnd(h, worker, before.int("ceiling_tick"))
	select {
	case <-h.Done():
		s.Error("a lease that may go on has ended")
	default:
	}
	gone.Store(false)
	s.again(h)
	if r := s.row(worker); h.Stats().Swaps != 0 || r["owner"] != before["owner"] || r["floor_tick"] != before["floor_tick"] {
		s.Errorf("the row was %v, and is %v after %d swaps", before, r, h.Stats().Swaps)
	}
}

func outageTooLong(s *space) {
	s.init(lease.Namespace{Workers: 2, Window: 2 * time.Second})
	h, gone := s.without(lease.Config{})
	gone.Store(true)
	worker := h.Stats().Worker
	s.toTheEnd(h, worker, s.row(worker).int("ceiling_tick"))
	next := s.acquire(lease.Config{Worker: &worker})
	gone.Store(false)
	s.again(h)
	if h.Stats().Swaps != 1 || h.Stats().Worker == worker || next.Stats().Worker != worker {
		s.Errorf("got %+v after another process took number %d", h.Stats(), worker)
	}
	s.next(next)
}

func closeWithoutStore(s *space) {
	s.init(lease.Namespace{Workers: 1, Window: 2 * time.Second})
	h, gone := s.without(lease.Config{})
	gone.Store(true)
	if err := h.Renew(s.Context()); !errors.Is(err, errCut) {
		s.Errorf("Renew: %v", err)
	}
	if st := h.Stats(); st.Err == nil || st.Failures == 0 {
		s.Errorf("got %+v, want the error of the renewal", st)
	}
	s.toTheEnd(h, 0, s.row(0).int("ceiling_tick"))
	first := h.Close(s.Context())
	if second := h.Close(s.Context()); first == nil || !errors.Is(second, first) {
		s.Errorf("Close: %v, and then %v", first, second)
	}
	<-h.Done()
	if err := h.Err(); !errors.Is(err, lease.ErrClosed) || s.row(0)["state"] != "granted" {
		s.Errorf("Err: %v, and the row is %v", err, s.row(0))
	}
}

func closeCancelled(s *space) {
	s.init(lease.Namespace{Workers: 1})
	h := s.acquire(lease.Config{})
	s.next(h)
	ended, cancel := context.WithCancel(s.Context())
	cancel()
	if err := h.Close(ended); err != nil || s.row(0)["state"] != "free" {
		s.Errorf("Close: %v, and the row is %v", err, s.row(0))
	}
	if _, err := h.keys.Next(s.Context()); !errors.Is(err, snow.ErrLeaseExpired) {
		s.Errorf("an id after Close: %v", err)
	}
}

func pinnedAfterCrash(s *space) {
	s.init(lease.Namespace{PinnedWindow: 2 * time.Second})
	number := uint64(2)
	h, gone := s.without(lease.Config{Worker: &number})
	last := s.next(h)
	gone.Store(true)
	before := s.row(number)
	next := s.acquire(lease.Config{Worker: &number}) // waits for the end of the window
	if r := s.row(number); r.int("floor_tick") < before.int("ceiling_tick") || r.int("fence") <= before.int("fence") {
		s.Errorf("the row was %v, and is %v", before, r)
	}
	if id := s.next(next); id <= last {
		s.Errorf("id %d after %d", id, last)
	}
}

// putBack sets a row back to what it was before its lease, and calls Fence: the number is given to nobody while the
// process that the store has forgotten may make ids.
func putBack(s *space) {
	s.init(lease.Namespace{Workers: 1})
	before := s.row(0)
	h, gone := s.without(lease.Config{})
	gone.Store(true) // the process does not reach the store that was put back
	worker, end := h.Stats().Worker, s.row(0).int("ceiling_tick")
	s.restore(0, before)
	if err := s.c.Fence(s.Context(), s.name); err != nil {
		s.Fatal(err)
	}
	if floor := s.row(0).int("ceiling_tick"); floor < end {
		s.Errorf("after Fence a window may begin in tick %d, and the one that was forgotten ends at %d", floor, end)
	}
	_, err := s.try(s.c, lease.Config{})
	_ = as[*lease.NoWorkerError](s, err)
	if got, tick := s.tick(s.next(h)); got != worker || tick >= end {
		s.Errorf("an id of worker %d in tick %d", got, tick)
	}
	gone.Store(false)
	if err := s.renewed(h); err == nil {
		s.Error("a lease that was forgotten was renewed")
	}
}
