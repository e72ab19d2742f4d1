//go:build unix

package leasefaults

import (
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

func clocks() []scenario {
	return []scenario{
		{
			name: "the database's clock steps by an hour", private: true, long: true,
			namespace: sqlsnow.Namespace{Workers: 14, Window: 3 * time.Second},
			play:      (*world).stepDatabase,
		},
		{
			name: "a process's clock is wrong by a day", long: true, clock: true,
			namespace: sqlsnow.Namespace{Workers: 12, Window: 2 * time.Second},
			play:      (*world).stepProcess,
		},
	}
}

// stepDatabase steps the clock of the database, there and back, either way.
func (w *world) stepDatabase() {
	w.server.SetClock(w, 0)
	holders := w.start(6)
	w.begin(holders)
	for _, step := range []time.Duration{-time.Hour, time.Hour} {
		before := make(map[*process]uint64)
		for _, p := range holders {
			r, _ := p.report()
			before[p] = r.ClockErrors
		}
		w.server.SetClock(w, step)
		fresh := w.start(8) // to a database whose clock is ahead, every window is over
		for _, p := range holders {
			p.await(w, "reported the clock", func(r report) bool { return r.ClockErrors > before[p] })
		}
		for _, p := range fresh {
			p.await(w, "was refused for the clock", func(r report) bool { return r.Clock > 3 })
		}
		if step < 0 { // no ceiling is raised; with a clock that is ahead, ceilings may rise by the allowed skew
			w.expire(holders)
			w.toTheCeiling(holders)
		}
		for _, p := range fresh {
			if r, _ := p.report(); r.Acquired > 0 || r.Refused != r.Clock {
				w.Errorf("%s: %v; want nothing but ClockErrors", p.name, r)
			}
		}
		w.server.SetClock(w, 0)
		w.renew(holders)
		for _, p := range holders {
			if r, _ := p.report(); r.Ended > 0 {
				w.Errorf("%s: the lease ended", p.name)
			}
		}
		w.begin(fresh)
		each(fresh, func(p *process) { p.leave() })
		each(fresh, func(p *process) { p.left(w) })
	}
}

// stepProcess runs processes with a wall clock that is wrong from the beginning, or steps while they have a lease.
func (w *world) stepProcess() {
	program := w.buildShifted()
	healthy := w.start(2)
	for _, shift := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		wrong := w.startProgram(program, func(j *job) { j.WallShift, j.Patient = shift, false })
		r := wrong.await(w, "was refused", func(r report) bool { return r.Refused > 0 })
		if r.Clock != 1 {
			w.Errorf("%s: clock off by %v: refused with %q, want a ClockError", wrong.name, shift, r.Failure)
		}

		stepped := []*process{w.startProgram(program)}
		w.begin(stepped)
		for _, command := range []string{"wall " + shift.String(), "wall 0s"} {
			stepped[0].command(command)
			w.renew(stepped)
			w.renew(stepped)
			if r, _ := stepped[0].report(); r.Ended > 0 || r.Refused > 0 {
				w.Errorf("%s: %q: %v", stepped[0].name, command, r)
			}
		}
	}
	w.begin(healthy)
}
