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

// seize gives a worker's row to another holder and returns it. The new window begins before the end of the former
// one, by ago, as if the database had forgotten a part of the former window.
func (s *space) seize(worker uint64, ago time.Duration) row {
	s.Helper()
	s.set(worker, "ceiling_tick = ceiling_tick - ?", s.ticks(ago))
	return s.give(worker)
}

// stopped checks that h makes no ids.
func (h *holder) stopped(when string) {
	h.Helper()
	if id, err := h.gen.Next(h.Context()); !errors.Is(err, snow.ErrLeaseExpired) {
		h.Errorf("Next %s: got %d and %v, want %v", when, id, err, snow.ErrLeaseExpired)
	}
}

// seizedBeforeReassertion lets another process take the row between the read that finds the ceiling too low and the
// statement that would set it.
func seizedBeforeReassertion(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 1})
	var writes atomic.Int64
	var h *holder
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		if isWrite(statement) && writes.Add(1) == 3 { // after the writes of Acquire and of the renewal
			h.stopped("before the ceiling is set again")
			sp.seize(0, 0)
		}
		return send()
	})
	h = sp.acquireOn(db, sqlsnow.LeaseConfig{})
	h.next()
	sp.set(0, "ceiling_tick = ceiling_tick - ?", sp.ticks(9*time.Minute))
	e := wantAs[*sqlsnow.NoWorkerError](s, "Renew", h.renewed())
	if e.Live != 1 || writes.Load() < 3 {
		s.Errorf("got %+v after %d writes, want one live number after at least 3", e, writes.Load())
	}
	h.stopped("after another process has taken the number")
}

// renewed renews until the result is not a loss.
func (h *holder) renewed() (err error) {
	h.Helper()
	h.await("renewal without a loss", func() bool {
		err = h.Renew(h.Context())
		return !errors.As(err, new(*sqlsnow.LostError))
	})
	return err
}

// reassertedAndNoneFree tests a lease whose ceiling went back and that finds no other number. It keeps its own number.
func reassertedAndNoneFree(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 1})
	h := sp.acquire(sqlsnow.LeaseConfig{})
	h.next()
	before := h.held()
	sp.set(0, "ceiling_tick = ceiling_tick - ?", sp.ticks(9*time.Minute))
	_ = wantAs[*sqlsnow.NoWorkerError](s, "Renew", h.renewed())
	h.within()
	if got := h.held(); got.ceiling != before.ceiling || got.owner != before.owner {
		s.Errorf("got %+v after %+v, want the same owner and ceiling", got, before)
	}
}

// lossSeized gives numbers to other holders before their windows end. A failover within the LossWindow never does that.
func lossSeized(s *suite) {
	sp := s.lossy()
	changes := map[string]func(worker uint64){
		"granted": func(worker uint64) { sp.seize(worker, 15*time.Second) },
		"claimed": func(worker uint64) {
			sp.set(worker, "state = 1, owner = ?, fence = fence + 1, claimed_at_ms = ?, ceiling_tick = ceiling_tick - ?",
				owner(), sp.time(sp.now()).UnixMilli(), sp.ticks(time.Minute))
		},
		"forgotten": func(worker uint64) {
			// nobody may take it
			sp.set(worker, "state = 0, owner = NULL, fence = fence - 1, ceiling_tick = ceiling_tick + ?", sp.ticks(time.Hour))
		},
	}
	acquired := make(chan *holder)
	for range changes {
		go func() {
			h, err := sp.tryAcquire(s.Context(), s.open(), sqlsnow.LeaseConfig{})
			if err != nil {
				s.Errorf("Acquire: %v", err)
			}
			acquired <- h
		}()
	}
	holders := map[string]*holder{}
	for what := range changes {
		if h := <-acquired; h != nil {
			holders[what] = h
			h.within()
		}
	}
	// there is no other number
	sp.exec("UPDATE snow_workers SET state = 3 WHERE namespace = ? AND state = 0", sp.ns.Name)
	for what, h := range holders {
		worker := h.worker()
		changes[what](worker)
		given := sp.row(worker)
		s.await("end of the lease's trust in its number", func() bool { return h.Renew(s.Context()) != nil })
		h.stopped(what)
		_ = h.renewed()
		h.stopped(what)
		sp.same("row of the other holder", sp.row(worker), given)
	}
}

// closeLost closes leases whose numbers are not theirs any more.
func closeLost(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 8})
	for reason, change := range map[sqlsnow.Loss]func(worker uint64){
		sqlsnow.Displaced: func(worker uint64) { sp.give(worker) },
		sqlsnow.Regressed: func(worker uint64) { sp.seize(worker, 9*time.Minute) },
		sqlsnow.Vanished: func(worker uint64) {
			s.exec("DELETE FROM snow_workers WHERE namespace = ? AND worker_id = ?", sp.ns.Name, worker)
		},
	} {
		var j journal
		h := sp.acquire(sqlsnow.LeaseConfig{Logger: slog.New(&j)})
		h.next()
		worker := h.worker()
		change(worker)
		before := sp.rows()
		err := h.Close(s.Context())
		e := wantAs[*sqlsnow.LostError](s, "Close", err)
		if e.Reason != reason || e.Worker != worker || (e.Holder == other) != (reason != sqlsnow.Vanished) {
			s.Errorf("Close: got %+v, want worker %d and reason %v", e, worker, reason)
		}
		if again := h.Close(s.Context()); !errors.Is(again, err) {
			s.Errorf("second Close: got %v, want the first outcome %v", again, err)
		}
		if _, found := j.find("released", 1); found {
			s.Errorf("%v: the log has a release", reason)
		}
		s.awaitLoss(&j, 1, reason)
		s.wantIs("Err", h.Err(), sqlsnow.ErrClosed)
		sp.same("rows", sp.rows(), before)
	}
}

// closeTwice loses the answer to a release that the database has executed: the next release changes nothing, and
// that is no loss.
func closeTwice(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 2})
	for _, taken := range []bool{false, true} {
		var on atomic.Bool
		var worker uint64
		db := s.wire(func(_ context.Context, statement string, send func() error) error {
			err := send()
			if isWrite(statement) && on.CompareAndSwap(true, false) {
				if taken {
					sp.give(worker)
				}
				return errors.New("the answer is lost")
			}
			return err
		})
		h := sp.acquireOn(db, sqlsnow.LeaseConfig{})
		h.next()
		worker = h.worker()
		on.Store(true)
		got := h.close()
		if (got.state == free) == taken {
			s.Errorf("taken %t: got %+v", taken, got)
		}
	}
}
