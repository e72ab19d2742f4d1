package sqlsnowtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// A window is a window that a holder was granted. If the test moved the number's row into the past, the time that
// passed is added to the ticks, so that all windows of a number can be compared.
type window struct {
	worker       uint64
	owner        string
	holder       string
	floor, until int64
}

// A history is a random sequence of actions of several leases, and every window that they were granted.
type history struct {
	*space
	random  *rand.Rand
	before  []row
	passed  []int64 // for each number, the ticks by which its row was moved into the past
	windows []window
	current map[string]int // of the windows, by owner
	leases  map[string]*holder
	ids     map[snow.ID]bool // with that time added
	n       int
	trace   []string
}

func randomHistories(s *suite) {
	for name, layout := range map[string]string{
		"milliseconds":  "41+0+10+12+0/1ms@2024-01-01T00:00:00Z",
		"centiseconds":  "39+2+4+10+8/10ms@2020-02-02T02:02:02.002Z",
		"odd intervals": "40+1+3+14+0/3.7ms@2010-11-04T01:42:54.657Z",
	} {
		l, err := snow.ParseLayout(layout)
		if err != nil {
			s.Fatal(err)
		}
		h := &history{
			space:   s.space(sqlsnow.Namespace{Name: strings.ReplaceAll(name, " ", "-"), Layout: l, Workers: 6}),
			random:  rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
			current: map[string]int{},
			leases:  map[string]*holder{},
			ids:     map[snow.ID]bool{},
		}
		h.before, h.passed = h.rows(), make([]int64, h.ns.Workers)
		for range 200 {
			h.step()
			h.observe()
			if s.Failed() {
				s.Fatalf("layout of %s, after:\n%s", name, strings.Join(h.trace, "\n"))
			}
		}
		if len(h.windows) < 10 || len(h.ids) < 100 {
			s.Errorf("got %d windows and %d ids, want more of them for a test", len(h.windows), len(h.ids))
		}
		for _, l := range h.leases {
			l.close()
		}
		h.observe()
	}
}

func (h *history) note(format string, args ...any) {
	h.trace = append(h.trace, fmt.Sprintf(format, args...))
}

// step does something at random.
func (h *history) step() {
	h.Helper()
	if len(h.leases) == 0 || h.random.IntN(4) == 0 {
		if !h.acquireAny() {
			h.pass()
		}
		return
	}
	names := slices.Sorted(maps.Keys(h.leases))
	name := names[h.random.IntN(len(names))]
	l := h.leases[name]
	l.next()
	worker := l.worker()
	switch h.random.IntN(12) {
	case 0, 1:
		h.note("%s renews", name)
		l.renew()
	case 2, 3:
		h.note("%s closes %d", name, worker)
		delete(h.leases, name)
		_, last := h.parts(l.last)
		if got := l.close(); got.ceiling <= last && got.worker == worker && got.owner == "" {
			h.Errorf("closed with the ceiling %d and an id in tick %d", got.ceiling, last)
		}
		_ = l.db.Close()
		return
	case 4, 5:
		h.note("%s crashes with %d", name, worker)
		delete(h.leases, name)
		l.crash()
		return
	case 6:
		h.note("%s is displaced from %d", name, worker)
		if h.eligible(h.now()-h.ticks(time.Minute)) == 0 {
			h.note("not, for there is no other number")
			return
		}
		h.give(worker)
		h.afterLoss(l)
	case 7:
		h.note("%s finds %d gone back", name, worker)
		if h.eligible(h.now()-h.ticks(time.Minute)) == 0 {
			h.note("not, for there is no other number")
			return
		}
		back := h.ticks(time.Duration(1+h.random.IntN(300)) * time.Second)
		h.set(worker, "ceiling_tick = ceiling_tick - ?, renew_seq = renew_seq - 1", back)
		h.before[worker].ceiling -= back
		h.before[worker].renewals--
		h.afterLoss(l)
	default:
		h.pass()
	}
	for range h.random.IntN(20) {
		h.makeID(l)
	}
}

// afterLoss renews a lease that has lost its number, so that it gets another one.
func (h *history) afterLoss(l *holder) {
	h.Helper()
	swaps := l.Stats().Swaps
	if err := l.Renew(h.Context()); err != nil {
		_ = wantAs[*sqlsnow.LostError](h.suite, "Renew", err)
	}
	l.swapped(swaps + 1)
	h.note("and has %d now", l.worker())
}

// acquireAny acquires a number for a new lease, if one is free.
func (h *history) acquireAny() bool {
	h.Helper()
	h.n++
	cfg := sqlsnow.LeaseConfig{Holder: fmt.Sprintf("holder-%d", h.n)}
	surely := h.eligible(h.now() - h.ticks(100*time.Millisecond))
	db := h.open()
	l, err := h.tryAcquire(h.Context(), db, cfg)
	if err != nil {
		_ = db.Close() // servers have few connections
		h.note("%s gets no number", cfg.Holder)
		_ = wantAs[*sqlsnow.NoWorkerError](h.suite, "Acquire", err)
		if surely > 0 {
			h.Errorf("Acquire: got %v, and %d numbers are free", err, surely)
		}
		return false
	}
	h.note("%s acquires %d", cfg.Holder, l.worker())
	h.leases[cfg.Holder] = l
	h.makeID(l)
	return true
}

// eligible counts the numbers that are free at a tick.
func (h *history) eligible(now int64) (n int) {
	h.Helper()
	for _, r := range h.rows() {
		if h.isFree(r, now) {
			n++
		}
	}
	return n
}

func (h *history) isFree(r row, now int64) bool {
	return r.state == free && r.ceiling <= now+h.ticks(2*time.Second) || r.state == granted && r.ceiling <= now
}

// pass moves the row of a number whose holder is gone into the past, often to about the end of its window.
func (h *history) pass() {
	h.Helper()
	live := map[string]bool{}
	for name := range h.leases {
		live[name] = true
	}
	for _, i := range h.random.Perm(len(h.before)) {
		r := h.row(uint64(i))
		if r.state == granted && live[r.holder] || r.fence == 0 {
			continue
		}
		left := r.ceiling - h.now()
		ticks := max(0, []int64{left / 2, left - h.ticks(5*time.Second), left + 1, left + h.ticks(time.Minute)}[h.random.IntN(4)])
		d := time.Duration(ticks) * h.ns.Layout.Tick()
		h.note("%v pass for %d, which had %v left", d, i, time.Duration(left)*h.ns.Layout.Tick())
		h.age(uint64(i), d)
		h.passed[i] += ticks
		h.before[i].floor -= ticks
		h.before[i].ceiling -= ticks
		return
	}
}

// makeID makes an id and keeps it. observe checks the windows of its holder.
func (h *history) makeID(l *holder) {
	h.Helper()
	id := l.next()
	p, err := h.ns.Layout.Decompose(id)
	if err != nil {
		h.Fatal(err)
	}
	p.Time = p.Time.Add(time.Duration(h.passed[p.Worker]) * h.ns.Layout.Tick())
	p.Shard = 0
	if id, err = h.ns.Layout.Compose(p); err != nil {
		h.Fatal(err)
	}
	if h.ids[id] {
		h.Errorf("id %d was made before", id)
	}
	h.ids[id] = true
	h.observe()
	tick := h.tick(p.Time)
	if !slices.ContainsFunc(h.windows, func(w window) bool {
		return w.worker == p.Worker && w.floor <= tick && tick < w.until
	}) {
		h.Errorf("id of worker %d in tick %d: nobody has a window there", p.Worker, tick)
	}
}

// observe compares the rows with the rows of the last time, and with every window ever granted.
func (h *history) observe() {
	h.Helper()
	rows, now := h.rows(), h.now()
	latest := now + h.ticks(10*time.Minute) + h.ticks(3*time.Second)
	for i, r := range rows {
		was, passed := h.before[i], h.passed[i]
		if r.fence < was.fence || r.renewals < was.renewals || r.fence == was.fence && r.owner != was.owner && r.state != free {
			h.Errorf("worker %d: got %+v after %+v, want a fence and a renew_seq that grow", i, r, was)
		}
		if (r.owner == "") != (r.state == free) || r.floor > r.ceiling && r.state == granted || r.ceiling > latest && r.holder != other {
			h.Errorf("worker %d: got %+v at %d, want a row that makes sense", i, r, now)
		}
		if was.state == granted && r.owner != was.owner {
			w := &h.windows[h.current[was.owner]]
			if r.state == free { // released
				w.until = max(w.floor, r.ceiling+passed)
				if r.ceiling > was.ceiling && r.ceiling > latest {
					h.Errorf("worker %d: got %+v after %+v, want a release that lowers the ceiling", i, r, was)
				}
			} else if r.floor < was.ceiling || r.holder != other && r.floor < now-h.ticks(time.Minute) {
				h.Errorf("worker %d: got %+v after %+v, want a floor that is not before the former ceiling", i, r, was)
			}
		}
		if r.state != granted {
			continue
		}
		n, known := h.current[r.owner]
		switch {
		case known:
			if r.floor != was.floor || r.ceiling < was.ceiling {
				h.Errorf("worker %d: got %+v after %+v, want the same floor, and no lower ceiling", i, r, was)
			}
			h.windows[n].until = max(h.windows[n].until, r.ceiling+passed)
		default:
			n = len(h.windows)
			h.current[r.owner] = n
			h.windows = append(h.windows, window{r.worker, r.owner, r.holder, r.floor + passed, r.ceiling + passed})
		}
		for m, w := range h.windows {
			if g := h.windows[n]; m != n && w.worker == g.worker && w.floor < g.until && g.floor < w.until {
				h.Errorf("windows of one number overlap: %+v and %+v", w, g)
				return
			}
		}
	}
	h.before = rows
}
