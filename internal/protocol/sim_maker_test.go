package protocol

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// A simMaker is a database that makes ids in SQL with a reserved number: see package functions. It uses each tick
// at most once, and asks the registry only when it is installed.
type simMaker struct {
	world  *simWorld
	holder string
	number int64 // -1 if it has none
	usable bool
	off    time.Duration // of its clock from true time
	last   int64
}

func (w *simWorld) addMakers() {
	for i := range w.plan.makers {
		m := &simMaker{world: w, holder: "maker " + strconv.Itoa(i), number: -1, off: w.symmetric(2 * time.Second), last: math.MinInt64}
		w.makers = append(w.makers, m)
		w.after(0, m.install)
		w.after(w.upTo(time.Second), m.keepUsing)
	}
}

// install is functions.Install: it reserves a number, or the one that the database has again.
func (m *simMaker) install() {
	w := m.world
	got := int64(-1)
	switch {
	case m.number >= 0 && !w.plan.flaws.anyNumber:
		if w.registry.reclaim(m.number, m.holder, w.now) {
			got = m.number
		}
	default:
		got = w.registry.reserve(m.holder, w.plan.flaws.anyNumber, w.now)
	}
	if got < 0 {
		w.tracef("%s gets no number, and had %d", m.holder, m.number)
		m.usable = m.usable && w.plan.flaws.unclaimed
		return
	}
	if w.plan.flaws.anyNumber {
		m.number, m.usable = got, true
	}
	w.tracef("%s has number %d", m.holder, got)
	w.after(w.plan.params.Probation, func() {
		if row := w.registry.Rows[got]; row.State == Reserved && row.Holder == m.holder {
			m.number, m.usable = got, true // the functions never have a number before it is confirmed
		} else {
			m.install()
		}
	})
}

func (m *simMaker) keepUsing() {
	w := m.world
	if tick := w.plan.params.TickAt(simStart + (w.now + m.off).Microseconds()); m.usable && tick > m.last {
		i, found := slices.BinarySearch(w.used[m.number], tick)
		if found {
			w.fail("I1: %s uses tick %d of worker %d, which was used before", m.holder, tick, m.number)
		}
		w.used[m.number] = slices.Insert(w.used[m.number], i, tick)
		m.last = tick
	}
	w.after(time.Duration(w.random.ExpFloat64()*float64(2*time.Second)), m.keepUsing)
}

// reserve takes the highest number that was never leased or fenced, or with any one that was never leased.
func (r *simRegistry) reserve(holder string, anyNumber bool, at time.Duration) int64 {
	for i := int64(len(r.Rows)) - 1; i >= 0; i-- {
		if row := r.Rows[i]; row.State == Free && row.Fence == 0 && (row.Ceiling == 0 || anyNumber) {
			r.setReserved(i, holder, at)
			return i
		}
	}
	return -1
}

// reclaim takes a certain number, unless it was leased or is another holder's.
func (r *simRegistry) reclaim(number int64, holder string, at time.Duration) bool {
	row := r.Rows[number]
	if row.State == Free && row.Fence == 0 {
		r.setReserved(number, holder, at)
		return true
	}
	return row.State == Reserved && row.Holder == holder
}

func (r *simRegistry) setReserved(number int64, holder string, at time.Duration) {
	row := &r.Rows[number]
	r.log = append(r.log, simCommit{at, number, *row})
	row.State, row.Holder, row.Owner = Reserved, holder, holder
	row.Fence++
}
