//go:build unix

package leasefaults

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

func storms() []scenario {
	return []scenario{
		{
			name: "1000 acquirers for 1024 numbers", alone: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 1024},
			play:      func(w *world) { w.storm(1000, 1024) },
		},
		{
			name: "1100 acquirers for 1024 numbers", alone: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 1024},
			play:      func(w *world) { w.storm(1100, 1024) },
		},
		{
			name: "rolling restart of 50 processes", alone: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 64},
			play:      (*world).roll,
		},
		{
			name: "SIGKILL and restart at once", long: true,
			namespace: sqlsnow.Namespace{Workers: 12, Window: 2 * time.Second},
			play:      (*world).killAll,
		},
	}
}

// storm acquires n leases at the same instant, from ten processes.
func (w *world) storm(n, numbers int) {
	const processes = 10
	started := w.start(processes, func(j *job) {
		j.Leases, j.Limit, j.Wait, j.Patient = n/processes, 2*batch, true, false
	})
	each(started, func(p *process) { p.await(w, "is ready", func(r report) bool { return r.Serial > 0 }) })
	begin := time.Now()
	each(started, func(p *process) { p.command("go") })
	var acquired, none, refused uint64
	for _, p := range started {
		r := p.await(w, "ended its attempts", func(r report) bool { return r.Acquired+r.Refused == uint64(n/processes) })
		acquired, none, refused = acquired+r.Acquired, none+r.NoWorker, refused+r.Refused
		if r.Refused != r.NoWorker {
			w.Errorf("%s: %s", p.name, r.Failure)
		}
	}
	w.Logf("%d acquired in %v", acquired, time.Since(begin).Round(time.Millisecond))
	want := uint64(min(n, numbers))
	if acquired != want || none != uint64(n)-want {
		w.Errorf("%d acquired and %d found no number; want %d and %d", acquired, none, want, uint64(n)-want)
	}
	for _, p := range started {
		p.await(w, "issued the ids of all its leases", func(r report) bool { return r.Issued >= r.Acquired*2*batch })
	}
	w.judgeNumbers(int(want))
}

// judgeNumbers checks that want worker numbers were used, each by one lease.
func (w *world) judgeNumbers(want int) {
	l, err := readLedger(w.job.Dir, layout())
	if err != nil {
		w.Fatal(err)
	}
	if l.Files != want || l.Numbers != want {
		w.Errorf("%d leases issued ids of %d numbers, want %d of each", l.Files, l.Numbers, want)
	}
}

// roll replaces processes under load, some at a time, the new ones before the old ones leave.
func (w *world) roll() {
	const surge = 10
	impatient := func(j *job) { j.Patient = false }
	old := w.start(50, impatient)
	w.begin(old)
	for len(old) > 0 {
		w.begin(w.start(surge, impatient))
		each(old[:surge], func(p *process) { p.leave() })
		for _, p := range old[:surge] {
			if r := p.left(w); r.Closed != 1 {
				w.Errorf("%s: not closed: %s", p.name, r.Failure)
			}
		}
		old = old[surge:]
	}
}

// killAll kills all processes at random moments, and starts new ones, for which there are too few free numbers.
func (w *world) killAll() {
	for round := range 6 {
		processes := w.start(8)
		if round%2 == 0 {
			w.begin(processes)
		} else {
			// One of them is killed somewhere between its start and its first id.
			any := rand.IntN(len(processes))
			processes[any].await(w, "started", func(r report) bool { return r.Serial > 0 })
		}
		each(processes, func(p *process) { p.kill(w) })
	}
	last := w.start(8)
	w.begin(last)
	if l, err := readLedger(w.job.Dir, layout()); err != nil || l.Files <= 12 {
		w.Errorf("%v leases, %v: no number was leased again", fmt.Sprint(l), err)
	}
}
