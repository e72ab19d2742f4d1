package sqlsnowtest

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// lossy returns a namespace with a LossWindow and the shortest possible probation. Leases use the constants in the
// namespace's row. A smaller spacing of renewals is safe there, because the loss window is so short.
func (s *suite) lossy() *space {
	s.Helper()
	return s.lossyCalled("")
}

func (s *suite) lossyCalled(name string) *space {
	s.Helper()
	sp := s.space(sqlsnow.Namespace{Name: name, LossWindow: time.Millisecond})
	s.exec("UPDATE snow_namespaces SET min_renew_ms = 1000 WHERE namespace = ?", sp.ns.Name)
	return sp
}

func lossConstants(s *suite) {
	s.migrate()
	for name, loss := range map[string]time.Duration{"short": time.Millisecond, "usual": 5 * time.Second, "long": time.Minute} {
		ns := sqlsnow.Namespace{Name: name, LossWindow: loss}
		sp := s.space(ns)
		c := sp.constants("loss_ms", "probation_ms", "min_renew_ms", "raise_ms", "first_ms", "grace_ms", "claim_ms")
		l, p, spacing, raise, first, grace, claim := c[0], c[1], c[2], c[3], c[4], c[5], c[6]
		const skew = 1000 // between the clocks of an old and a new primary
		if l < loss.Milliseconds() || p < l+skew || spacing <= 0 || claim <= p {
			s.Errorf("%s: got loss %d, probation %d, spacing %d and claim %d ms, want a probation over the loss, a spacing and a claim over the probation",
				name, l, p, spacing, claim)
			continue
		}
		if grace+p < raise*(l/spacing+1) || grace+p < first+raise*(l/spacing) {
			s.Errorf("%s: grace %d and probation %d ms do not cover raises of %d every %d ms in %d ms, nor a first grant of %d", name, grace, p, raise, spacing, l, first)
		}
	}
}

func lossGrant(s *suite) {
	sp := s.lossy()
	probation, first, raise := sp.constant("probation_ms"), sp.constant("first_ms"), sp.constant("raise_ms")
	initial := sp.rows()
	var mu sync.Mutex
	var writes [][]row
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		err := send()
		if isWrite(statement) {
			mu.Lock()
			defer mu.Unlock()
			writes = append(writes, sp.rows())
		}
		return err
	})
	h := sp.acquireOn(db, sqlsnow.LeaseConfig{})
	mu.Lock()
	claim := writes[0][h.worker()]
	mu.Unlock()
	before := initial[h.worker()]
	if claim.state != claimed || claim.floor != before.floor || claim.ceiling != before.ceiling || claim.fence <= before.fence || len(claim.owner) != 32 {
		s.Errorf("claim: got %+v after %+v, want it claimed, with a larger fence, and its window as it was", claim, before)
	}
	got := h.held()
	if got.owner != claim.owner || got.state != granted || got.claimedAt != claim.claimedAt {
		s.Errorf("grant: got %+v after %+v, want it granted to the owner of the claim", got, claim)
	}
	if waited := got.renewedAt - got.claimedAt; waited < probation.Milliseconds() {
		s.Errorf("got a grant %d ms after the claim, want %v", waited, probation)
	}
	if got.ceiling != got.floor+sp.ticks(first) {
		s.Errorf("first grant: got %d ticks, want %v", got.ceiling-got.floor, first)
	}
	h.within()
	h.renew()
	spacing := sp.constant("min_renew_ms").Milliseconds()
	if soon := h.held(); soon.renewedAt-got.renewedAt < spacing { // otherwise the machine took a break
		sp.same("row after a renewal that is too soon", soon, got)
	}
	s.await("renewal", func() bool {
		h.renew()
		return h.held().renewals != got.renewals
	})
	after := h.held()
	if after.renewedAt-got.renewedAt < spacing {
		s.Errorf("got a renewal after %d ms, want at least %d", after.renewedAt-got.renewedAt, spacing)
	}
	if n := after.renewals - got.renewals; after.ceiling <= got.ceiling || after.ceiling > got.ceiling+n*sp.ticks(raise) {
		s.Errorf("got ceiling %d after %d, want at most %v more for each of %d renewals", after.ceiling, got.ceiling, raise, n)
	}
	h.within()
	last := h.last
	r := h.close()
	if _, tick := sp.parts(last); r.state != free || r.ceiling != tick+1 {
		s.Errorf("after Close: got %+v, want it free with the ceiling %d", r, tick+1)
	}
}

// meddle acquires a number. change changes its row between the claim and the grant. After a few attempts meddle
// gives up.
func (s *space) meddle(change func(claim row)) (*holder, error) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	var n atomic.Int64
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		if isWrite(statement) {
			switch n.Add(1) {
			case 2:
				for _, r := range s.rows() {
					if r.state == claimed {
						change(r)
					}
				}
			case 5:
				cancel()
			}
		}
		return send()
	})
	h, err := s.tryAcquire(ctx, db, sqlsnow.LeaseConfig{})
	if n.Load() < 2 {
		s.Fatalf("no grant was asked for: %v", err)
	}
	if err == nil {
		h.within()
	}
	return h, err
}

// lossGrantTime makes a claim younger or older than its holder believes.
func lossGrantTime(s *suite) {
	sp := s.lossy()
	probation, claim := sp.constant("probation_ms").Milliseconds(), sp.constant("claim_ms").Milliseconds()
	for _, shift := range []int64{800, -2 * claim} {
		if h, err := sp.meddle(func(r row) { sp.set(r.worker, "claimed_at_ms = claimed_at_ms + ?", shift) }); err == nil {
			defer h.close()
		}
		for _, r := range sp.rows() {
			if waited := r.renewedAt - r.claimedAt; r.state == granted && (waited < probation || waited > claim) {
				s.Errorf("got a grant %d ms after the claim, want %d to %d ms", waited, probation, claim)
			}
		}
	}
}

// lossClaimTaken lets another process take the claim during its probation.
func lossClaimTaken(s *suite) {
	sp := s.lossy()
	var given row
	h, err := sp.meddle(func(r row) {
		sp.set(r.worker, "fence = fence + 1, owner = ?, holder = ?", owner(), other)
		given = sp.row(r.worker)
	})
	sp.same("row of the other holder", sp.row(given.worker), given)
	if err == nil && h.worker() == given.worker {
		s.Errorf("got number %d, which another process claims", given.worker)
	}
}

// lossClaimFenced calls Fence during the probation of a claim.
func lossClaimFenced(s *suite) {
	sp := s.lossy()
	var fenced row
	h, err := sp.meddle(func(r row) {
		if err := sqlsnow.Fence(s.Context(), s.db, s.dialect, sp.ns.Name); err != nil {
			s.Errorf("Fence: %v", err)
		}
		fenced = sp.row(r.worker)
	})
	if err == nil {
		if _, tick := sp.parts(h.last); tick < fenced.ceiling {
			s.Errorf("got an id in tick %d, want none before %d", tick, fenced.ceiling)
		}
	}
}

// lossCancelled ends the context of Acquire during the probation. The second time, another process takes the claim
// at that moment.
func lossCancelled(s *suite) {
	sp := s.lossy()
	for _, taken := range []bool{false, true} {
		ctx, cancel := context.WithCancel(s.Context())
		var given row
		var writes atomic.Int64
		db := s.wire(func(_ context.Context, statement string, send func() error) error {
			if !isWrite(statement) {
				return send()
			}
			if writes.Add(1) == 1 {
				defer cancel() // the claim is made
			} else if taken {
				for _, r := range sp.rows() {
					if r.state == claimed {
						sp.set(r.worker, "fence = fence + 1, owner = ?, holder = ?", owner(), other)
						given = sp.row(r.worker)
					}
				}
			}
			return send()
		})
		_, err := sp.tryAcquire(ctx, db, sqlsnow.LeaseConfig{})
		cancel()
		s.wantIs("Acquire whose context ends on probation", err, context.Canceled)
		for _, r := range sp.rows() {
			if r.state != free && r.state != claimed {
				s.Errorf("got %+v, want it free or claimed", r)
			}
		}
		if given.owner != "" {
			sp.same("row of the other holder", sp.row(given.worker), given)
		}
	}
}

// lossRenewedTwice lets an earlier renewal, whose answer was lost, arrive just before the next one.
func lossRenewedTwice(s *suite) {
	sp := s.lossy()
	var mu sync.Mutex
	var before, after row
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		mu.Lock()
		defer mu.Unlock()
		if before.state != granted || !isWrite(statement) || after.state == granted {
			return send()
		}
		// In the future, so that no pause makes the next one due.
		sp.set(before.worker, "renewed_at_ms = ?", sp.time(sp.now()).Add(time.Hour).UnixMilli())
		before = sp.row(before.worker)
		err := send()
		after = sp.row(before.worker)
		return err
	})
	h := sp.acquireOn(db, sqlsnow.LeaseConfig{})
	mu.Lock()
	before = h.held()
	mu.Unlock()
	s.await("renewal", func() bool {
		_ = h.Renew(s.Context()) // the contract does not say whether this is an error
		mu.Lock()
		defer mu.Unlock()
		return after.state == granted
	})
	sp.same("row renewed twice", after, before)
	h.within()
}

func lossDisplaced(s *suite) {
	sp := s.lossy()
	h := sp.acquire(sqlsnow.LeaseConfig{})
	h.within()
	given := sp.give(h.worker())
	// A renewal so soon need not ask the database, but a later one finds out.
	h.await("swap", func() bool {
		_ = h.Renew(s.Context())
		h.next()
		return h.Stats().Swaps == 1
	})
	h.await("id with the new number", func() bool {
		worker, _ := h.parts(h.next())
		return worker == h.worker()
	})
	h.within()
	if r := h.held(); r.renewedAt-r.claimedAt < sp.constant("probation_ms").Milliseconds() {
		s.Errorf("got %+v, want a grant after the probation", r)
	}
	sp.same("row of the other holder", sp.row(given.worker), given)
}

// lossLapsed stops the answers of the database until the window is over.
func lossLapsed(s *suite) {
	sp := s.lossy()
	s.exec("UPDATE snow_namespaces SET first_ms = 3000, raise_ms = 3000 WHERE namespace = ?", sp.ns.Name)
	db := s.open()
	db.SetMaxOpenConns(1)
	var j journal
	h := sp.acquireOn(db, sqlsnow.LeaseConfig{Logger: slog.New(&j)})
	h.next()
	former := h.worker()
	conn, err := db.Conn(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close()
	s.await("end of the window", func() bool {
		_, err := h.gen.Next(s.Context())
		return err != nil
	})
	r := sp.row(former)
	s.await("end of the window in the database", func() bool { return sp.now() >= r.ceiling })
	if err := conn.Close(); err != nil {
		s.Fatal(err)
	}
	h.await("swap", func() bool {
		_ = h.Renew(s.Context())
		return h.Stats().Swaps == 1
	})
	s.awaitLoss(&j, 1, sqlsnow.Lapsed)
	sp.same("row of the former number", sp.row(former), r)
	h.next()
	if h.worker() == former {
		s.Errorf("got number %d again, within its grace", former)
	}
}
