package sqlsnowtest

import (
	"log/slog"
	"testing"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// sessions runs a lease through its life on each of the caller's handles, and reads the rows with the suite's own
// handle.
func sessions(s *suite) {
	if len(s.database.Sessions) == 0 {
		s.Skip("the caller of Run has no handles with other settings")
	}
	sp := s.space(sqlsnow.Namespace{Workers: 8})
	for name, open := range s.database.Sessions {
		s.Run(name, func(t *testing.T) {
			sub := &space{&suite{t, s.dialect, s.database, s.db}, sp.ns}
			sub.ns.Name = name
			db := sub.opened(open)
			if err := sqlsnow.Migrate(t.Context(), db, s.dialect); err != nil {
				t.Fatalf("Migrate: %v", err)
			}
			if err := sqlsnow.Init(t.Context(), db, s.dialect, sub.ns); err != nil {
				t.Fatalf("Init: %v", err)
			}
			if err := sqlsnow.Init(t.Context(), db, s.dialect, sub.ns); err != nil {
				t.Fatalf("Init again: %v", err)
			}
			lifeOf(sub, func(cfg sqlsnow.LeaseConfig) *holder { return sub.acquireOn(db, cfg) })
			if err := sqlsnow.Fence(t.Context(), db, s.dialect, sub.ns.Name); err != nil {
				t.Errorf("Fence: %v", err)
			}
			got, err := sqlsnow.Workers(t.Context(), db, s.dialect, sub.ns.Name)
			if err != nil || len(got) != 8 {
				t.Fatalf("Workers: got %d and %v, want 8", len(got), err)
			}
			for i, r := range sub.rows() {
				if !got[i].Ceiling.Equal(sub.time(r.ceiling)) || r.ceiling < sub.now()+sub.ticks(9*time.Minute) {
					t.Errorf("after Fence: got %+v, want the ceiling of the row, 10 min from now: %+v", got[i], r)
				}
			}
		})
	}
}

// lifeOf runs a lease through its life: grant, renewals, loss, swap and release, and the next holder's grant.
func lifeOf(sp *space, acquire func(sqlsnow.LeaseConfig) *holder) {
	sp.Helper()
	var j journal
	earliest := sp.now()
	h := acquire(sqlsnow.LeaseConfig{Worker: nil, Logger: slog.New(&j), Holder: "Knoten äöü"})
	r := h.held()
	if latest := sp.now(); r.floor < earliest || r.floor > latest || r.holder != "Knoten äöü" {
		sp.Errorf("got %+v, want a floor in [%d, %d] and the holder's name", r, earliest, latest)
	}
	h.within()
	for range 5 { // some of them in the same millisecond: they change nothing but renew_seq
		h.renew()
	}
	if got := h.Stats(); got.Renewals < 5 || got.Failures != 0 || got.Swaps != 0 {
		sp.Errorf("Stats: got %+v, want 5 renewals", got)
	}
	h.within()
	given := sp.give(h.worker())
	h.lose(1, &j, sqlsnow.Displaced)
	sp.same("row of the other holder", sp.row(given.worker), given)
	worker := h.worker()
	h.close()
	next := acquire(sqlsnow.LeaseConfig{Worker: &worker})
	if next.next() <= h.last {
		sp.Errorf("got %d, want more than %d, the last id of the former holder", next.last, h.last)
	}
	next.within()
	next.close()
}
