//go:build unix

package leasefaults

import (
	"database/sql"
	"strings"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

func failovers() []scenario {
	return []scenario{
		{
			name: "history lost, LossWindow 10 s", private: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 20, LossWindow: 10 * time.Second, Window: time.Minute},
			play:      (*world).failOver,
		},
		{
			name: "history lost, LossWindow 0", private: true, lossy: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 12, Window: 12 * time.Second},
			play:      (*world).failOverUnprepared,
		},
		{
			name: "commits not replicated, LossWindow 10 s", private: true, follower: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 20, LossWindow: 10 * time.Second, Window: time.Minute},
			play:      (*world).failOver,
		},
		{
			name: "commits not replicated, LossWindow 0", private: true, follower: true, lossy: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 12, Window: 12 * time.Second},
			play:      (*world).failOverUnprepared,
		},
		{
			name: "switch-over, connections stay", private: true, follower: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 12, Window: 5 * time.Second},
			play:      (*world).switchOver,
		},
	}
}

// keep begins the time that is lost: what the server commits from now on will be gone.
func (w *world) keep() {
	w.Helper()
	if w.replica == nil {
		w.server.Keep(w)
		return
	}
	w.replica.Refollow(w)
	w.replica.CatchUp(w, w.server)
	w.replica.Unfollow(w)
}

// lose ends it: the server comes back without, or is killed and its replica takes its place.
func (w *world) lose() {
	w.Helper()
	if w.replica == nil {
		w.server.PutBack(w)
		return
	}
	w.server.Kill(w)
	w.replica.Promote(w)
	w.proxy.turn(w.replica.Addr())
}

// switchOver makes the replica the primary while connections to the old one stay open. It is read-only, and nothing
// is written there any more.
func (w *world) switchOver() {
	holders := w.start(6)
	w.begin(holders)
	w.server.Demote(w)
	w.replica.CatchUp(w, w.server)
	old, err := sql.Open(w.target.Driver, strings.Replace(w.job.DSN, w.proxy.addr, w.server.Addr(), 1))
	if err != nil {
		w.Fatal(err)
	}
	defer old.Close()
	renewals := func() (n int64) {
		if err := old.QueryRowContext(w.Context(), "SELECT SUM(renew_seq) FROM snow_workers").Scan(&n); err != nil {
			w.Fatal(err)
		}
		return n
	}
	before := renewals()
	w.replica.Promote(w)
	w.proxy.turn(w.replica.Addr())
	w.renew(holders)
	w.begin(w.start(4))
	if after := renewals(); after != before {
		w.Errorf("the old primary counts %d renewals, and %d later", before, after)
	}
}

// lost is how much history is undone at least. The test has to wait that long, because the wait is part of the fault.
const lost = 4 * time.Second

// failOver undoes claims, renewals and a release. It stops the processes whose renewals were undone until others
// have their numbers. The constants of a namespace with a loss window must make this safe.
func (w *world) failOver() {
	holders := w.start(8)
	w.begin(holders)
	longest := w.scenario.namespace.LossWindow
	var begin time.Time
	var over <-chan time.Time
	var before map[*process]uint64
	for renewed := false; !renewed; {
		begin = time.Now()
		w.keep()
		over = time.After(lost)
		w.reported(holders)
		before = renewals(holders)
		renewed = w.renewed(holders[:6], before, time.After(longest/2))
	}
	w.start(4) // whose claims are lost
	holders[7].leave()
	holders[6].kill(w)
	holders = holders[:6]
	<-over
	after := renewals(holders) // later ones may reach the server that comes back
	w.lose()
	if d := time.Since(begin); d > longest { // such as beside many busy processes
		w.Logf("%v of history were lost, more than the namespace allows: ids may repeat", d)
		w.scenario.lossy = true
	}

	var forgotten []*process
	for _, p := range holders {
		if after[p] > before[p] {
			forgotten = append(forgotten, p)
		}
	}
	w.Logf("renewals of %d processes were lost", len(forgotten))
	first := forgotten[0]
	stopped := forgotten[1:]
	each(stopped, func(p *process) { p.stop(w) })
	first.await(w, "reported what was lost", func(r report) bool {
		// Only if its window ended during the failover, as on a busy machine, can others have the number before.
		return r.Regressed+r.OtherLosses > 0 || r.Displaced > 0 && r.Expired > 0
	})
	// some are free until the rivals come
	first.await(w, "has another number", func(r report) bool { return r.Swaps > 0 })
	flow(w, first)
	rivals := w.start(2, func(j *job) { j.Leases = 10 }) // as many leases as there are numbers
	w.succeeded(stopped)
	each(stopped, func(p *process) { p.resume(w) })
	for _, p := range stopped {
		p.await(w, "lost its number", func(r report) bool { return r.Displaced+r.Regressed+r.OtherLosses > 0 })
	}
	each(rivals, func(p *process) { p.leave() })
	w.begin(holders)
}

// renewed waits until three of the processes have renewed, or until over.
func (w *world) renewed(processes []*process, before map[*process]uint64, over <-chan time.Time) bool {
	for {
		n := 0
		for p, now := range renewals(processes) {
			if now > before[p] {
				n++
			}
		}
		if n >= 3 {
			return true
		}
		select {
		case <-over:
			return false
		case <-time.After(reportTime):
		}
	}
}

// succeeded waits until other processes issue ids with the numbers that these processes had.
func (w *world) succeeded(processes []*process) {
	w.Helper()
	for looks := 0; ; looks++ {
		all, err := sqlsnow.Workers(w.Context(), w.db, w.target.Dialect, w.job.Namespace)
		if err != nil {
			w.Fatal(err)
		}
		left := 0
		for _, p := range processes {
			r, _ := p.report()
			if at := all[r.Worker]; at.State != sqlsnow.Granted || at.Holder == p.name {
				left++
			}
		}
		if left == 0 {
			return
		}
		if looks > patience {
			w.Fatalf("%d numbers have not been leased again: %+v", left, all)
		}
		time.Sleep(reportTime) // there is no event to wait for
	}
}

// failOverUnprepared undoes renewals of a namespace without a loss window. Ids may repeat, but the leases must
// notice and report it.
func (w *world) failOverUnprepared() {
	holders := w.start(4)
	w.begin(holders)
	w.keep()
	over := time.After(lost)
	w.reported(holders)
	before := renewals(holders)
	forgotten := w.start(8) // whose leases are lost
	w.begin(forgotten)
	for _, p := range holders {
		p.await(w, "renewed", func(r report) bool { return r.Renewals > before[p] })
	}
	<-over
	all := append(holders, forgotten...)
	each(all, func(p *process) { p.stop(w) })
	w.lose()
	// they get the numbers of the forgotten leases, and of holders whose leases have expired meanwhile
	heirs := w.start(8)
	w.begin(heirs)
	workers, err := sqlsnow.Workers(w.Context(), w.db, w.target.Dialect, w.job.Namespace)
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range holders {
		// nobody takes the number while the others are stopped
		if r, _ := p.report(); workers[r.Worker].Holder == p.name {
			p.resume(w)
			p.await(w, "found that a renewal was forgotten", func(r report) bool { return r.Regressed > 0 })
			break
		}
	}
	each(all, func(p *process) { p.resume(w) })
	for _, p := range all {
		p.await(w, "reported that its number was lost", func(r report) bool { return r.Regressed+r.Displaced > 0 })
	}
	each(heirs, func(p *process) { p.leave() })
	flow(w, all...)
}
