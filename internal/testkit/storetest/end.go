package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/lease"
)

// swapped renews h, and waits until it has another number, with ids that ascend.
func (s *space) swapped(h *holder, reason lease.Loss) {
	s.Helper()
	before, former := s.next(h), h.Stats().Worker
	if err := h.Renew(s.Context()); err != nil {
		if e := as[*lease.LostError](s, err); e.Reason != reason || e.Worker != former {
			s.Errorf("got %+v, want worker %d and %v", e, former, reason)
		}
	}
	s.await("swap", func() bool { return h.Stats().Swaps == 1 })
	s.await("id with the new number", func() bool {
		id := s.next(h)
		if id <= before {
			s.Errorf("id %d after %d", id, before)
		}
		before = id
		parts, err := s.ns.Layout.Decompose(id)
		return err == nil && parts.Worker == h.Stats().Worker
	})
	if r := s.row(h.Stats().Worker); r["state"] != "granted" || r.int("fence") != h.Stats().Fence {
		s.Errorf("the row is %v, and the lease says %+v", r, h.Stats())
	}
}

func displaced(s *space) {
	s.init(lease.Namespace{})
	h := s.acquire(lease.Config{})
	former := h.Stats().Worker
	s.give(former)
	given := fmt.Sprint(s.row(former))
	s.swapped(h, lease.Displaced)
	if got := fmt.Sprint(s.row(former)); got != given {
		s.Errorf("the next holder's row was %s, and is now %s", given, got)
	}
	other := s.acquire(lease.Config{})
	fence := s.row(other.Stats().Worker)["fence"]
	s.give(other.Stats().Worker)
	s.set(other.Stats().Worker, row{"fence": fence}) // another owner with the same fence
	s.swapped(other, lease.Regressed)
}

func regressed(s *space) {
	s.init(lease.Namespace{})
	h := s.acquire(lease.Config{})
	worker := h.Stats().Worker
	ceiling := s.row(worker).int("ceiling_tick")
	s.set(worker, row{"ceiling_tick": ceiling - 60_000})
	s.swapped(h, lease.Regressed)
	if worker != h.Stats().Worker {
		if got := s.row(worker).int("ceiling_tick"); got != ceiling {
			s.Errorf("the ceiling is %d, want %d again", got, ceiling)
		}
	}
}

func reservedMeanwhile(s *space) {
	s.init(lease.Namespace{})
	h := s.acquire(lease.Config{})
	s.set(h.Stats().Worker, row{"state": "reserved"})
	before := s.next(h)
	_ = h.Renew(s.Context())
	s.await("swap", func() bool { return h.Stats().Swaps == 1 })
	if id := s.next(h); id <= before {
		s.Errorf("id %d after %d", id, before)
	}
}

func vanished(s *space) {
	s.init(lease.Namespace{})
	h := s.acquire(lease.Config{})
	if err := s.c.Delete(s.Context(), s.key(h.Stats().Worker)); err != nil {
		s.Fatal(err)
	}
	_ = h.Renew(s.Context())
	s.await("swap", func() bool { return h.Stats().Swaps == 1 })
	s.next(h)
}

func unknownRenewal(s *space) {
	s.init(lease.Namespace{})
	var cut atomic.Bool
	h, err := s.try(s.c.Wired(s.T, func(send func() error) error {
		err := send()
		if cut.Load() {
			return errors.Join(err, errCut)
		}
		return err
	}), lease.Config{})
	if err != nil {
		s.Fatal(err)
	}
	cut.Store(true)
	before := h.Stats().Ceiling
	s.await("tick", func() bool {
		return time.Now().After(before.Add(-s.ns.Layout.Tick() - 10*time.Minute + 10*time.Millisecond))
	})
	if err := h.Renew(s.Context()); !errors.Is(err, errCut) || !h.Stats().Ceiling.Equal(before) {
		s.Errorf("a renewal whose answer was lost: %v, and the ceiling is %v after %v", err, h.Stats().Ceiling, before)
	}
	cut.Store(false)
	if err := h.Renew(s.Context()); err != nil || !h.Stats().Ceiling.After(before) || h.Stats().Swaps != 0 {
		s.Errorf("the next renewal: %v, %+v", err, h.Stats())
	}
}

// late acquires a lease whose next write is held back while meanwhile is done.
func (s *space) late(meanwhile func(worker uint64), write func(h *holder) error) (row, row) {
	s.Helper()
	s.init(lease.Namespace{Workers: 1})
	var hold atomic.Pointer[func()]
	h, err := s.try(s.c.Wired(s.T, func(send func() error) error {
		if f := hold.Swap(nil); f != nil {
			(*f)()
		}
		return send()
	}), lease.Config{})
	if err != nil {
		s.Fatal(err)
	}
	var given row
	f := func() { meanwhile(0); given = s.row(0) }
	hold.Store(&f)
	_ = write(h)
	return given, s.row(0)
}

func lateRenewal(s *space) {
	ctx, cancel := context.WithTimeout(s.Context(), 2*time.Second) // there is no other number
	defer cancel()
	given, got := s.late(s.give, func(h *holder) error { return h.Renew(ctx) })
	if fmt.Sprint(given) != fmt.Sprint(got) {
		s.Errorf("the next holder's row was %v, and is now %v", given, got)
	}
}

func lateRelease(s *space) {
	given, got := s.late(s.give, func(h *holder) error { return h.Close(s.Context()) })
	if fmt.Sprint(given) != fmt.Sprint(got) {
		s.Errorf("the next holder's row was %v, and is now %v", given, got)
	}
}

func closeFrees(s *space) {
	s.init(lease.Namespace{Workers: 1})
	h := s.acquire(lease.Config{})
	id := s.next(h)
	if err := errors.Join(h.Close(s.Context()), h.Close(s.Context())); err != nil {
		s.Fatal(err)
	}
	if _, err := h.keys.Next(s.Context()); !errors.Is(err, snow.ErrLeaseExpired) {
		s.Errorf("an id after Close: %v", err)
	}
	parts, err := s.ns.Layout.Decompose(id)
	used := int64(parts.Time.Sub(s.ns.Layout.Epoch()) / s.ns.Layout.Tick())
	if r := s.row(0); err != nil || r["state"] != "free" || r.int("ceiling_tick") <= used || r.int("ceiling_tick") > s.now()+1000 {
		s.Errorf("the row is %v, and the last id was in tick %d: %v", r, used, err)
	}
	if again := s.next(s.acquire(lease.Config{})); again <= id {
		s.Errorf("the next holder's id %d after %d", again, id)
	}
}

func closeUnused(s *space) {
	s.init(lease.Namespace{Workers: 1})
	h := s.acquire(lease.Config{})
	floor := s.row(0).int("floor_tick")
	if err := h.Close(s.Context()); err != nil {
		s.Fatal(err)
	}
	if r := s.row(0); r.int("ceiling_tick") < floor || r.int("ceiling_tick") > s.now()+2000 {
		s.Errorf("the row is %v, want its ceiling from the floor %d to 2 s from now", r, floor)
	}
}

func pinned(s *space) {
	s.init(lease.Namespace{})
	number := uint64(2)
	h := s.acquire(lease.Config{Worker: &number, Holder: "first"})
	ctx, cancel := context.WithTimeout(s.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := s.c.Acquire(ctx, lease.Config{Namespace: s.name, Worker: &number})
	if e := as[*lease.HeldError](s, err); e.Holder != "first" || e.Worker != number || e.Until.IsZero() {
		s.Errorf("got %+v", e)
	}
	var all sync.WaitGroup
	all.Go(func() {
		if next := s.acquire(lease.Config{Worker: &number}); next.Stats().Worker != number {
			s.Errorf("got number %d", next.Stats().Worker)
		}
	})
	if err := h.Close(s.Context()); err != nil {
		s.Error(err)
	}
	all.Wait()
}

func pinnedLost(s *space) {
	s.init(lease.Namespace{})
	number := uint64(2)
	h := s.acquire(lease.Config{Worker: &number})
	s.give(number)
	if e := as[*lease.LostError](s, h.Renew(s.Context())); e.Reason != lease.Displaced || e.Holder != "another" {
		s.Errorf("got %+v", e)
	}
	<-h.Done()
	_ = as[*lease.LostError](s, h.Err())
}

func fenced(s *space) {
	s.init(lease.Namespace{})
	h := s.acquire(lease.Config{})
	earliest := s.now() + 600_000 + 122_000
	if err := s.c.Fence(s.Context(), s.name); err != nil {
		s.Fatal(err)
	}
	for worker := range uint64(4) {
		if r := s.row(worker); r.int("ceiling_tick") < earliest || r.int("floor_tick") != r.int("ceiling_tick") {
			s.Errorf("worker %d: %v, want a ceiling from %d on", worker, r, earliest)
		}
	}
	if err := h.Renew(s.Context()); err != nil || h.Stats().Swaps != 0 {
		s.Errorf("a lease with eight minutes left: %v, %+v", err, h.Stats())
	}
	s.next(h)
	_, err := s.try(s.c, lease.Config{})
	_ = as[*lease.NoWorkerError](s, err)
}

func reserveAtOnce(s *space) {
	s.init(lease.Namespace{Workers: 10})
	s.set(9, row{"fence": 1})
	s.set(8, row{"ceiling_tick": 1, "floor_tick": 1}) // fenced
	var all sync.WaitGroup
	var mu sync.Mutex
	got := map[string]map[uint64]bool{}
	for i := range 12 {
		holder := fmt.Sprint(i % 4)
		all.Go(func() {
			r, err := s.c.Reserve(s.Context(), s.name, holder)
			if err != nil {
				s.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if got[holder] == nil {
				got[holder] = map[uint64]bool{}
			}
			got[holder][r.Worker] = true
		})
	}
	all.Wait()
	numbers := map[uint64]bool{}
	for holder, of := range got {
		if len(of) != 1 {
			s.Errorf("%q got %v", holder, of)
		}
		for number := range of {
			numbers[number] = true
		}
	}
	for number := range uint64(10) {
		if want := number >= 4 && number <= 7; numbers[number] != want {
			s.Errorf("number %d: reserved %t, want %t", number, numbers[number], want)
		}
	}
}

func unknownReserve(s *space) {
	s.init(lease.Namespace{})
	c := s.c.Wired(s.T, func(send func() error) error { return errors.Join(send(), errCut) })
	if _, err := c.Reserve(s.Context(), s.name, "h"); !errors.Is(err, errCut) {
		s.Errorf("got %v, want an error", err)
	}
	r, err := s.c.Reserve(s.Context(), s.name, "h")
	if err != nil || r.Worker != 3 || s.row(2)["state"] != "free" {
		s.Errorf("got %+v and %v, want number 3 alone", r, err)
	}
}

func closeLost(s *space) {
	s.init(lease.Namespace{})
	h := s.acquire(lease.Config{})
	s.next(h)
	s.give(h.Stats().Worker)
	if e := as[*lease.LostError](s, h.Close(s.Context())); e.Holder != "another" {
		s.Errorf("got %+v", e)
	}
}

func closeTwice(s *space) {
	s.init(lease.Namespace{})
	var cut atomic.Bool
	h, err := s.try(s.c.Wired(s.T, func(send func() error) error {
		err := send()
		if cut.Swap(false) {
			return errors.Join(err, errCut)
		}
		return err
	}), lease.Config{})
	if err != nil {
		s.Fatal(err)
	}
	s.next(h)
	cut.Store(true)
	if err := h.Close(s.Context()); err != nil {
		s.Errorf("a release whose first answer was lost: %v", err)
	}
}

func madeAnew(s *space) {
	s.init(lease.Namespace{})
	if err := s.c.Delete(s.Context(), s.key(1)); err != nil {
		s.Fatal(err)
	}
	earliest := s.now() + 600_000
	s.init(s.ns)
	if r := s.row(1); r.int("floor_tick") < earliest || r.int("ceiling_tick") != r.int("floor_tick") {
		s.Errorf("the row that was deleted is %v, want its floor from %d on", r, earliest)
	}
}

func reclaims(s *space) {
	s.init(lease.Namespace{})
	h := s.acquire(lease.Config{Worker: new(uint64)})
	if err := s.c.Fence(s.Context(), s.name); err != nil {
		s.Fatal(err)
	}
	_, err := s.c.Reserve(s.Context(), s.name, "h")
	if e := as[*lease.NoWorkerError](s, err); !e.EarliestFree.IsZero() {
		s.Errorf("got %+v", e)
	}
	if r, err := s.c.Reclaim(s.Context(), s.name, "h", 3); err != nil || r.Worker != 3 {
		s.Errorf("got %+v and %v", r, err)
	}
	_, err = s.c.Reclaim(s.Context(), s.name, "another", 3)
	if e := as[*lease.HeldError](s, err); e.Holder != "h" || !e.Until.IsZero() {
		s.Errorf("got %+v", e)
	}
	_, err = s.c.Reclaim(s.Context(), s.name, "h", h.Stats().Worker)
	_ = as[*lease.HeldError](s, err)
	_, err = s.c.Reclaim(s.Context(), s.name, "h", 4)
	_ = as[*snow.FieldError](s, err)
}
