package sqlsnowtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

func windowsBegin(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 1, Window: 5 * time.Minute})
	window := sp.ticks(sp.ns.Window)
	for _, ahead := range []time.Duration{-time.Hour, -time.Millisecond, time.Second} {
		former := sp.now() + sp.ticks(ahead)
		sp.set(0, "state = 0, owner = NULL, floor_tick = 0, ceiling_tick = ?", former)
		before := sp.row(0)
		earliest := sp.now()
		h := sp.acquire(sqlsnow.LeaseConfig{})
		got, latest := sp.row(0), sp.now()
		if got.floor < max(former, earliest) || got.floor > max(former, latest) {
			s.Errorf("former ceiling %v from now: got floor %d, want one in [%d, %d]", ahead, got.floor, max(former, earliest), max(former, latest))
		}
		if got.ceiling != got.floor+window {
			s.Errorf("got ceiling %d, want %d ticks after the floor %d", got.ceiling, window, got.floor)
		}
		if got.fence <= before.fence || got.renewals <= before.renewals || len(got.owner) != 32 || got.state != granted {
			s.Errorf("got row %+v after %+v, want a larger fence and renew_seq, an owner and state %d", got, before, granted)
		}
		h.within()
		h.close()
	}
}

func onlyEligible(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 6})
	grace := int64(sp.constant("grace_ms")) / int64(sp.ns.Layout.Tick())
	claim := sp.constant("claim_ms")
	now := sp.now()
	soon := sp.ticks(30 * time.Second)
	sp.set(0, "state = 2, owner = ?, ceiling_tick = ?", owner(), now+soon)
	sp.set(1, "state = 2, owner = ?, ceiling_tick = ?", owner(), now-grace+soon)
	sp.set(2, "state = 0, ceiling_tick = ?", now+soon)
	sp.set(3, "state = 1, owner = ?, claimed_at_ms = ?", owner(), sp.time(now).UnixMilli()-claim.Milliseconds()+soon)
	sp.set(4, "state = 3")
	before := sp.rows()
	h := sp.acquire(sqlsnow.LeaseConfig{})
	if got := h.worker(); got != 5 {
		s.Errorf("got worker %d, want 5, the only free one", got)
	}
	if _, err := sp.tryAcquire(s.Context(), s.db, sqlsnow.LeaseConfig{}); err == nil {
		s.Errorf("Acquire: got a number where none is free")
	}
	sp.same("rows that are not free", sp.rows()[:5], before[:5])
	// When their time is over they are free, except the reserved one.
	for worker := range uint64(4) {
		sp.age(worker, time.Hour+claim)
	}
	taken := map[uint64]bool{}
	for range 4 {
		taken[sp.acquire(sqlsnow.LeaseConfig{}).worker()] = true
	}
	if len(taken) != 4 || taken[4] {
		s.Errorf("got workers %v, want 0 to 3", taken)
	}
	_, err := sp.tryAcquire(s.Context(), s.db, sqlsnow.LeaseConfig{})
	_ = wantAs[*sqlsnow.NoWorkerError](s, "Acquire", err)
	pinned, cancel := context.WithTimeout(s.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := sp.tryAcquire(pinned, s.db, sqlsnow.LeaseConfig{Worker: pointer(uint64(4))}); err == nil {
		s.Errorf("Acquire of a reserved number: got no error")
	}
}

func noneFree(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 6})
	for range 2 {
		sp.acquire(sqlsnow.LeaseConfig{}).next()
	}
	now := sp.now()
	first := now + sp.ticks(90*time.Second)
	var cooling int64
	for _, r := range sp.rows() {
		if r.state == free {
			// Released numbers that were fenced cool down like numbers whose holder is gone.
			sp.set(r.worker, "ceiling_tick = ?", first+cooling*sp.ticks(time.Minute))
			cooling++
		}
	}
	_, err := sp.tryAcquire(s.Context(), s.db, sqlsnow.LeaseConfig{})
	e := wantAs[*sqlsnow.NoWorkerError](s, "Acquire", err)
	if e.Live != 2 || e.Cooling != 4 {
		s.Errorf("got %d live and %d cooling, want 2 and 4", e.Live, e.Cooling)
	}
	if early, late := sp.time(first-sp.ticks(5*time.Second)), sp.time(first+sp.ticks(5*time.Second)); e.EarliestFree.Before(early) || e.EarliestFree.After(late) {
		s.Errorf("got EarliestFree %v, want about %v", e.EarliestFree, sp.time(first))
	}
}

func badConfigs(s *suite) {
	sp := s.space(sqlsnow.Namespace{Layout: snow.Twitter(), Workers: 4})
	before := sp.rows()
	for what, cfg := range map[string]sqlsnow.LeaseConfig{
		"a datacenter that the layout can't hold": {Datacenter: 32},
		"a worker that the layout can't hold":     {Worker: pointer(uint64(32))},
		"a worker that the namespace lacks":       {Worker: pointer(uint64(4))},
		"the largest worker":                      {Worker: pointer(^uint64(0))},
		"a negative skew":                         {MaxSkew: -1},
	} {
		_, err := sp.tryAcquire(s.Context(), s.db, cfg)
		_ = wantAs[*snow.FieldError](s, "Acquire with "+what, err)
	}
	_, err := sqlsnow.Acquire(s.Context(), s.db, 0, sqlsnow.LeaseConfig{Namespace: sp.ns.Name})
	_ = wantAs[*snow.FieldError](s, "Acquire with an unknown dialect", err)
	_, err = sqlsnow.Acquire(s.Context(), s.db, s.dialect, sqlsnow.LeaseConfig{})
	if err == nil {
		s.Errorf("Acquire without a namespace: got no error")
	}
	sp.same("rows", sp.rows(), before)
}

func idsCarryNumbers(s *suite) {
	sp := s.space(sqlsnow.Namespace{Layout: snow.Twitter(), Workers: 32})
	for _, worker := range []uint64{0, 31} {
		h := sp.acquire(sqlsnow.LeaseConfig{Datacenter: 31 - worker, Worker: &worker})
		h.within()
		p, err := sp.ns.Layout.Decompose(h.next())
		if err != nil || p.Worker != worker || p.Datacenter != 31-worker {
			s.Errorf("got %+v and %v, want worker %d and datacenter %d", p, err, worker, 31-worker)
		}
		stats, r := h.Stats(), h.held()
		if stats.Worker != worker || stats.Datacenter != 31-worker || stats.Fence != r.fence || stats.Renewed.IsZero() || stats.Err != nil {
			s.Errorf("got %+v, want worker %d, datacenter %d, fence %d and no error", stats, worker, 31-worker, r.fence)
		}
		if got := sp.tick(stats.Ceiling); got > r.ceiling || got < r.ceiling-sp.ticks(time.Second) {
			s.Errorf("Stats: got ceiling %d, want %d or a little less", got, r.ceiling)
		}
	}
}

func manyAtOnce(s *suite) {
	const numbers, processes, each = 128, 5, 20
	sp := s.space(sqlsnow.Namespace{Workers: numbers})
	start := make(chan struct{})
	holders := make([]*holder, processes*each)
	errs := make([]error, processes*each)
	var all sync.WaitGroup
	for i := range processes {
		db := s.open()
		for j := i * each; j < (i+1)*each; j++ {
			all.Go(func() {
				<-start
				holders[j], errs[j] = sp.tryAcquire(s.Context(), db, sqlsnow.LeaseConfig{})
			})
		}
	}
	close(start)
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		s.Fatalf("Acquire: %v", err)
	}
	numbersOf := map[uint64]bool{}
	ids := map[snow.ID]bool{}
	for _, h := range holders {
		numbersOf[h.worker()] = true
		for range 10 {
			ids[h.next()] = true
		}
	}
	if len(numbersOf) != len(holders) || len(ids) != 10*len(holders) {
		s.Errorf("got %d numbers and %d ids, want %d and %d", len(numbersOf), len(ids), len(holders), 10*len(holders))
	}
}

func cancelledAcquire(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 2})
	ended, cancel := context.WithCancel(s.Context())
	cancel()
	_, err := sp.tryAcquire(ended, s.open(), sqlsnow.LeaseConfig{})
	s.wantIs("Acquire with a context that has ended", err, context.Canceled)
	// The context ends before each statement in turn, and after it, until Acquire needs no more statements.
	for cut := int64(1); ; cut++ {
		for _, sent := range []bool{false, true} {
			ctx, cancel := context.WithCancel(s.Context())
			var n atomic.Int64
			db := s.wire(func(_ context.Context, statement string, send func() error) error {
				if !isWork(statement) || n.Add(1) != cut {
					return send()
				}
				if sent {
					_ = send()
				}
				cancel()
				return ctx.Err()
			})
			h, err := sp.tryAcquire(ctx, db, sqlsnow.LeaseConfig{})
			cancel()
			if err == nil {
				if n.Load() >= cut {
					s.Errorf("cut at statement %d, sent %v: got a lease, want an error", cut, sent)
				}
				h.within()
				h.close()
				return
			}
			s.wantIs("Acquire whose context ends", err, context.Canceled)
			s.await("end of what the cut acquire holds", func() bool {
				for _, r := range sp.rows() {
					if r.state == granted {
						return false
					}
					if r.state == claimed {
						sp.age(r.worker, time.Hour)
					}
				}
				return true
			})
		}
	}
}

func unknownAcquire(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 8})
	lost := errors.New("the answer is lost")
	var writes atomic.Int64
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		err := send()
		if isWrite(statement) && writes.Add(1) == 1 {
			return lost
		}
		return err
	})
	h, err := sp.tryAcquire(s.Context(), db, sqlsnow.LeaseConfig{})
	if err != nil {
		s.wantIs("Acquire", err, lost)
		return
	}
	h.within()
	h.close()
}

// stale acquires the only number of sp. change changes its row between the statement that finds it free and the one
// that takes it.
func stale(sp *space, change func()) (*holder, error) {
	sp.Helper()
	var once sync.Once
	db := sp.wire(func(_ context.Context, statement string, send func() error) error {
		if isWrite(statement) {
			once.Do(change)
		}
		return send()
	})
	return sp.tryAcquire(sp.Context(), db, sqlsnow.LeaseConfig{})
}

func staleAcquire(s *suite) {
	for name, ns := range map[string]sqlsnow.Namespace{
		"at-once": {Name: "at-once", Workers: 1},
		"claimed": {Name: "claimed", Workers: 1, LossWindow: time.Millisecond},
	} {
		sp := s.space(ns)
		for what, change := range map[string]func(){
			"fence":   func() { sp.set(0, "fence = fence + 2") },
			"ceiling": func() { sp.set(0, "ceiling_tick = ?", sp.now()+sp.ticks(1500*time.Millisecond)) },
			"both":    func() { sp.set(0, "fence = fence + 2, ceiling_tick = ceiling_tick + 1") },
		} {
			h, err := stale(sp, change)
			if err != nil {
				_ = wantAs[*sqlsnow.NoWorkerError](s, name+": Acquire after another "+what, err)
				continue
			}
			if got, r := h.Stats(), h.held(); got.Fence != r.fence || sp.tick(got.Ceiling) > r.ceiling {
				s.Errorf("%s: another %s: got %+v, want what the row has: %+v", name, what, got, r)
			}
			h.within()
			if err := h.Renew(s.Context()); err != nil || h.Stats().Swaps != 0 {
				s.Errorf("%s: another %s: Renew: got %v and %+v", name, what, err, h.Stats())
			}
			h.close()
		}
		var before row
		_, err := stale(sp, func() {
			sp.set(0, "state = 3")
			before = sp.row(0)
		})
		_ = wantAs[*sqlsnow.NoWorkerError](s, name+": Acquire of a number that was reserved meanwhile", err)
		sp.same(name+": reserved row", sp.row(0), before)
	}
}

// raceForOne lets several processes race for the only number, again and again. Only one holds it at a time.
func raceForOne(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 1})
	for range 10 {
		const acquirers = 4
		start := make(chan struct{})
		type outcome struct {
			h   *holder
			err error
		}
		outcomes := make(chan outcome, acquirers)
		for range acquirers {
			db := s.open()
			go func() {
				<-start
				h, err := sp.tryAcquire(s.Context(), db, sqlsnow.LeaseConfig{})
				outcomes <- outcome{h, err}
			}()
		}
		close(start)
		var winner *holder
		for range acquirers {
			o := <-outcomes
			switch {
			case o.err != nil:
				_ = wantAs[*sqlsnow.NoWorkerError](s, "Acquire", o.err)
			case winner != nil:
				s.Fatalf("two holders of one number")
			default:
				winner = o.h
			}
		}
		if winner == nil {
			s.Fatalf("nobody got the number")
		}
		winner.within()
		winner.close()
	}
}

func holderNames(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 8})
	for _, name := range []string{"", "pod-7", "Knoten 7: äöü ☃ 🐢", "quote ' back \\ percent %", strings.Repeat("x", 300), strings.Repeat("ü", 300), "a\xff\xfeb", "nul\x00l"} {
		h := sp.acquire(sqlsnow.LeaseConfig{Holder: name})
		got := h.held().holder
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 255 {
			s.Errorf("holder %q: got %q, want valid UTF-8 of at most 255 characters", name, got)
		}
		switch {
		case name == "":
			if got == "" {
				s.Errorf("no holder: got none, want a default")
			}
		case utf8.ValidString(name) && len(name) < 100 && !strings.ContainsRune(name, 0):
			if got != name {
				s.Errorf("got holder %q, want %q", got, name)
			}
		case !strings.HasPrefix(got, name[:1]):
			s.Errorf("holder %q: got %q, want its beginning", name, got)
		}
	}
}

func workersShow(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 4})
	now := sp.now()
	h := sp.acquire(sqlsnow.LeaseConfig{Worker: pointer(uint64(1)), Holder: "pod-1"})
	sp.set(2, "state = 3, holder = 'lane'")
	sp.set(3, "state = 1, owner = ?, holder = 'pod-3', fence = 7, claimed_at_ms = ?", owner(), sp.time(now).UnixMilli())
	var got []sqlsnow.WorkerInfo
	var err error
	rows := sp.steady(func() { got, err = sqlsnow.Workers(s.Context(), s.db, s.dialect, sp.ns.Name) })
	if err != nil || len(got) != 4 {
		s.Fatalf("Workers: got %+v and %v, want 4 rows", got, err)
	}
	for i, state := range []sqlsnow.WorkerState{sqlsnow.Free, sqlsnow.Granted, sqlsnow.Reserved, sqlsnow.Claimed} {
		g, r := got[i], rows[i]
		if g.Worker != uint64(i) || g.State != state || g.Holder != r.holder || g.Fence != r.fence {
			s.Errorf("got %+v, want worker %d, state %v and what the row has: %+v", g, i, state, r)
		}
		if r.state == granted && (!g.Floor.Equal(sp.time(r.floor)) || !g.Ceiling.Equal(sp.time(r.ceiling)) || g.Renewed.UnixMilli() != r.renewedAt) {
			s.Errorf("got %+v, want the times of the row: %+v", g, r)
		}
		if r.state == claimed && g.Claimed.UnixMilli() != r.claimedAt {
			s.Errorf("got %+v, want the time of the claim: %d ms", g, r.claimedAt)
		}
	}
	h.close()
	if got, err = sqlsnow.Workers(s.Context(), s.db, s.dialect, sp.ns.Name); err != nil || got[1].State != sqlsnow.Free {
		s.Errorf("Workers after Close: got %+v and %v, want worker 1 free", got, err)
	}
}
