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
				w.outage(w.refuse, w.accept)
			},
		},
		{
			name: "packets lost for longer than the window", proxied: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 8, Window: 3 * time.Second},
			play:      func(w *world) { w.outage(w.silence, w.speak) },
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
	for _, p := range w.proxies {
		p.odds.Store(30)
	}
	for _, p := range holders {
		before, _ := p.report()
		p.await(w, "failed to renew", func(r report) bool { return r.Failures > before.Failures+3 })
	}
	holders[0].await(w, "saw all kinds of cuts", func(report) bool {
		for kind := range cutKinds {
			if w.cuts(kind) < 10 {
				return false
			}
		}
		return true
	})
	for _, p := range w.proxies {
		p.odds.Store(0)
	}
	w.renew(holders)
	executed2, heard2 := w.writes(holders)
	w.Logf("cut before, after and late: %d, %d, %d; %d statements executed, %d renewals acknowledged",
		w.cuts(cutBefore), w.cuts(cutAfter), w.cuts(cutLate), executed2-executed, heard2-heard)
	if executed2-executed <= int64(heard2-heard) {
		w.Error("every renewal that was executed was also acknowledged: no connection was cut during one")
	}
}

// writes returns how many writes the database has executed, and how many of them the processes know of.
func (w *world) writes(processes []*process) (executed int64, heard uint64) {
	w.Helper()
	if w.store != nil {
		n, err := w.store.Executed(w.Context(), w.direct, w.job.Namespace)
		if err != nil {
			w.Fatal(err)
		}
		executed = n
	} else if err := w.db.QueryRowContext(w.Context(), "SELECT SUM(renew_seq) FROM snow_workers").Scan(&executed); err != nil {
		w.Fatal(err)
	}
	for _, p := range processes {
		r, _ := p.report()
		heard += r.Renewals + r.Swaps
	}
	return executed, heard
}

// refuse cuts all connections to the servers, and refuses new ones, until accept.
func (w *world) refuse() {
	for _, p := range w.proxies {
		p.refuse()
	}
}

func (w *world) accept() {
	w.Helper()
	for _, p := range w.proxies {
		p.accept(w)
	}
}

// silence holds everything back that comes from the servers or goes to them, until speak.
func (w *world) silence() {
	for _, p := range w.proxies {
		p.silence()
	}
}

func (w *world) speak() {
	for _, p := range w.proxies {
		p.speak()
	}
}

// cuts returns how many requests were cut in one way.
func (w *world) cuts(kind int) (n int64) {
	for _, p := range w.proxies {
		n += p.cuts[kind].Load()
	}
	return n
}
