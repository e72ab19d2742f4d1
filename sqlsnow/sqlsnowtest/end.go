package sqlsnowtest

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

func closeFrees(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 1})
	var j journal
	h := sp.acquire(sqlsnow.LeaseConfig{Logger: slog.New(&j)})
	s.awaitEvent(&j, "acquired", 1)
	h.renew()
	s.awaitEvent(&j, "renewed", 1)
	if err := h.Err(); err != nil {
		s.Errorf("Err of a live lease: got %v", err)
	}
	select {
	case <-h.Done():
		s.Errorf("Done of a live lease: got closed")
	default:
	}
	h.within()
	_, last := sp.parts(h.last)
	before := h.held()
	got := h.close()
	if got.state != free || got.owner != "" || got.ceiling != last+1 || got.fence < before.fence {
		s.Errorf("after Close: got %+v, want it free, without an owner, with the ceiling %d", got, last+1)
	}
	if err := h.Close(s.Context()); err != nil {
		s.Errorf("second Close: got %v", err)
	}
	sp.same("row after a second Close", sp.row(0), got)
	s.ended("Done", h.Done())
	s.wantIs("Err", h.Err(), sqlsnow.ErrClosed)
	s.wantIs("Renew after Close", h.Renew(s.Context()), sqlsnow.ErrClosed)
	if id, err := h.gen.Next(s.Context()); !errors.Is(err, snow.ErrLeaseExpired) {
		s.Errorf("Next after Close: got %d and %v, want %v", id, err, snow.ErrLeaseExpired)
	}
	sp.same("row after Next and Renew on a closed lease", sp.row(0), got)
	s.awaitEvent(&j, "released", 1)
}

// closeUnused gives back a window without an id in it.
func closeUnused(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 1})
	h := sp.acquire(sqlsnow.LeaseConfig{})
	floor := h.held().floor
	if got := h.close(); got.state != free || got.ceiling < floor || got.ceiling > sp.now()+sp.ticks(2*time.Second) {
		s.Errorf("after Close: got %+v, want it free, with a ceiling of at least %d and at most 2 s from now", got, floor)
	}
}

// closeBorrowed borrows ticks of the near future before it closes.
func closeBorrowed(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 1})
	var last snow.ID
	for range 5 {
		h := sp.acquire(sqlsnow.LeaseConfig{})
		ids := make([]snow.ID, 200_000) // 49 ticks of 4096
		if err := h.gen.Fill(s.Context(), ids); err != nil {
			s.Fatalf("Fill: %v", err)
		}
		if ids[0] <= last {
			s.Errorf("got %d, want more than %d, the last id of the former holder", ids[0], last)
		}
		last = ids[len(ids)-1]
		_, tick := sp.parts(last)
		if got := h.close(); got.ceiling <= tick {
			s.Errorf("after Close: got ceiling %d, want more than the last tick %d", got.ceiling, tick)
		}
	}
}

func nextHolderStartsAbove(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 1})
	var last snow.ID
	for range 20 {
		h := sp.acquire(sqlsnow.LeaseConfig{})
		if id := h.next(); id <= last {
			s.Fatalf("got %d, want more than %d, the last id of the former holder", id, last)
		}
		h.within()
		last = h.last
		h.close()
	}
}

// closeWithoutDatabase closes the handle under a lease.
func closeWithoutDatabase(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 1, Window: 8 * time.Second})
	h := sp.acquire(sqlsnow.LeaseConfig{})
	h.within()
	if err := h.db.Close(); err != nil {
		s.Fatal(err)
	}
	if err := h.Renew(s.Context()); err == nil {
		s.Errorf("Renew on a closed handle: got no error")
	}
	r := sp.row(0)
	h.next()
	if got := h.Stats(); got.Err == nil || got.Failures == 0 {
		s.Errorf("Stats: got %+v, want the error of the renewal", got)
	}
	var err error
	s.await("end of the window", func() bool {
		var id snow.ID
		if id, err = h.gen.Next(s.Context()); err != nil {
			return true
		}
		if _, tick := sp.parts(id); tick >= r.ceiling {
			s.Errorf("got an id in tick %d, want none from %d on", tick, r.ceiling)
		}
		return false
	})
	s.wantIs("Next at the end of the window", err, snow.ErrLeaseExpired)
	first := h.Close(s.Context())
	if first == nil {
		s.Errorf("Close without a database: got no error")
	}
	if second := h.Close(s.Context()); !errors.Is(second, first) {
		s.Errorf("second Close: got %v, want the first outcome %v", second, first)
	}
	s.ended("Done", h.Done())
	s.wantIs("Err", h.Err(), sqlsnow.ErrClosed)
	sp.same("row", sp.row(0), r)
}

// closeCancelled closes a lease with a context that has ended: the generator ends nevertheless.
func closeCancelled(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 1})
	h := sp.acquire(sqlsnow.LeaseConfig{})
	h.next()
	ended, cancel := context.WithCancel(s.Context())
	cancel()
	first := h.Close(ended)
	if r := sp.row(0); (r.state == granted) != (first != nil) || errors.Is(first, context.Canceled) {
		s.Errorf("Close: got %v, and the row is %+v", first, r)
	}
	if _, err := h.gen.Next(s.Context()); !errors.Is(err, snow.ErrLeaseExpired) {
		s.Errorf("Next after Close: got %v, want %v", err, snow.ErrLeaseExpired)
	}
	s.ended("Done", h.Done())
	s.wantIs("Err", h.Err(), sqlsnow.ErrClosed)
}

// outage stops the answers of the database for longer than the window, and then lets it answer again.
func outage(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 2, Window: 5 * time.Second})
	db := s.open()
	db.SetMaxOpenConns(1)
	h := sp.acquireOn(db, sqlsnow.LeaseConfig{})
	h.within()
	conn, err := db.Conn(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close()
	r := h.held()
	s.await("end of the window", func() bool {
		id, err := h.gen.Next(s.Context())
		if err == nil {
			if _, tick := sp.parts(id); tick >= h.held().ceiling {
				s.Errorf("got an id in tick %d, want none from %d on", tick, r.ceiling)
			}
			h.last = id
			return false
		}
		s.wantIs("Next at the end of the window", err, snow.ErrLeaseExpired)
		return true
	})
	select {
	case <-h.Done():
		s.Errorf("Done of a lease that may go on: got closed")
	default:
	}
	if err := conn.Close(); err != nil {
		s.Fatal(err)
	}
	h.await("renewal", func() bool { return h.Renew(s.Context()) == nil })
	h.await("id", func() bool {
		_, err := h.gen.Next(s.Context())
		return err == nil
	})
	h.within()
	if got := h.held(); h.Stats().Swaps == 0 && (got.owner != r.owner || got.floor != r.floor) {
		s.Errorf("got %+v after %+v, want the same lease to go on", got, r)
	}
}

// outageTooLong is the same, but another process takes the number meanwhile.
func outageTooLong(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 2, Window: 5 * time.Second})
	db := s.open()
	db.SetMaxOpenConns(1)
	h := sp.acquireOn(db, sqlsnow.LeaseConfig{})
	h.within()
	conn, err := db.Conn(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close()
	s.await("end of the window", func() bool {
		_, err := h.gen.Next(s.Context())
		return err != nil
	})
	var k *holder
	worker := h.worker()
	s.await("end of the grace", func() bool {
		k, err = sp.tryAcquire(s.Context(), s.db, sqlsnow.LeaseConfig{Worker: &worker})
		return err == nil
	})
	k.within()
	if err := conn.Close(); err != nil {
		s.Fatal(err)
	}
	h.await("renewal", func() bool { return h.Renew(s.Context()) == nil })
	h.swapped(1)
	h.await("id", func() bool {
		_, err := h.gen.Next(s.Context())
		return err == nil
	})
	h.within()
	k.within()
	if h.worker() == k.worker() {
		s.Errorf("two leases have number %d", k.worker())
	}
}

func fence(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 4})
	h := sp.acquire(sqlsnow.LeaseConfig{})
	h.next()
	pin := (h.worker() + 3) % 4
	pinned := sp.acquire(sqlsnow.LeaseConfig{Worker: &pin}) // for 30 s
	far := sp.now() + sp.ticks(24*time.Hour)
	sp.set((h.worker()+1)%4, "ceiling_tick = ?", far)
	sp.set((h.worker()+2)%4, "state = 3")
	before := sp.rows()
	earliest := sp.now()
	if err := sqlsnow.Fence(s.Context(), s.db, s.dialect, sp.ns.Name); err != nil {
		s.Fatalf("Fence: %v", err)
	}
	// the clocks of two databases and two processes
	latest, window := sp.now(), sp.ticks(10*time.Minute+4*30*time.Second)
	for i, r := range sp.rows() {
		was := before[i]
		if low, high := max(was.ceiling, earliest+window), max(was.ceiling, latest+window+sp.ticks(time.Minute)); r.ceiling < low || r.ceiling > high {
			s.Errorf("worker %d: got ceiling %d, want one in [%d, %d]", i, r.ceiling, low, high)
		}
		if r.state != was.state || r.owner != was.owner || r.floor != r.ceiling {
			s.Errorf("worker %d: got %+v after %+v, want its floor at the ceiling, and the rest as it was", i, r, was)
		}
	}
	fenced := h.held()
	h.next()
	h.renew()
	h.next()
	if got := h.held(); got.ceiling < fenced.ceiling {
		s.Errorf("renewal after Fence: got ceiling %d after %d", got.ceiling, fenced.ceiling)
	}
	if got := h.Stats(); got.Swaps != 0 || got.Err != nil {
		s.Errorf("Stats of a live lease after Fence: got %+v", got)
	}
	short := sp.row(pin)
	err := pinned.Renew(s.Context())
	if held := wantAs[*sqlsnow.HeldError](s, "Renew of a window of 30 s after Fence", err); held.Worker != pin || sp.tick(held.Until) < short.ceiling {
		s.Errorf("Renew of a window of 30 s after Fence: got %+v", held)
	}
	pinned.next() // to the end of its window
	sp.same("row of the window of 30 s", sp.row(pin), short)
	_, err = sp.tryAcquire(s.Context(), s.db, sqlsnow.LeaseConfig{})
	e := wantAs[*sqlsnow.NoWorkerError](s, "Acquire after Fence", err)
	if got := sp.tick(e.EarliestFree); got < earliest+window-sp.ticks(5*time.Second) || got > latest+window+sp.ticks(time.Minute+5*time.Second) {
		s.Errorf("got EarliestFree %v, want about a window from now", e.EarliestFree)
	}
	h.close()
}
