package sqlsnow

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

// holding returns a machine that holds worker 3 up to a ceiling that is 100
// ticks away, in a namespace with a loss window or without.
func holding(t *testing.T, loss time.Duration) (m *machine, now reading, tick int64) {
	t.Helper()
	terms, err := Namespace{Name: "n", Layout: snow.Default(), LossWindow: loss}.terms()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	now = reading{mono: time.Hour, wall: start}
	m = &machine{terms: terms, window: terms.window, random: rand.New(rand.NewPCG(1, 2)), clock: vote{maxSkew: defaultMaxSkew}, owner: newOwner}
	if err := m.clock.take(start.UnixMicro(), now.mono, now); err != nil {
		t.Fatal(err)
	}
	tick = terms.tickAt(start.UnixMicro())
	m.opened(&seat{worker: 3, owner: "me", fence: 5, floor: tick - 1000, ceiling: tick + 100, renewed: now.mono}, now)
	return m, now, tick
}

// What a lease makes of its row where a renewal had no effect. Ids that
// somebody else may make as well are not made any more.
func TestInspect(t *testing.T) {
	for name, test := range map[string]struct {
		loss    time.Duration
		row     *row // floor and ceiling from the tick that it is now
		lost    Loss
		suspend bool
		step    step
	}{
		"another, after my window":           {0, &row{state: Granted, owner: "other", fence: 6, floor: 100, ceiling: 900}, Displaced, false, stepFacts},
		"another, inside my window":          {0, &row{state: Granted, owner: "other", fence: 6, floor: 99, ceiling: 900}, Regressed, true, stepFacts},
		"another, with my fence":             {0, &row{state: Granted, owner: "other", fence: 5, floor: 100, ceiling: 900}, Regressed, true, stepFacts},
		"another, with an older fence":       {0, &row{state: Granted, owner: "other", fence: 2, floor: -900, ceiling: -100}, Regressed, true, stepFacts},
		"free":                               {0, &row{state: Free, fence: 4, floor: -900, ceiling: -100}, Regressed, true, stepFacts},
		"reserved":                           {0, &row{state: Reserved, owner: "me", fence: 5, floor: -1000, ceiling: 100}, Regressed, true, stepFacts},
		"gone":                               {0, nil, Vanished, true, stepFacts},
		"mine, lower":                        {0, &row{state: Granted, owner: "me", fence: 5, floor: -1000, ceiling: 50}, 0, true, stepReassert},
		"mine, as it was":                    {0, &row{state: Granted, owner: "me", fence: 5, floor: -1000, ceiling: 100}, 0, false, stepRenew},
		"loss: another, after my window":     {5 * time.Second, &row{state: Granted, owner: "other", fence: 6, floor: 100, ceiling: 900}, Displaced, false, stepFacts},
		"loss: another, inside my window":    {5 * time.Second, &row{state: Granted, owner: "other", fence: 6, floor: 99, ceiling: 900}, Regressed, true, stepFacts},
		"loss: another, with an older fence": {5 * time.Second, &row{state: Granted, owner: "other", fence: 2, floor: -900, ceiling: -100}, Regressed, true, stepFacts},
		"loss: another's claim, in time":     {5 * time.Second, &row{state: Claimed, owner: "other", fence: 6, floor: -1000, ceiling: -26_000, claimed: -5_000}, Displaced, false, stepFacts},
		"loss: another's claim, too early":   {5 * time.Second, &row{state: Claimed, owner: "other", fence: 6, floor: -1000, ceiling: -26_000, claimed: -6_000}, Regressed, true, stepFacts},
		"loss: another's claim, abandoned":   {5 * time.Second, &row{state: Free, fence: 6, floor: -1000, ceiling: 100}, Displaced, false, stepFacts},
		"loss: the same, too early":          {5 * time.Second, &row{state: Free, fence: 6, floor: -1000, ceiling: 99}, Regressed, true, stepFacts},
		"loss: another's window, released":   {5 * time.Second, &row{state: Free, fence: 6, floor: 50, ceiling: 900}, Regressed, true, stepFacts},
		"loss: my window forgotten":          {5 * time.Second, &row{state: Claimed, owner: "me", fence: 5, floor: -9000, ceiling: -8000, claimed: -10_000}, Regressed, false, stepFacts},
		"loss: mine, far lower":              {5 * time.Second, &row{state: Granted, owner: "me", fence: 5, floor: -90_000, ceiling: -40_000}, 0, true, stepReassert},
		"loss: gone":                         {5 * time.Second, nil, Vanished, true, stepFacts},
		"loss: mine, higher":                 {5 * time.Second, &row{state: Granted, owner: "me", fence: 5, floor: -1000, ceiling: 200}, 0, false, stepRenew},
		"loss: mine, over":                   {5 * time.Second, &row{state: Granted, owner: "me", fence: 5, floor: -1000, ceiling: 0}, 0, false, stepReassert},
	} {
		t.Run(name, func(t *testing.T) {
			m, now, tick := holding(t, test.loss)
			q := m.request(now)
			if out := m.handle(q, reply{}, now.mono, now); m.step != stepInspect || out.lost != nil {
				t.Fatalf("after a renewal without effect: step %d, %+v", m.step, out)
			}
			if test.row != nil {
				test.row.floor += tick
				test.row.ceiling += tick
				test.row.claimed += now.wall.UnixMilli()
			}
			out := m.handle(m.request(now), reply{row: test.row, us: now.wall.UnixMicro()}, now.mono, now)
			switch {
			case test.lost == 0 && out.lost != nil, test.lost != 0 && (out.lost == nil || out.lost.Reason != test.lost || out.lost.Worker != 3):
				t.Errorf("lost: %v, want %v", out.lost, test.lost)
			case out.suspend != test.suspend:
				t.Errorf("suspended: %t", out.suspend)
			case m.step != test.step:
				t.Errorf("step %d, want %d", m.step, test.step)
			case out.raise != 0:
				t.Errorf("a look at the row raised the ceiling to %d", out.raise)
			}
		})
	}
}

// A number whose first window ids are ahead of is kept, and the generator has it when the window has grown beyond them. Until
// then nothing is done to the window that it has.
func TestKeep(t *testing.T) {
	m, now, tick := holding(t, 5*time.Second)
	m.bid = bid{seat: seat{worker: 9, owner: "mine", fence: 1, floor: tick, ceiling: tick + 20_000}}
	fresh := m.bid.seat
	m.keep(&fresh, now)
	if m.step != stepRenew || m.at < now.mono+m.terms.minRenew || m.bid.owner != "" {
		t.Errorf("step %d in %v, bid %+v", m.step, m.at-now.mono, m.bid)
	}
	now.running = now.wall.Add(45 * time.Second).UnixMicro()
	for i, usable := range []bool{false, true, true} {
		m.at = now.mono
		out := m.handle(m.request(now), reply{changed: true, us: now.wall.UnixMicro()}, now.mono, now)
		if want := tick + 40_000 + int64(i)*20_000; out.open != &fresh || fresh.ceiling != want || out.raise != 0 || (out.err == nil) != usable {
			t.Errorf("renewal %d: %+v, %v; ceiling %d, want %d", i, out, out.err, fresh.ceiling, want)
		}
		if i == 0 {
			var ahead *ClockError
			if !errors.As(out.err, &ahead) || ahead.Running.IsZero() {
				t.Errorf("renewal %d: %v", i, out.err)
			}
		}
	}
	q, ok := m.release(uint64(tick + 10_000)) // of the number before
	if !ok || q.ask != askRelease || q.owner != "mine" || q.next != tick {
		t.Errorf("releases %+v", q)
	}
	if released, err := m.left(q, nil, false); released || err != nil {
		t.Errorf("a number that made no id is lost: %v", err)
	}
}

// What Close makes of a row that it could not release.
func TestLeft(t *testing.T) {
	for name, test := range map[string]struct {
		row      *row // floor and ceiling from the tick that it is now; ids were made up to 10 ticks from there
		unknown  bool
		released bool
		err      error
	}{
		"gone":                           {nil, false, false, &LostError{Worker: 3, Reason: Vanished}},
		"released before":                {&row{state: Free, fence: 5, floor: -1000, ceiling: 10}, false, true, nil},
		"fenced":                         {&row{state: Granted, owner: "me", fence: 5, floor: 900, ceiling: 900}, false, false, nil},
		"mine":                           {&row{state: Granted, owner: "me", fence: 5, floor: -1000, ceiling: 100}, false, false, errRefused},
		"another, after my window":       {&row{state: Granted, owner: "other", fence: 6, floor: 100, ceiling: 900, holder: "h"}, false, false, &LostError{Worker: 3, Reason: Displaced, Holder: "h"}},
		"another, inside my window":      {&row{state: Granted, owner: "other", fence: 6, floor: 10, ceiling: 900}, false, false, &LostError{Worker: 3, Reason: Regressed}},
		"the same, after a lost answer":  {&row{state: Granted, owner: "other", fence: 6, floor: 10, ceiling: 900}, true, true, nil},
		"where I had made ids":           {&row{state: Granted, owner: "other", fence: 6, floor: 9, ceiling: 900}, true, false, &LostError{Worker: 3, Reason: Regressed}},
		"free, with an older fence":      {&row{state: Free, fence: 4, floor: -1000, ceiling: 10}, true, false, &LostError{Worker: 3, Reason: Regressed}},
		"free for others inside my time": {&row{state: Free, fence: 5, floor: -1000, ceiling: 9}, false, false, &LostError{Worker: 3, Reason: Regressed}},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, tick := holding(t, 0)
			if test.row != nil {
				test.row.floor += tick
				test.row.ceiling += tick
			}
			q, _ := m.release(uint64(tick + 10))
			released, err := m.left(q, test.row, test.unknown)
			if released != test.released || !reflect.DeepEqual(err, test.err) {
				t.Errorf("released %t, %v, want %t, %v", released, err, test.released, test.err)
			}
		})
	}
}

// A statement whose outcome is unknown counts when a later one on its row is
// confirmed, not when the row shows it.
func TestReadConfirmsNothing(t *testing.T) {
	for _, loss := range []time.Duration{0, 5 * time.Second} {
		m, now, tick := holding(t, loss)
		m.seat = nil
		m.bid = bid{seat: seat{worker: 9, owner: "mine", fence: 1}, seen: tick}
		m.step = stepTake
		state := Granted
		if loss > 0 {
			m.step, state = stepClaim, Claimed
		}
		m.handle(m.request(now), reply{err: errors.New("cut")}, now.mono, now)
		if m.step != stepUnsure {
			t.Fatalf("step %d after a cut connection", m.step)
		}
		shown := &row{state: state, owner: "mine", fence: 2, floor: tick, ceiling: tick}
		if state == Granted {
			shown.ceiling = tick + 10*m.terms.ticks(m.window) // by a Fence, say
		}
		if out := m.handle(m.request(now), reply{row: shown, us: now.wall.UnixMicro()}, now.mono, now); out.open != nil || m.bid.claimed || m.step != stepConfirm {
			t.Fatalf("loss %v: a look at the row counts: %+v, step %d", loss, out, m.step)
		}
		q := m.request(now)
		if q.ask != askConfirm || q.worker != 9 || q.owner != "mine" || q.fence != 2 || q.seen != shown.ceiling || q.state != state {
			t.Fatalf("loss %v: confirms with %+v", loss, q)
		}
		out := m.handle(q, reply{changed: true, us: now.wall.UnixMicro()}, now.mono, now)
		if loss == 0 && (out.open == nil || out.open.floor != tick || out.open.ceiling != tick+m.terms.ticks(m.window)) {
			t.Errorf("confirmed, but opens %+v", out.open)
		}
		if loss > 0 && (m.step != stepGrant || m.at < now.mono+m.terms.probation) {
			t.Errorf("step %d at %v after the confirmation", m.step, m.at-now.mono)
		}
	}
}

// Renew does not make the first window, or a renewal, come too soon.
func TestHurry(t *testing.T) {
	m, now, _ := holding(t, 5*time.Second)
	at := m.at
	if m.hurry(now.mono + m.terms.minRenew - 1); m.at != at {
		t.Error("a renewal is sent before its time")
	}
	if m.hurry(now.mono + m.terms.minRenew); m.at != now.mono+m.terms.minRenew {
		t.Error("a renewal is not brought forward")
	}
	m.bid.owner = "mine"
	m.stake(now)
	at = m.at
	if m.hurry(now.mono); m.at != at || at < now.mono+m.terms.probation {
		t.Errorf("the first window is asked for after %v", m.at-now.mono)
	}
	m, now, _ = holding(t, 0)
	if m.hurry(now.mono); m.at != now.mono {
		t.Error("a renewal is not brought forward")
	}
}

func TestFenceRefuses(t *testing.T) {
	l := snow.Default()
	s := &scripted{layout: l}
	db := sql.OpenDB(s)
	defer db.Close()
	if err := Fence(t.Context(), db, MySQL, "shop"); !errors.Is(err, errRefused) {
		t.Errorf("1 of 1024 rows changed: %v", err)
	}
	s.autocommit = "0"
	if err := Fence(t.Context(), db, MySQL, "shop"); !errors.Is(err, ErrNotDurable) {
		t.Errorf("with autocommit=0: %v", err)
	}
	s.autocommit, s.ahead = "", -time.Hour
	var clock *ClockError
	if err := Fence(t.Context(), db, MySQL, "shop"); !errors.As(err, &clock) {
		t.Errorf("with a clock an hour behind: %v", err)
	}
	if n := s.count("UPDATE"); n != 1 {
		t.Errorf("%d updates, want that of the first call alone", n)
	}
}

// Where ctx has ended, a reply may be that of a wait that was cut short.
func TestReplyAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &scripted{layout: snow.Default(), before: cancel}
	db := sql.OpenDB(s)
	defer db.Close()
	e, err := engineOf(MySQL)
	if err != nil {
		t.Fatal(err)
	}
	terms, err := Namespace{Name: "n", Layout: s.layout}.terms()
	if err != nil {
		t.Fatal(err)
	}
	r := registry{db, e, terms}
	if got := r.do(ctx, request{ask: askRenew}); got.changed || !errors.Is(got.err, context.Canceled) {
		t.Errorf("a renewal whose ctx ended under way: %+v", got)
	}
}

// A lease suspends its generator when its number may be somebody else's, and
// goes on with another one.
func TestRegressedLeaseSuspends(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, s *scripted, lease *Lease, keys *snow.Generator) {
		first, err := keys.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.set(func() {
			s.refuse = true
			s.row = []driver.Value{int64(Free), nil, int64(1), int64(0), int64(0), int64(0), "", time.Now().UnixMicro()}
		})
		time.Sleep(40 * time.Second) // past a renewal
		if _, err := keys.Next(t.Context()); !errors.Is(err, snow.ErrLeaseExpired) {
			t.Errorf("Next = %v, want ErrLeaseExpired", err)
		}
		if st := lease.Stats(); st.Left != 0 || st.Err == nil {
			t.Errorf("no ids, and stats are %+v", st)
		}
		s.set(func() { s.refuse = false })
		time.Sleep(5 * time.Second)
		if id, err := keys.Next(t.Context()); err != nil || id <= first {
			t.Errorf("with another number: id %d after %d, %v", id, first, err)
		}
		if st := lease.Stats(); st.Swaps != 1 {
			t.Errorf("stats %+v", st)
		}
	})
}
