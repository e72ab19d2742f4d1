//go:build unix

package leasefaults

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// storeScenarios are the scenarios of SQL databases that need nothing of SQL, and the faults of a cluster.
func storeScenarios(target *StoreTarget) []scenario {
	var all []scenario
	for _, some := range [][]scenario{storms(), outages(), pauses(), pins(), clocks()} {
		all = append(all, some...)
	}
	all = slices.DeleteFunc(all, func(s scenario) bool { return s.private || s.clock && target.OwnClock })
	slices.SortStableFunc(all, func(a, b scenario) int { return cmp.Compare(last(a), last(b)) })
	faults := []scenario{
		{
			name:      "1000 acquirers for 64 numbers",
			namespace: sqlsnow.Namespace{Workers: 64}, long: true,
			play: func(w *world) { w.storm(1000, 64) },
		},
		{
			name:      "leader killed",
			namespace: sqlsnow.Namespace{Workers: 12, Window: 3 * time.Second},
			play:      func(w *world) { w.lead(2, w.store.Cluster.KillLeader) },
		},
		{
			name:      "leader stopped",
			namespace: sqlsnow.Namespace{Workers: 12, Window: 3 * time.Second}, long: true,
			play: func(w *world) { w.lead(2, w.store.Cluster.StopLeader) },
		},
		{
			name:      "a member loses its disk",
			namespace: sqlsnow.Namespace{Workers: 12, Window: 3 * time.Second}, long: true,
			play: func(w *world) { w.lead(2, w.store.Cluster.LoseMember) },
		},
		{
			name:      "quorum lost for longer than the window",
			namespace: sqlsnow.Namespace{Workers: 8, Window: 3 * time.Second},
			play:      (*world).withoutQuorum,
		},
		{
			name:      "an older state put back, and Fence",
			namespace: sqlsnow.Namespace{Workers: 12}, long: true,
			play: (*world).putBack,
		},
	}
	for _, s := range faults {
		s.alone = true // the servers are everybody's
		all = append(all, s)
	}
	return all
}

// last is 1 for a scenario that runs when no other one does.
func last(s scenario) int {
	if s.alone {
		return 1
	}
	return 0
}

// lead takes a member away again and again, while processes begin, renew and end.
func (w *world) lead(rounds int, fault func(tb testing.TB) (end func())) {
	holders := w.start(6)
	w.begin(holders)
	for range rounds {
		fresh := w.start(2) // the fault may meet any of their first requests
		end := fault(w)
		w.begin(fresh)
		w.renew(holders)
		end()
		w.renew(holders)
		each(fresh, func(p *process) { p.kill(w) })
	}
}

// withoutQuorum takes the majority away until no process has a tick left.
func (w *world) withoutQuorum() {
	holders := w.start(6)
	w.begin(holders)
	end := w.store.Cluster.LoseQuorum(w)
	w.expire(holders)
	w.toTheCeiling(holders)
	end()
	flow(w, holders...)
	for _, p := range holders {
		if r, _ := p.report(); r.Ended > 0 || r.Failures == 0 {
			w.Errorf("%s: %d leases ended and %d failed renewals, want none and some", p.name, r.Ended, r.Failures)
		}
	}
	w.begin(w.start(2))
}

// putBack makes the store forget windows that processes use, and fences before anybody acquires. Processes whose
// number is in the copy go on. The others can't know who may have theirs now, and stop.
func (w *world) putBack() {
	known := w.start(3)
	w.begin(known)
	end := w.store.Cluster.RestoreCopy(w)
	forgotten := w.start(3)
	w.begin(forgotten)
	w.renew(known)
	each(w.processes, func(p *process) { p.stop(w) }) // so that none of them looks for another number before Fence
	end()
	if err := w.store.Fence(w.Context(), w.direct, w.job.Namespace); err != nil {
		w.Fatal(err)
	}
	fresh := w.start(2)
	for _, p := range fresh {
		p.await(w, "was refused", func(r report) bool { return r.NoWorker > 0 })
	}
	each(known, func(p *process) { p.resume(w) })
	each(forgotten, func(p *process) { p.resume(w) })
	for _, p := range forgotten {
		p.await(w, "lost its number", func(r report) bool { return r.Regressed > 0 && r.Expired > r.Resumed })
	}
	w.renew(known)
	for _, p := range fresh {
		if r, _ := p.report(); r.Acquired > 0 {
			w.Errorf("%s: acquired a number that is fenced", p.name)
		}
	}
}
