package sqlsnowtest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

func (s *space) reserve(db *sql.DB, holder string) (uint64, error) {
	r, err := sqlsnow.Reserve(s.Context(), db, s.dialect, s.ns.Name, holder)
	if err == nil && r.Layout != s.ns.Layout {
		s.Errorf("Reserve: got layout %v, want %v", r.Layout, s.ns.Layout)
	}
	return r.Worker, err
}

func reserveUnused(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 6})
	h := sp.acquire(sqlsnow.LeaseConfig{Worker: pointer(uint64(5))})
	sp.set(4, "ceiling_tick = 1") // fenced
	sp.set(3, "state = 1, owner = ?, fence = 1", owner())
	h.close() // its number has made ids
	for i, holder := range []string{"s1", "s2", "s1", "s2"} {
		worker, err := sp.reserve(s.db, holder)
		if want := uint64(2 - i%2); err != nil || worker != want {
			s.Errorf("Reserve for %s: got %d and %v, want %d", holder, worker, err, want)
		}
		if r := sp.row(worker); r.state != reserved || r.holder != holder || r.fence != 1 || r.owner == "" {
			s.Errorf("the row of %s: %+v", holder, r)
		}
	}
	if worker, err := sp.reserve(s.db, "s3"); err != nil || worker != 0 {
		s.Errorf("Reserve for s3: got %d and %v, want the last one, 0", worker, err)
	}
	before := sp.rows()
	_, err := sp.reserve(s.db, "s4")
	if none := wantAs[*sqlsnow.NoWorkerError](s, "Reserve with no number left", err); !none.EarliestFree.IsZero() || none.Live+none.Cooling != 3 {
		s.Errorf("Reserve with no number left: got %+v, want 3 numbers that are not reserved, and no time", none)
	}
	sp.same("rows", sp.rows(), before)
	for range 3 { // none of them is leased
		if h, err := sp.tryAcquire(s.Context(), s.db, sqlsnow.LeaseConfig{}); err == nil && h.worker() < 3 {
			s.Errorf("worker %d is leased", h.worker())
		}
	}
	before = sp.rows()
	for _, holder := range []string{"", strings.Repeat("a", 256), "s1 ", "s1\x00", "s1\xff"} {
		_, err := sp.reserve(s.db, holder)
		_ = wantAs[*snow.FieldError](s, fmt.Sprintf("Reserve for %q", holder), err)
	}
	sp.unchanged("rows", before)
	// Fence moves the windows of all numbers. Reserved numbers stay reserved.
	if err := sqlsnow.Fence(s.Context(), s.db, s.dialect, sp.ns.Name); err != nil {
		s.Fatal(err)
	}
	if worker, err := sp.reserve(s.db, "s1"); err != nil || worker != 2 {
		s.Errorf("Reserve for s1 after Fence: got %d and %v, want 2", worker, err)
	}
	for worker := range uint64(6) {
		sp.set(worker, "state = 3, owner = ?", owner())
	}
	_, err = sp.tryAcquire(s.Context(), s.db, sqlsnow.LeaseConfig{})
	if none := wantAs[*sqlsnow.NoWorkerError](s, "Acquire with all numbers reserved", err); *none != (sqlsnow.NoWorkerError{}) {
		s.Errorf("Acquire with all numbers reserved: got %+v, want one without numbers and time", none)
	}
}

// reclaims puts the rows into states that a restored lease database can have.
func reclaims(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 6})
	reclaim := func(worker uint64, holder string) (uint64, error) {
		r, err := sqlsnow.Reclaim(s.Context(), s.db, s.dialect, sp.ns.Name, holder, worker)
		return r.Worker, err
	}
	h := sp.acquire(sqlsnow.LeaseConfig{Worker: pointer(uint64(4))})
	sp.set(1, "ceiling_tick = 99") // fenced
	sp.set(3, "state = 3, owner = ?, fence = 1, holder = 's3'", owner())
	for _, test := range []struct {
		worker uint64
		holder string
	}{{0, "s0"}, {1, "s1"}, {3, "s3"}, {1, "s1"}} {
		ceiling := sp.row(test.worker).ceiling
		if worker, err := reclaim(test.worker, test.holder); err != nil || worker != test.worker {
			s.Errorf("Reclaim %d for %s: got %d and %v", test.worker, test.holder, worker, err)
		}
		if r := sp.row(test.worker); r.state != reserved || r.holder != test.holder || r.fence != 1 || r.owner == "" || r.ceiling != ceiling {
			s.Errorf("the row of %s: %+v", test.holder, r)
		}
	}
	before := sp.rows()
	for worker, until := range map[uint64]bool{4: true, 3: false} { // leased, and another's
		_, err := reclaim(worker, "s9")
		if held := wantAs[*sqlsnow.HeldError](s, "Reclaim", err); held.Worker != worker || held.Until.IsZero() == until {
			s.Errorf("Reclaim %d: got %+v", worker, held)
		}
	}
	_, err := reclaim(6, "s9")
	_ = wantAs[*snow.FieldError](s, "Reclaim a number that is none", err)
	sp.unchanged("rows", before)
	h.close() // it has made ids
	before = sp.rows()
	_, err = reclaim(4, "s9")
	_ = wantAs[*sqlsnow.HeldError](s, "Reclaim a number that was leased", err)
	sp.same("rows", sp.rows(), before)
}

func reserveAtOnce(s *suite) {
	sp := s.space(sqlsnow.Namespace{Workers: 16})
	var group sync.WaitGroup
	got := make([]uint64, 12)
	errs := make([]error, len(got))
	for i := range got {
		db := s.open()
		group.Go(func() { got[i], errs[i] = sp.reserve(db, fmt.Sprint("holder ", i%3)) })
	}
	group.Wait()
	for i, worker := range got {
		if errs[i] != nil || worker != got[i%3] || i < 3 && (worker == got[(i+1)%3] || worker < 13) {
			s.Errorf("holder %d: got %d and %v of %v", i%3, worker, errs[i], got)
		}
	}
}

func reserveUnknown(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	for done, want := range map[bool]uint64{true: 3, false: 3} {
		var once atomic.Bool
		lost := fmt.Errorf("lost")
		db := s.wire(func(_ context.Context, statement string, send func() error) error {
			if !isWrite(statement) || !once.CompareAndSwap(false, true) {
				return send()
			}
			if done {
				if err := send(); err != nil {
					return err
				}
			}
			return lost
		})
		_, err := sp.reserve(db, "s1")
		s.wantIs("Reserve whose answer is lost", err, lost)
		if worker, err := sp.reserve(s.db, "s1"); err != nil || worker != want {
			s.Errorf("Reserve again: got %d and %v, want %d", worker, err, want)
		}
	}
}

func reserveRefused(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	before := sp.rows()
	if s.database.ReadOnly != nil {
		_, err := sp.reserve(s.opened(s.database.ReadOnly), "s1")
		s.wantIs("Reserve on a replica", err, sqlsnow.ErrReadOnly)
	}
	if s.database.NotDurable != nil {
		_, err := sp.reserve(s.opened(s.database.NotDurable), "s1")
		s.wantIs("Reserve on a session that does not sync", err, sqlsnow.ErrNotDurable)
	}
	_, err := sqlsnow.Reserve(s.Context(), s.db, s.dialect, "other", "s1")
	s.wantIs("Reserve of a namespace that is none", err, sqlsnow.ErrNoNamespace)
	sp.same("rows", sp.rows(), before)
}

// lossReserve has the database forget a reservation before the probation is over.
func lossReserve(s *suite) {
	sp := s.lossy()
	var writes atomic.Int32
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		err := send()
		if isWrite(statement) && writes.Add(1) == 1 {
			sp.set(3, "state = 0, owner = NULL, fence = 0, claimed_at_ms = 0, holder = ''")
			sp.give(3)
		}
		return err
	})
	start := sp.now()
	worker, err := sp.reserve(db, "s1")
	if err != nil || worker != 2 {
		s.Fatalf("Reserve: got %d and %v, want 2, for 3 is another process's by now", worker, err)
	}
	if waited, want := sp.now()-start, sp.ticks(sp.constant("probation_ms")); waited < want {
		s.Errorf("Reserve returned after %d ticks, before the probation of %d was over", waited, want)
	}
	if r := sp.row(2); r.state != reserved || r.renewals != 3 { // taken, and confirmed twice
		s.Errorf("the row was not confirmed: %+v", r)
	}
}
