//go:build unix

package leasefaults

import (
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

func pins() []scenario {
	return []scenario{
		{
			// The window is longer than the test waits, so only a release can free the number.
			name:      "two processes pin one number and the first leaves",
			namespace: sqlsnow.Namespace{Workers: 8, Window: 10 * time.Minute, PinnedWindow: 10 * time.Minute},
			play:      (*world).handOver,
		},
		{
			name: "two processes pin one number and the first dies or is stopped", long: true,
			namespace: sqlsnow.Namespace{Workers: 8, Window: 10 * time.Minute, PinnedWindow: 2 * time.Second},
			play:      (*world).inherit,
		},
	}
}

const pinned = 5

func pin(j *job) {
	number := uint64(pinned)
	j.Pin, j.Patient = &number, false
}

func (w *world) handOver() {
	first := w.start(1, pin)[0]
	w.pinned(first)
	// it tries again if the machine was too busy for an answer
	hasty := w.start(1, pin, func(j *job) { j.Timeout, j.Patient = 2*time.Second, true })[0]
	r := hasty.await(w, "was refused because somebody has the number", func(r report) bool { return r.Held > 0 })
	if r.HeldBy != first.name {
		w.Errorf("refused because of holder %q, want %q", r.HeldBy, first.name)
	}
	hasty.leave()
	hasty.left(w)
	second := w.start(1, pin)[0]
	w.live([]*process{second}, 5*reportTime)
	if r, _ := second.report(); r.Acquired+r.Refused > 0 {
		w.Errorf("%s: did not wait for a number that is held: %v", second.name, r)
	}
	flow(w, first)
	first.leave()
	w.pinned(second)
	if r := first.left(w); r.Closed != 1 {
		w.Errorf("%s: not closed: %s", first.name, r.Failure)
	}
}

func (w *world) inherit() {
	first := w.start(1, pin)[0]
	w.pinned(first)
	second := w.start(1, pin)[0]
	w.live([]*process{second}, 5*reportTime)
	first.kill(w)
	w.pinned(second)

	third := w.start(1, pin)[0]
	w.live([]*process{third}, 5*reportTime)
	second.stop(w)
	w.pinned(third)
	second.resume(w)
	w.outlived(second)
	flow(w, third)
}

// pinned waits until a process issues ids of the number that it asked for.
func (w *world) pinned(p *process) {
	w.Helper()
	w.begin([]*process{p})
	if r, _ := p.report(); r.Worker != pinned {
		w.Errorf("%s: got number %d, want %d", p.name, r.Worker, pinned)
	}
}
