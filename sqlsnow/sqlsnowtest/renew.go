package sqlsnowtest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// renew renews h's lease, which must be held still.
func (h *holder) renew() {
	h.Helper()
	if err := h.Renew(h.Context()); err != nil {
		h.Fatalf("Renew: %v", err)
	}
}

// lose renews h's lease, which must be lost for the given reason, and waits for its nth swap. The lease may take
// its former number again if that is free.
func (h *holder) lose(n uint64, j *journal, reason sqlsnow.Loss) {
	h.Helper()
	before := h.worker()
	h.next()
	if err := h.Renew(h.Context()); err != nil {
		e := wantAs[*sqlsnow.LostError](h.suite, "Renew", err)
		if e.Reason != reason || e.Worker != before {
			h.Errorf("Renew: got %+v, want worker %d and reason %v", e, before, reason)
		}
	}
	h.swapped(n)
	h.awaitLoss(j, n, reason)
	h.awaitEvent(j, "swapped", n)
	// The swap is at the start of a tick. Ids before it have the old number.
	h.await("id with the new number", func() bool {
		worker, _ := h.parts(h.next())
		return worker == h.worker()
	})
	h.within()
	h.renew()
	if err := h.Err(); err != nil {
		h.Errorf("Err of a lease that has swapped: got %v", err)
	}
}

func renewalRaises(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	var writes, all atomic.Int64
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		if isWork(statement) {
			all.Add(1)
		}
		if isWrite(statement) {
			writes.Add(1)
		}
		return send()
	})
	begun := sp.now()
	h := sp.acquireOn(db, sqlsnow.LeaseConfig{})
	// the lease's prediction of the database's clock is wrong by at most the time of a statement
	slow := sp.now() - begun
	before, stats := h.held(), h.Stats()
	all.Store(0)
	writes.Store(0)
	for range 10 {
		sp.await("tick", func() bool { return sp.now() > before.ceiling-sp.ticks(sp.ns.Window) })
		earliest := sp.now()
		h.renew()
		latest := sp.now()
		after, window := h.held(), sp.ticks(10*time.Minute)
		if after.ceiling < earliest+window || after.ceiling > latest+window+slow+1 {
			s.Errorf("renewal: got ceiling %d, want a window from now, in [%d, %d]", after.ceiling, earliest+window, latest+window+slow+1)
		}
		slow = max(slow, latest-earliest)
		if after.owner != before.owner || after.fence != before.fence || after.floor != before.floor || after.renewals <= before.renewals {
			s.Errorf("renewal: got %+v after %+v, want the same owner, fence and floor, and a larger renew_seq", after, before)
		}
		if got := sp.tick(h.Stats().Ceiling); got > after.ceiling || got < after.ceiling-sp.ticks(time.Second) {
			s.Errorf("Stats: got ceiling %d, want %d or a little less", got, after.ceiling)
		}
		before = after
	}
	// On a busy machine the lease has renewed by itself as well, and may do so now.
	if got := int64(h.Stats().Renewals - stats.Renewals); got < 10 {
		s.Errorf("Stats: got %d renewals, want 10", got)
	} else if a, w := all.Load(), writes.Load(); a < got || a > got+1 || w != a {
		s.Errorf("%d renewals: got %d statements, %d of them writes, want as many", got, a, w)
	}
	h.within()
}

func displaced(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	var j journal
	h := sp.acquire(sqlsnow.LeaseConfig{Logger: slog.New(&j)})
	h.within()
	given := sp.give(h.worker())
	h.lose(1, &j, sqlsnow.Displaced)
	sp.same("row of the other holder", sp.row(given.worker), given)
	given = sp.give(h.worker())
	h.lose(2, &j, sqlsnow.Displaced)
	h.close()
	sp.same("row of the other holder", sp.row(given.worker), given)
}

// sameFence gives the row to another owner with the same fence: after a failover, fences may repeat.
func sameFence(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	var j journal
	h := sp.acquire(sqlsnow.LeaseConfig{Logger: slog.New(&j)})
	worker := h.worker()
	sp.set(worker, "owner = ?, holder = ?, renew_seq = renew_seq + 1", owner(), other)
	given := sp.row(worker)
	h.lose(1, &j, sqlsnow.Regressed)
	sp.same("row of the other holder", sp.row(worker), given)

	k := sp.acquire(sqlsnow.LeaseConfig{})
	worker = k.worker()
	sp.set(worker, "owner = ?, holder = ?, renew_seq = renew_seq + 1", owner(), other)
	given = sp.row(worker)
	_ = k.Close(s.Context()) // the contract does not say whether this is an error; the row counts
	sp.same("row of the other holder", sp.row(worker), given)
}

func regressed(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	var j journal
	h := sp.acquire(sqlsnow.LeaseConfig{Logger: slog.New(&j)})
	h.within()
	former, acked := h.held(), sp.tick(h.Stats().Ceiling)
	sp.set(former.worker, "ceiling_tick = ?, renew_seq = renew_seq - 1", former.ceiling-sp.ticks(time.Minute))
	h.lose(1, &j, sqlsnow.Regressed)
	// The database forgot the window of the former number's ids. The lease must set its ceiling again.
	sp.await("ceiling that is as it was", func() bool { return sp.row(former.worker).ceiling >= acked })
	if got := sp.row(former.worker); got.ceiling > former.ceiling {
		s.Errorf("re-asserted row: got ceiling %d, want at most %d", got.ceiling, former.ceiling)
	}
}

// lateReassertion changes the row between the read that finds the ceiling too low and the statement that sets it.
func lateReassertion(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 8})
	for what, change := range map[string]func(worker uint64){
		"raised":    func(worker uint64) { sp.set(worker, "ceiling_tick = ceiling_tick + ?", sp.ticks(time.Hour)) },
		"displaced": func(worker uint64) { sp.give(worker) },
	} {
		var writes atomic.Int64
		var worker uint64
		var before row
		db := s.wire(func(_ context.Context, statement string, send func() error) error {
			if isWrite(statement) && writes.Add(1) == 3 { // after the writes of Acquire and of the renewal
				change(worker)
				before = sp.row(worker)
			}
			return send()
		})
		h := sp.acquireOn(db, sqlsnow.LeaseConfig{})
		h.next()
		worker = h.worker()
		sp.set(worker, "ceiling_tick = ceiling_tick - ?", sp.ticks(9*time.Minute))
		if err := h.Renew(s.Context()); err != nil {
			_ = wantAs[*sqlsnow.LostError](s, what+": Renew", err)
		}
		h.swapped(1)
		if got := sp.row(worker); writes.Load() < 3 || got.ceiling != before.ceiling || got.owner != before.owner || got.fence != before.fence {
			s.Errorf("%s: got %+v after %+v, want the same owner, fence and ceiling", what, got, before)
		} else if what == "displaced" {
			sp.same("row of the other holder", got, before)
		}
		h.within()
	}
}

// forgotten sets the row back to its state before the lease, as a restore from a backup does, or to another state.
func forgotten(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	var j journal
	h := sp.acquire(sqlsnow.LeaseConfig{Logger: slog.New(&j)})
	h.within()
	sp.set(h.worker(), "state = 0, owner = NULL, fence = fence - 1, ceiling_tick = ?", sp.now()-sp.ticks(time.Hour))
	h.lose(1, &j, sqlsnow.Regressed)
	worker := h.worker()
	sp.set(worker, "state = 3")
	before := sp.row(worker)
	h.lose(2, &j, sqlsnow.Regressed)
	sp.same("reserved row", sp.row(worker), before)
}

func vanished(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	var j journal
	h := sp.acquire(sqlsnow.LeaseConfig{Logger: slog.New(&j)})
	h.within()
	s.exec("DELETE FROM snow_workers WHERE namespace = ? AND worker_id = ?", sp.ns.Name, h.worker())
	h.lose(1, &j, sqlsnow.Vanished)
	// Others go on without it, and with the number that is gone.
	sp.acquire(sqlsnow.LeaseConfig{}).within()
}

// lostAndNoneFree tests a lease that lost its number and finds no other one.
func lostAndNoneFree(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 1, Window: 8 * time.Second})
	h := sp.acquire(sqlsnow.LeaseConfig{})
	h.next()
	given := sp.give(0)
	if err := h.Renew(s.Context()); err == nil {
		s.Errorf("Renew: got nil, want an error: the number is lost and no other one is free")
	}
	var err error
	s.await("end of the window", func() bool {
		var id snow.ID
		if id, err = h.gen.Next(s.Context()); err != nil {
			return true
		}
		if worker, tick := sp.parts(id); worker != 0 || tick >= given.floor {
			s.Errorf("got an id in tick %d, want none from %d on: that is another's", tick, given.floor)
		}
		return false
	})
	s.wantIs("Next at the end of the window", err, snow.ErrLeaseExpired)
	if err := h.Err(); err != nil {
		s.Errorf("Err of a lease that may still find a number: got %v", err)
	}
	sp.age(0, time.Hour)
	h.await("renewal", func() bool { return h.Renew(s.Context()) == nil })
	h.await("id", func() bool {
		_, err := h.gen.Next(s.Context())
		return err == nil
	})
	h.within()
}

// unknownRenewal loses the answer to a renewal that the database has executed.
func unknownRenewal(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	lost := errors.New("the answer is lost")
	var cut atomic.Bool
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		err := send()
		if isWork(statement) && cut.Load() {
			return lost
		}
		return err
	})
	h := sp.acquireOn(db, sqlsnow.LeaseConfig{})
	before := h.held()
	sp.await("tick", func() bool { return sp.now() > before.ceiling-sp.ticks(sp.ns.Window) })
	cut.Store(true) // first, because the lease may renew by itself
	stats := h.Stats()
	err := h.Renew(s.Context())
	s.wantIs("Renew", err, lost)
	_ = wantAs[*sqlsnow.DatabaseError](s, "Renew", err)
	got := h.Stats()
	if !got.Ceiling.Equal(stats.Ceiling) {
		s.Errorf("unknown renewal: got ceiling %v, want %v as before", got.Ceiling, stats.Ceiling)
	}
	if got.Failures <= stats.Failures || got.Renewals != stats.Renewals {
		s.Errorf("unknown renewal: got %+v after %+v, want a failure more and no renewal", got, stats)
	}
	s.wantIs("Stats().Err", got.Err, lost)
	h.within()
	cut.Store(false)
	h.renew()
	if got := h.Stats(); !got.Ceiling.After(stats.Ceiling) || got.Err != nil {
		s.Errorf("next renewal: got %+v, want a higher ceiling than %v and no error", got, stats.Ceiling)
	}
	if got := h.Stats(); got.Swaps != 0 || h.held().owner != before.owner {
		s.Errorf("got %+v, want the same lease", got)
	}
}

// A detour delays a statement on its way to the database.
type detour struct {
	on      atomic.Bool
	arrived chan struct{}   // closed when the statement is on its way
	release chan struct{}   // closed to let it go on
	over    <-chan struct{} // closed when the test ends
	once    sync.Once
}

func (s *suite) detour() *detour {
	return &detour{arrived: make(chan struct{}), release: make(chan struct{}), over: s.Context().Done()}
}

// intercept delays the first write after the detour is on. The others pass.
func (d *detour) intercept(_ context.Context, statement string, send func() error) error {
	if d.on.Load() && isWrite(statement) {
		d.once.Do(func() {
			close(d.arrived)
			select {
			case <-d.release:
			case <-d.over:
			}
		})
	}
	return send()
}

// lateRenewal lets a renewal arrive when the number has another holder.
func lateRenewal(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	d := s.detour()
	h := sp.acquireOn(s.wire(d.intercept), sqlsnow.LeaseConfig{})
	worker := h.worker()
	d.on.Store(true)
	renewed := make(chan error, 1)
	go func() { renewed <- h.Renew(s.Context()) }()
	s.ended("renewal", d.arrived)
	given := sp.give(worker)
	close(d.release)
	if err := <-renewed; err != nil {
		e := wantAs[*sqlsnow.LostError](s, "Renew", err)
		if e.Reason != sqlsnow.Displaced || e.Holder != other {
			s.Errorf("Renew: got %+v, want reason %v and holder %q", e, sqlsnow.Displaced, other)
		}
	}
	sp.same("row of the other holder", sp.row(worker), given)
	h.swapped(1)
	h.within()
	sp.same("row of the other holder", sp.row(worker), given)
}

// lateClose lets a release arrive when the number has another holder.
func lateClose(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	d := s.detour()
	h := sp.acquireOn(s.wire(d.intercept), sqlsnow.LeaseConfig{})
	worker := h.worker()
	h.next()
	d.on.Store(true)
	closed := make(chan error, 1)
	go func() { closed <- h.Close(s.Context()) }()
	s.ended("release", d.arrived)
	if _, err := h.gen.Next(s.Context()); !errors.Is(err, snow.ErrLeaseExpired) {
		s.Errorf("Next while the release is on its way: got %v, want %v", err, snow.ErrLeaseExpired)
	}
	given := sp.give(worker)
	close(d.release)
	s.Logf("Close: %v", <-closed) // the contract does not say whether this is an error; the row counts
	sp.same("row of the other holder", sp.row(worker), given)
}

// closeDuringRenewal lets a renewal and a Close meet.
func closeDuringRenewal(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	d := s.detour()
	h := sp.acquireOn(s.wire(d.intercept), sqlsnow.LeaseConfig{})
	worker, last := h.worker(), h.next()
	d.on.Store(true)
	renewed, closed := make(chan error, 1), make(chan error, 1)
	go func() { renewed <- h.Renew(s.Context()) }()
	s.ended("renewal", d.arrived)
	go func() { closed <- h.Close(s.Context()) }()
	s.await("end of the generator", func() bool {
		id, err := h.gen.Next(s.Context())
		last = max(last, id)
		return err != nil
	})
	close(d.release)
	s.Logf("Renew: %v", <-renewed)
	if err := <-closed; err != nil {
		s.Errorf("Close: got %v", err)
	}
	_, tick := sp.parts(last)
	if got := sp.row(worker); got.state != free || got.owner != "" || got.ceiling <= tick || got.ceiling > sp.now()+sp.ticks(2*time.Second) {
		s.Errorf("got %+v, want a free row with a ceiling after tick %d, at most 2 s from now", got, tick)
	}
}
