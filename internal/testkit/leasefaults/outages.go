//go:build unix

package leasefaults

import (
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

func outages() []scenario {
	return []scenario{
		{
			name: "connections refused for longer than the window", proxied: true,
			namespace: sqlsnow.Namespace{Workers: 8, Window: 3 * time.Second},
			play: func(w *world) {
				w.outage(func() { w.proxy.refuse() }, func() { w.proxy.accept(w) })
			},
		},
		{
			name: "packets lost for longer than the window", proxied: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 8, Window: 3 * time.Second},
			play:      func(w *world) { w.outage(w.proxy.silence, w.proxy.speak) },
		},
		{
			name: "database stopped for longer than the window", private: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 8, Window: 3 * time.Second},
			play: func(w *world) {
				w.outage(func() { w.server.Stop(w) }, func() { w.server.Continue(w) })
			},
		},
		{
			name: "database killed", private: true,
			namespace: sqlsnow.Namespace{Workers: 12, Window: 2 * time.Second},
			play:      (*world).crash,
		},
		{
			name: "connections cut in the middle of renewals", proxied: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 12, Window: 2 * time.Second},
			play:      (*world).cut,
		},
	}
}

// outage takes the database away until no process has a tick left, twice.
func (w *world) outage(begin, end func()) {
	holders := w.start(6)
	w.begin(holders)
	for range 2 {
		begin()
		w.expire(holders)
		w.toTheCeiling(holders)
		late := w.start(2) // can't begin in an outage
		each(late, func(p *process) { p.await(w, "started", func(r report) bool { return r.Serial > 1 }) })
		for _, p := range late {
			if r, _ := p.report(); r.Acquired > 0 {
				w.Errorf("%s: acquired a lease from a database out of reach", p.name)
			}
		}
		end()
		flow(w, holders...)
		for _, p := range holders {
			if r, _ := p.report(); r.Ended > 0 || r.Failures == 0 {
				w.Errorf("%s: %d leases ended and %d failed renewals, want none and some", p.name, r.Ended, r.Failures)
			}
		}
		w.begin(late)
		each(late, func(p *process) { p.leave() })
	}
}

// crash kills the database under load, three times. The last time it stays away until ids have stopped.
func (w *world) crash() {
	holders := w.start(6)
	w.begin(holders)
	for round := range 3 {
		fresh := w.start(2) // the kill may meet any of their first statements
		w.server.Kill(w)
		if round == 2 {
			w.expire(holders)
		}
		w.server.Restart(w)
		w.begin(fresh)
		w.renew(holders)
		each(fresh, func(p *process) { p.kill(w) })
	}
}

// cut cuts connections while requests are under way. The client never learns whether its statement was executed,
// and some statements are executed long after.
func (w *world) cut() {
	holders := w.start(8)
	w.begin(holders)
	executed, heard := w.writes(holders)
	w.proxy.odds.Store(30)
	for _, p := range holders {
		before, _ := p.report()
		p.await(w, "failed to renew", func(r report) bool { return r.Failures > before.Failures+3 })
	}
	holders[0].await(w, "saw all kinds of cuts", func(report) bool {
		for kind := range w.proxy.cuts {
			if w.proxy.cuts[kind].Load() < 10 {
				return false
			}
		}
		return true
	})
	w.proxy.odds.Store(0)
	w.renew(holders)
	executed2, heard2 := w.writes(holders)
	w.Logf("cut before, after and late: %d, %d, %d; %d statements executed, %d renewals acknowledged",
		w.proxy.cuts[cutBefore].Load(), w.proxy.cuts[cutAfter].Load(), w.proxy.cuts[cutLate].Load(), executed2-executed, heard2-heard)
	if executed2-executed <= int64(heard2-heard) {
		w.Error("every renewal that was executed was also acknowledged: no connection was cut during one")
	}
}

// writes returns how many writes the database has executed, and how many of them the processes know of.
func (w *world) writes(processes []*process) (executed int64, heard uint64) {
	w.Helper()
	if err := w.db.QueryRowContext(w.Context(), "SELECT SUM(renew_seq) FROM snow_workers").Scan(&executed); err != nil {
		w.Fatal(err)
	}
	for _, p := range processes {
		r, _ := p.report()
		heard += r.Renewals + r.Swaps
	}
	return executed, heard
}
