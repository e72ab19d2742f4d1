//go:build unix

package leasefaults

import (
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

func pauses() []scenario {
	return []scenario{
		{
			name:      "SIGSTOP for longer than the window",
			namespace: sqlsnow.Namespace{Workers: 6, Window: 2 * time.Second},
			play:      (*world).outlive,
		},
		{
			name: "SIGSTOP at random", long: true,
			namespace: sqlsnow.Namespace{Workers: 6, Window: 2 * time.Second},
			play:      (*world).stutter,
		},
	}
}

// outlive stops all holders until others have their numbers.
func (w *world) outlive() {
	first := w.start(6)
	w.begin(first)
	second := w.start(6)
	each(second, func(p *process) {
		p.await(w, "was refused, or quicker than a renewal", func(r report) bool { return r.NoWorker+r.Acquired > 0 })
	})
	each(first, func(p *process) { p.stop(w) })
	w.begin(second)
	each(first, func(p *process) { p.resume(w) })
	// The stopped processes have neither ticks left nor numbers to swap to.
	for _, p := range first {
		p.await(w, "expired and was displaced", func(r report) bool { return r.Expired > r.Resumed && r.Displaced > 0 })
	}
	flow(w, second...)
	each(second, func(p *process) { p.leave() })
	for _, p := range first {
		p.await(w, "went on with another number", func(r report) bool { return r.Swaps > 0 && r.Resumed > 0 })
	}
	flow(w, first...)
}

// stutter runs two processes for each number, and stops each of them again and again, for about the length of a window.
func (w *world) stutter() {
	all := w.start(12)
	each(all, func(p *process) { p.await(w, "started", func(r report) bool { return r.Acquired+r.Refused > 0 }) })
	for round := range 6 {
		stopped := all[round%2*6 : round%2*6+6]
		each(stopped, func(p *process) { p.stop(w) })
		// Let the other processes run for about a window.
		w.live(all[(round+1)%2*6:][:6], 3*time.Second/2+time.Duration(round)*2*reportTime)
		each(stopped, func(p *process) { p.resume(w) })
	}
	// One half leaves, so that every process of the other half gets a number.
	each(all[:6], func(p *process) { p.leave() })
	w.begin(all[6:])
}
