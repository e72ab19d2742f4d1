//go:build unix

package sqlsnow

import (
	"cmp"
	"database/sql"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/dbtest"
)

// TestSimulationIsTheSQL asks the registry of the simulation and a server the
// same, about the same rows and at the same time, and compares what they make
// of it.
func TestSimulationIsTheSQL(t *testing.T) {
	server := dbtest.MariaDB(t)
	ctx := t.Context()
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := Migrate(ctx, db, MySQL); err != nil {
		t.Fatal(err)
	}
	seed := cmp.Or(*simSeed, rand.Uint64())
	t.Logf("-sim.seed=%d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	changed := map[ask]int{}
	for i, loss := range []time.Duration{0, 5 * time.Second, 25 * time.Second} {
		tick := []time.Duration{time.Millisecond, 10 * time.Millisecond, time.Second}[i]
		ns := Namespace{Name: strconv.Itoa(i), Layout: simLayout(tick), Workers: 3, LossWindow: loss, Window: time.Minute}
		if err := Init(ctx, db, MySQL, ns); err != nil {
			t.Fatal(err)
		}
		terms, err := mysqlEngine().readTerms(ctx, db, ns.Name)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			d := &simDiff{t: t, db: db, random: r, memory: newSimRegistry(terms)}
			if q := d.compare(simStart + r.Int64N(3_600_000_000)); d.changed {
				changed[q.ask]++
			}
		}
	}
	for ask := askTake; ask <= askAbandon; ask++ {
		if changed[ask] == 0 {
			t.Errorf("no %v (%d) had an effect: %v", ask, ask, changed)
		}
	}
	t.Logf("had an effect: %v", changed)
}

type simDiff struct {
	t       *testing.T
	db      *sql.DB
	random  *rand.Rand
	memory  *simRegistry
	changed bool
}

// near returns a number that a comparison with v may be sensitive to.
func (d *simDiff) near(v int64, by ...int64) int64 {
	return v + by[d.random.IntN(len(by))] + []int64{0, 0, 0, -1, 1}[d.random.IntN(5)]
}

func (d *simDiff) compare(us int64) request {
	t, m, r := d.t, &d.memory.terms, d.random
	tick, ms := m.tickAt(us), us/1000
	tx, err := d.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }() // after a failure
	q := request{ask: askFree + ask(r.IntN(int(askAbandon-askFree)+1)), worker: int64(r.IntN(4)), holder: "H"}
	q.state = []WorkerState{Claimed, Granted}[r.IntN(2)]
	q.start, q.end = int64(r.IntN(3)), int64(1+r.IntN(3))
	apt := r.IntN(2) == 0 // or a random one, which seldom has an effect
	for i := range d.memory.rows {
		row := &d.memory.rows[i]
		row.state, row.fence, row.owner = WorkerState(r.IntN(4)), int64(r.IntN(3)), "a"
		if row.state == Free || row.state == Reserved {
			row.owner = ""
		}
		row.ceiling = d.near(tick, 0, 0, m.ticks(slack), -m.ticks(m.grace), m.ticks(m.window))
		row.floor = d.near(row.ceiling, 0, -m.ticks(m.first), -m.ticks(m.window))
		row.claimed = d.near(ms, 0, -m.probation.Milliseconds(), -m.claim.Milliseconds(), -(m.claim + m.grace).Milliseconds())
		row.renewed = d.near(ms, 0, -m.minRenew.Milliseconds(), -2*renewEvery(m.window).Milliseconds()-1000)
		row.holder = "h"
		if apt {
			d.suit(row, q.ask, tick, ms)
			if q.ask == askConfirm {
				row.state = q.state
			}
		}
		d.write(tx, int64(i), row)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	before := d.memory.rows[q.worker%3]
	q.owner, q.fence, q.seen = []string{"a", "a", "a", "a", "a", "b"}[r.IntN(6)], before.fence, before.ceiling
	switch r.IntN(8) {
	case 0:
		q.fence++
	case 1:
		q.seen++
	}
	q.acked = d.near(before.ceiling, 0, 0, -10)
	q.window, q.state = m.ticks(m.window), before.state
	q.cap = d.near(q.acked, 0, m.ticks(m.raise), m.ticks(m.window))
	q.next = d.near(before.floor, 0, 1, 5)
	q.earliest, q.latest = d.near(us, -1_000_000, -1_000_000, -1_000_000, 0), d.near(us, 1_000_000, 1_000_000, 1_000_000, 0)
	if apt {
		q.owner, q.fence, q.seen, q.acked = "a", before.fence, before.ceiling, before.ceiling
		q.earliest, q.latest = us-1_000_000, us+1_000_000
	}

	e := *mysqlEngine()
	e.now = strconv.FormatInt(us, 10)
	engine := newEngine(e)
	got := (&registry{d.db, engine, *m}).do(t.Context(), q)
	want := d.memory.do(q, us, 0, 1)
	if got.err != nil {
		t.Fatal(got.err)
	}
	d.changed = want.changed
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v (%d) at tick %d:\n%+v\nof %+v\nthe server replies  %+v (row %+v)\nthe simulation      %+v (row %+v)",
			q.ask, q.ask, tick, q, before, got, got.row, want, want.row)
	}
	for i := range d.memory.rows {
		want := d.memory.rows[i]
		want.by = 0
		if got := d.read(int64(i)); got != want {
			t.Fatalf("%v (%d) at tick %d:\n%+v\nof %+v\nthe server makes    %+v\nthe simulation      %+v",
				q.ask, q.ask, tick, q, before, got, want)
		}
	}
	d.fence(engine, us)
	return q
}

// suit makes a row one that a request has an effect on, if it is its holder's.
func (d *simDiff) suit(row *simRow, ask ask, tick, ms int64) {
	m := &d.memory.terms
	row.state, row.owner = Granted, "a"
	switch ask {
	case askTake, askClaim:
		row.ceiling = tick - m.ticks(m.grace)
	case askGrant, askAbandon:
		row.state, row.ceiling, row.claimed = Claimed, tick, ms-m.probation.Milliseconds()-500
	case askRenew:
		row.ceiling, row.renewed = tick+m.ticks(m.first), ms-m.minRenew.Milliseconds()
	}
}

// fence compares what Fence does, now and then.
func (d *simDiff) fence(e *engine, us int64) {
	if d.random.IntN(20) > 0 {
		return
	}
	m := &d.memory.terms
	s := e.compile(updateFence)
	values := (&registry{engine: e, terms: *m}).values(request{window: m.ticks(max(m.window, m.pinned) + defaultMaxSkew)})
	err := e.alone(d.t.Context(), d.db, toLease, func(on *session) (bool, error) {
		n, _, err := on.exec(d.t.Context(), s, values)
		return n > 0, err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.memory.fence(us)
	for i := range d.memory.rows {
		want := d.memory.rows[i]
		want.by = 0
		if got := d.read(int64(i)); got != want {
			d.t.Fatalf("Fence: the server makes %+v, the simulation %+v", got, want)
		}
	}
}

func (d *simDiff) write(tx *sql.Tx, worker int64, row *simRow) {
	_, err := tx.ExecContext(d.t.Context(), `UPDATE snow_workers SET state = ?, owner = NULLIF(?, ''), fence = ?,
		floor_tick = ?, ceiling_tick = ?,
		claimed_at_ms = ?, renewed_at_ms = ?, holder = ? WHERE namespace = ? AND worker_id = ?`,
		row.state, row.owner, row.fence, row.floor, row.ceiling, row.claimed, row.renewed, row.holder, d.memory.terms.name, worker)
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *simDiff) read(worker int64) (row simRow) {
	err := d.db.QueryRowContext(d.t.Context(), `SELECT state, COALESCE(owner, ''), fence, floor_tick, ceiling_tick,
		claimed_at_ms, renewed_at_ms, holder
		FROM snow_workers WHERE namespace = ? AND worker_id = ?`, d.memory.terms.name, worker).
		Scan(&row.state, &row.owner, &row.fence, &row.floor, &row.ceiling, &row.claimed, &row.renewed, &row.holder)
	if err != nil {
		d.t.Fatal(err)
	}
	return row
}
