package sqlsnowtest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// lossy is a namespace in a database that may lose what it has confirmed, with the shortest probation that there is.
func (s *suite) lossy() *space {
	s.Helper()
	return s.space(sqlsnow.Namespace{LossWindow: time.Millisecond})
}

func lossConstants(s *suite) {
	s.migrate()
	for name, loss := range map[string]time.Duration{"short": time.Millisecond, "usual": 5 * time.Second, "long": time.Minute} {
		ns := sqlsnow.Namespace{Name: name, LossWindow: loss}
		sp := s.space(ns)
		c := sp.constants("loss_ms", "probation_ms", "min_renew_ms", "raise_ms", "first_ms", "grace_ms", "claim_ms")
		l, p, spacing, raise, first, grace, claim := c[0], c[1], c[2], c[3], c[4], c[5], c[6]
		const skew = 1000 // of an old primary's clock to a new one's
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
	sp.same("row after a renewal that is too soon", h.held(), got)
	spacing := sp.constant("min_renew_ms").Milliseconds()
	s.await("renewal", func() bool {
		h.renew()
		return h.held().renewals != got.renewals
	})
	after := h.held()
	if after.renewedAt-got.renewedAt < spacing {
		s.Errorf("got a renewal after %d ms, want at least %d", after.renewedAt-got.renewedAt, spacing)
	}
	if after.ceiling <= got.ceiling || after.ceiling > got.ceiling+sp.ticks(raise) {
		s.Errorf("got ceiling %d after %d, want at most %v more", after.ceiling, got.ceiling, raise)
	}
	h.within()
	last := h.last
	r := h.close()
	if _, tick := sp.parts(last); r.state != free || r.ceiling != tick+1 {
		s.Errorf("after Close: got %+v, want it free with the ceiling %d", r, tick+1)
	}
}

// lossEarlyGrant makes a claim younger than its holder believes.
func lossEarlyGrant(s *suite) {
	sp := s.lossy()
	probation := sp.constant("probation_ms").Milliseconds()
	var n atomic.Int64
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		if isWrite(statement) && n.Add(1) == 2 {
			s.exec("UPDATE snow_workers SET claimed_at_ms = claimed_at_ms + 800 WHERE namespace = ? AND state = 1", sp.ns.Name)
		}
		return send()
	})
	h, err := sp.tryAcquire(s.Context(), db, sqlsnow.LeaseConfig{})
	if err == nil {
		h.within()
	}
	for _, r := range sp.rows() {
		if r.state == granted && r.renewedAt-r.claimedAt < probation {
			s.Errorf("got a grant %d ms after the claim, want at least %d ms", r.renewedAt-r.claimedAt, probation)
		}
	}
}

// lossClaimTaken has another process take the claim while it is on probation.
func lossClaimTaken(s *suite) {
	sp := s.lossy()
	var given row
	var n atomic.Int64
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		if isWrite(statement) && n.Add(1) == 2 {
			for _, r := range sp.rows() {
				if r.state == claimed {
					sp.set(r.worker, "fence = fence + 1, owner = ?, holder = ?", strings.Repeat("b", 32), other)
					given = sp.row(r.worker)
				}
			}
		}
		return send()
	})
	h, err := sp.tryAcquire(s.Context(), db, sqlsnow.LeaseConfig{})
	sp.same("row of the other holder", sp.row(given.worker), given)
	if given.owner == "" {
		s.Fatalf("no claim was seen")
	}
	if err == nil {
		h.within()
		if h.worker() == given.worker {
			s.Errorf("got number %d, which another process claims", given.worker)
		}
	}
}

// lossCancelled ends Acquire's context on probation.
func lossCancelled(s *suite) {
	sp := s.lossy()
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	db := s.wire(func(_ context.Context, statement string, send func() error) error {
		err := send()
		if isWrite(statement) {
			cancel() // the claim is made
		}
		return err
	})
	_, err := sp.tryAcquire(ctx, db, sqlsnow.LeaseConfig{})
	s.wantIs("Acquire whose context ends on probation", err, context.Canceled)
	for _, r := range sp.rows() {
		if r.state != free && r.state != claimed {
			s.Errorf("got %+v, want it free or claimed", r)
		}
	}
}

func lossDisplaced(s *suite) {
	sp := s.lossy()
	h := sp.acquire(sqlsnow.LeaseConfig{})
	h.within()
	given := sp.give(h.worker())
	// A renewal so soon need not ask the database, but one after a while finds it out.
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
