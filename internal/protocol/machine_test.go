package protocol

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
)

// holding returns a machine that holds worker 3 up to a ceiling that is 100
// ticks away, in a namespace with a loss window or without.
func holding(t *testing.T, loss time.Duration) (m *Machine, now Reading, tick int64) {
	t.Helper()
	params := simParams(snow.DefaultLayout(), 1024, loss, 10*time.Minute, 30*time.Second)
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	now = Reading{Mono: time.Hour, Wall: start}
	m = &Machine{params: params, window: params.Window, random: rand.New(rand.NewPCG(1, 2)), clock: serverClock{maxSkew: DefaultMaxSkew}, owner: NewOwner}
	if err := m.clock.observe(start.UnixMicro(), now.Mono, now); err != nil {
		t.Fatal(err)
	}
	tick = params.TickAt(start.UnixMicro())
	m.Opened(&Holding{Worker: 3, owner: "me", Fence: 5, Floor: tick - 1000, Ceiling: tick + 100, renewed: now.Mono}, now)
	return m, now, tick
}

// What a lease does after a renewal had no effect, depending on its row. It makes
// no ids that somebody else may make as well.
func TestInspect(t *testing.T) {
	for name, test := range map[string]struct {
		loss    time.Duration
		row     *Row // floor and ceiling from the tick that it is now
		lost    Loss
		suspend bool
		step    step
	}{
		"another, after my window":           {0, &Row{State: Granted, Owner: "other", Fence: 6, Floor: 100, Ceiling: 900}, Displaced, false, readServer},
		"another, inside my window":          {0, &Row{State: Granted, Owner: "other", Fence: 6, Floor: 99, Ceiling: 900}, Regressed, true, readServer},
		"another, with my fence":             {0, &Row{State: Granted, Owner: "other", Fence: 5, Floor: 100, Ceiling: 900}, Regressed, true, readServer},
		"another, with an older fence":       {0, &Row{State: Granted, Owner: "other", Fence: 2, Floor: -900, Ceiling: -100}, Regressed, true, readServer},
		"free":                               {0, &Row{State: Free, Fence: 4, Floor: -900, Ceiling: -100}, Regressed, true, readServer},
		"reserved":                           {0, &Row{State: Reserved, Owner: "me", Fence: 5, Floor: -1000, Ceiling: 100}, Regressed, true, readServer},
		"gone":                               {0, nil, Vanished, true, readServer},
		"mine, lower":                        {0, &Row{State: Granted, Owner: "me", Fence: 5, Floor: -1000, Ceiling: 50}, 0, true, reassert},
		"mine, fenced":                       {0, &Row{State: Granted, Owner: "me", Fence: 5, Floor: 900_000, Ceiling: 900_000}, Lapsed, false, readServer},
		"mine, as it was":                    {0, &Row{State: Granted, Owner: "me", Fence: 5, Floor: -1000, Ceiling: 100}, 0, false, renew},
		"loss: another, after my window":     {5 * time.Second, &Row{State: Granted, Owner: "other", Fence: 6, Floor: 100, Ceiling: 900}, Displaced, false, readServer},
		"loss: another, inside my window":    {5 * time.Second, &Row{State: Granted, Owner: "other", Fence: 6, Floor: 99, Ceiling: 900}, Regressed, true, readServer},
		"loss: another, with an older fence": {5 * time.Second, &Row{State: Granted, Owner: "other", Fence: 2, Floor: -900, Ceiling: -100}, Regressed, true, readServer},
		"loss: another's claim, in time":     {5 * time.Second, &Row{State: Claimed, Owner: "other", Fence: 6, Floor: -1000, Ceiling: -26_000, Claimed: -5_000}, Displaced, false, readServer},
		"loss: another's claim, too early":   {5 * time.Second, &Row{State: Claimed, Owner: "other", Fence: 6, Floor: -1000, Ceiling: -26_000, Claimed: -6_000}, Regressed, true, readServer},
		"loss: another's claim, abandoned":   {5 * time.Second, &Row{State: Free, Fence: 6, Floor: -1000, Ceiling: 100}, Displaced, false, readServer},
		"loss: the same, too early":          {5 * time.Second, &Row{State: Free, Fence: 6, Floor: -1000, Ceiling: 99}, Regressed, true, readServer},
		"loss: another's window, released":   {5 * time.Second, &Row{State: Free, Fence: 6, Floor: 50, Ceiling: 900}, Regressed, true, readServer},
		"loss: my window forgotten":          {5 * time.Second, &Row{State: Claimed, Owner: "me", Fence: 5, Floor: -9000, Ceiling: -8000, Claimed: -10_000}, Regressed, false, readServer},
		"loss: mine, far lower":              {5 * time.Second, &Row{State: Granted, Owner: "me", Fence: 5, Floor: -90_000, Ceiling: -40_000}, 0, true, reassert},
		"loss: gone":                         {5 * time.Second, nil, Vanished, true, readServer},
		"loss: mine, higher":                 {5 * time.Second, &Row{State: Granted, Owner: "me", Fence: 5, Floor: -1000, Ceiling: 200}, 0, false, renew},
		"loss: mine, over":                   {5 * time.Second, &Row{State: Granted, Owner: "me", Fence: 5, Floor: -1000, Ceiling: 0}, 0, false, reassert},
	} {
		t.Run(name, func(t *testing.T) {
			m, now, tick := holding(t, test.loss)
			q := m.Request(now)
			if out := m.Handle(q, Reply{}, now.Mono, now); m.step != readHolding || out.Lost != nil {
				t.Fatalf("after a renewal without effect: step %q, %+v", m.step, out)
			}
			if test.row != nil {
				test.row.Floor += tick
				test.row.Ceiling += tick
				test.row.Claimed += now.Wall.UnixMilli()
			}
			out := m.Handle(m.Request(now), Reply{Row: test.row, Now: now.Wall.UnixMicro()}, now.Mono, now)
			switch {
			case test.lost == 0 && out.Lost != nil, test.lost != 0 && (out.Lost == nil || out.Lost.Reason != test.lost || out.Lost.Worker != 3):
				t.Errorf("lost: %v, want %v", out.Lost, test.lost)
			case out.Suspend != test.suspend:
				t.Errorf("suspended: %t", out.Suspend)
			case m.step != test.step:
				t.Errorf("step %q, want %q", m.step, test.step)
			case out.Raise != 0:
				t.Errorf("a look at the row raised the ceiling to %d", out.Raise)
			}
		})
	}
}

// If ids are ahead of the first window of a new number, the machine keeps the number, and the generator gets it
// when the window has grown beyond the ids. Until then the generator's window does not change.
func TestKeep(t *testing.T) {
	m, now, tick := holding(t, 5*time.Second)
	m.attempt = attempt{Holding: Holding{Worker: 9, owner: "mine", Fence: 1, Floor: tick, Ceiling: tick + 20_000}}
	fresh := m.attempt.Holding
	m.Keep(&fresh, now)
	if m.step != renew || m.at < now.Mono+m.params.MinRenew || m.attempt.owner != "" {
		t.Errorf("step %q in %v, attempt %+v", m.step, m.at-now.Mono, m.attempt)
	}
	now.Running = now.Wall.Add(45 * time.Second).UnixMicro()
	for i, usable := range []bool{false, true, true} {
		m.at = now.Mono
		out := m.Handle(m.Request(now), Reply{Changed: true, Now: now.Wall.UnixMicro()}, now.Mono, now)
		if want := tick + 40_000 + int64(i)*20_000; out.Open != &fresh || fresh.Ceiling != want || out.Raise != 0 || (out.Err == nil) != usable {
			t.Errorf("renewal %d: %+v, %v; ceiling %d, want %d", i, out, out.Err, fresh.Ceiling, want)
		}
		if i == 0 {
			var ahead *ClockError
			if !errors.As(out.Err, &ahead) || ahead.Running.IsZero() {
				t.Errorf("renewal %d: %v", i, out.Err)
			}
		}
	}
	q, ok := m.Release(uint64(tick + 10_000)) // of the number before
	if !ok || q.Ask != AskRelease || q.Owner != "mine" || q.Next != tick {
		t.Errorf("releases %+v", q)
	}
	if released, err := m.Released(q, nil, false); released || err != nil {
		t.Errorf("a number that made no id is lost: %v", err)
	}
}

// What Close does if its release had no effect, depending on the row.
func TestLeft(t *testing.T) {
	for name, test := range map[string]struct {
		row      *Row // floor and ceiling from the tick that it is now; ids were made up to 10 ticks from there
		unknown  bool
		released bool
		err      error
	}{
		"gone":                           {nil, false, false, &LostError{Worker: 3, Reason: Vanished}},
		"released before":                {&Row{State: Free, Fence: 5, Floor: -1000, Ceiling: 10}, false, true, nil},
		"fenced":                         {&Row{State: Granted, Owner: "me", Fence: 5, Floor: 900, Ceiling: 900}, false, false, nil},
		"mine":                           {&Row{State: Granted, Owner: "me", Fence: 5, Floor: -1000, Ceiling: 100}, false, false, dberrors.ErrRefused},
		"another, after my window":       {&Row{State: Granted, Owner: "other", Fence: 6, Floor: 100, Ceiling: 900, Holder: "h"}, false, false, &LostError{Worker: 3, Reason: Displaced, Holder: "h"}},
		"another, inside my window":      {&Row{State: Granted, Owner: "other", Fence: 6, Floor: 10, Ceiling: 900}, false, false, &LostError{Worker: 3, Reason: Regressed}},
		"the same, after a lost answer":  {&Row{State: Granted, Owner: "other", Fence: 6, Floor: 10, Ceiling: 900}, true, true, nil},
		"where I had made ids":           {&Row{State: Granted, Owner: "other", Fence: 6, Floor: 9, Ceiling: 900}, true, false, &LostError{Worker: 3, Reason: Regressed}},
		"free, with an older fence":      {&Row{State: Free, Fence: 4, Floor: -1000, Ceiling: 10}, true, false, &LostError{Worker: 3, Reason: Regressed}},
		"free for others inside my time": {&Row{State: Free, Fence: 5, Floor: -1000, Ceiling: 9}, false, false, &LostError{Worker: 3, Reason: Regressed}},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, tick := holding(t, 0)
			if test.row != nil {
				test.row.Floor += tick
				test.row.Ceiling += tick
			}
			q, _ := m.Release(uint64(tick + 10))
			released, err := m.Released(q, test.row, test.unknown)
			if released != test.released || !reflect.DeepEqual(err, test.err) {
				t.Errorf("released %t, %v, want %t, %v", released, err, test.released, test.err)
			}
		})
	}
}

// A statement whose outcome is unknown counts when a later write of its row is
// confirmed, not when the row shows it.
func TestReadConfirmsNothing(t *testing.T) {
	for _, loss := range []time.Duration{0, 5 * time.Second} {
		m, now, tick := holding(t, loss)
		m.holding = nil
		m.attempt = attempt{Holding: Holding{Worker: 9, owner: "mine", Fence: 1}, seen: tick}
		m.step = takeWindow
		state := Granted
		if loss > 0 {
			m.step, state = claimNumber, Claimed
		}
		m.Handle(m.Request(now), Reply{Err: errors.New("cut")}, now.Mono, now)
		if m.step != readAttempt {
			t.Fatalf("step %q after a cut connection", m.step)
		}
		shown := &Row{State: state, Owner: "mine", Fence: 2, Floor: tick, Ceiling: tick}
		if state == Granted {
			shown.Ceiling = tick + 10*m.params.Ticks(m.window) // by a Fence, say
		}
		if out := m.Handle(m.Request(now), Reply{Row: shown, Now: now.Wall.UnixMicro()}, now.Mono, now); out.Open != nil || m.attempt.claimed || m.step != confirmRow {
			t.Fatalf("loss %v: a look at the row counts: %+v, step %q", loss, out, m.step)
		}
		q := m.Request(now)
		if q.Ask != AskConfirm || q.Worker != 9 || q.Owner != "mine" || q.Fence != 2 || q.Seen != shown.Ceiling || q.State != state {
			t.Fatalf("loss %v: confirms with %+v", loss, q)
		}
		out := m.Handle(q, Reply{Changed: true, Now: now.Wall.UnixMicro()}, now.Mono, now)
		if loss == 0 && (out.Open == nil || out.Open.Floor != tick || out.Open.Ceiling != tick+m.params.Ticks(m.window)) {
			t.Errorf("confirmed, but opens %+v", out.Open)
		}
		if loss > 0 && (m.step != beginWindow || m.at < now.Mono+m.params.Probation) {
			t.Errorf("step %q at %v after the confirmation", m.step, m.at-now.Mono)
		}
	}
}

// A write that was done at a time at which it was not to be done counts as one of unknown outcome.
func TestWriteOutOfTime(t *testing.T) {
	for _, write := range []step{takeWindow, claimNumber, beginWindow} {
		for _, off := range []int64{-1, 1} {
			m, now, tick := holding(t, 5*time.Second)
			m.holding = nil
			m.attempt = attempt{Holding: Holding{Worker: 9, owner: "mine", Fence: 1}, seen: tick}
			m.step = write
			q := m.Request(now)
			done := q.Earliest - 1
			if off > 0 {
				done = q.Latest + 1
			}
			out := m.Handle(q, Reply{Changed: true, Now: done}, now.Mono, now)
			if !errors.Is(out.Err, dberrors.ErrBadReply) || out.Open != nil || m.step != readAttempt {
				t.Errorf("%s, %d µs out of time: %+v, step %q", write, off, out, m.step)
			}
		}
	}
}

// Renew does not make the first window, or a renewal, come too soon.
func TestHurry(t *testing.T) {
	m, now, _ := holding(t, 5*time.Second)
	at := m.at
	if m.Hurry(now.Mono + m.params.MinRenew - 1); m.at != at {
		t.Error("a renewal is sent before its time")
	}
	if m.Hurry(now.Mono + m.params.MinRenew); m.at != now.Mono+m.params.MinRenew {
		t.Error("a renewal is not brought forward")
	}
	m.attempt.owner = "mine"
	awaitProbation(m, now)
	at = m.at
	if m.Hurry(now.Mono); m.at != at || at < now.Mono+m.params.Probation {
		t.Errorf("the first window is asked for after %v", m.at-now.Mono)
	}
	m, now, _ = holding(t, 0)
	if m.Hurry(now.Mono); m.at != now.Mono {
		t.Error("a renewal is not brought forward")
	}
}

// However far ids are ahead of the database's clock, the window that a renewal gives lasts until the next renewal, or
// ids wait for the clock. Leads and windows are whole ticks, which short windows feel: with three ticks of a second,
// ids may still wait for a part of a tick.
func TestWindowsReachTheNextRenewal(t *testing.T) {
	for _, tick := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond} {
		for _, ticks := range []time.Duration{3, 4, 10, 60} {
			for ahead := time.Duration(0); ahead < 40*time.Second; ahead += 370 * time.Millisecond {
				window := ticks * tick
				m := &Machine{
					params: simParams(simLayout(tick), 8, 0, window, window), window: window, random: rand.New(rand.NewPCG(1, 2)),
					clock: serverClock{maxSkew: DefaultMaxSkew}, owner: NewOwner,
				}
				now := Reading{Mono: time.Hour, Wall: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).Add(ahead * 7 % tick)}
				us := now.Wall.UnixMicro()
				if err := m.clock.observe(us, now.Mono, now); err != nil {
					t.Fatal(err)
				}
				now.Running = us + ahead.Microseconds()
				floor := m.params.TickAt(us)
				m.Opened(&Holding{Worker: 3, owner: "me", Fence: 5, Floor: floor - 1, Ceiling: floor + 1, renewed: now.Mono}, now)
				out := m.Handle(m.Request(now), Reply{Changed: true, Now: us}, now.Mono, now)
				running := now.Running
				if out.Retreat != 0 {
					running = out.Retreat
				}
				latest := m.params.RenewEvery(window) * 6 / 5
				if reached := m.params.TickAt(running + latest.Microseconds()); reached >= m.holding.Ceiling {
					t.Errorf("ticks of %v, a window of %d, %v ahead: ids reach tick %d before the next renewal, and the window ends at %d", tick, ticks, ahead, reached, m.holding.Ceiling)
				}
			}
		}
	}
}
