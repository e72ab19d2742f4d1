//go:build unix

package protocol_test

import (
	"cmp"
	"database/sql"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/registry"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// TestSimulationIsTheSQL sends the same requests, for the same rows and at the same
// time, to the registry of the simulation and to a server, and compares replies and
// rows.
func TestSimulationIsTheSQL(t *testing.T) {
	server := dbtest.MariaDB(t)
	ctx := t.Context()
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := sqlsnow.Migrate(ctx, db, sqlsnow.MySQL); err != nil {
		t.Fatal(err)
	}
	seed := cmp.Or(*protocol.SimSeed, rand.Uint64())
	t.Logf("-sim.seed=%d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	changed := map[protocol.Ask]int{}
	for i, loss := range []time.Duration{0, 5 * time.Second, 25 * time.Second} {
		tick := []time.Duration{time.Millisecond, 10 * time.Millisecond, time.Second}[i]
		ns := sqlsnow.Namespace{Name: strconv.Itoa(i), Layout: protocol.SimLayout(tick), Workers: 3, LossWindow: loss, Window: time.Minute}
		if err := sqlsnow.Init(ctx, db, sqlsnow.MySQL, ns); err != nil {
			t.Fatal(err)
		}
		engine, err := dbserver.For(sqlsnow.MySQL)
		if err != nil {
			t.Fatal(err)
		}
		params, err := registry.Read(ctx, engine, db, ns.Name)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			d := &simDiff{t: t, db: db, random: r, memory: protocol.NewSimRegistry(params)}
			if q := d.compare(protocol.SimStart + r.Int64N(3_600_000_000)); d.changed {
				changed[q.Ask]++
			}
		}
	}
	for _, ask := range protocol.Asks() {
		if ask.Writes() && changed[ask] == 0 {
			t.Errorf("no %v (%d) had an effect: %v", ask, ask, changed)
		}
	}
	t.Logf("had an effect: %v", changed)
}

type simDiff struct {
	t       *testing.T
	db      *sql.DB
	random  *rand.Rand
	memory  *protocol.SimRegistry
	changed bool
}

// near returns a number close to v, to try the limits of comparisons with v.
func (d *simDiff) near(v int64, by ...int64) int64 {
	return v + by[d.random.IntN(len(by))] + []int64{0, 0, 0, -1, 1}[d.random.IntN(5)]
}

func (d *simDiff) compare(us int64) protocol.Request {
	t, m, r := d.t, &d.memory.Params, d.random
	tick, ms := m.TickAt(us), us/1000
	tx, err := d.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }() // after a failure
	asks := protocol.Asks()[1:]          // all but asking for the server
	q := protocol.Request{Ask: asks[r.IntN(len(asks))], Worker: int64(r.IntN(4)), Holder: "H"}
	q.State = []protocol.State{protocol.Claimed, protocol.Granted}[r.IntN(2)]
	q.Start, q.End = int64(r.IntN(3)), int64(1+r.IntN(3))
	apt := r.IntN(2) == 0 // or a random one, which seldom has an effect
	for i := range d.memory.Rows {
		row := &d.memory.Rows[i]
		row.State, row.Fence, row.Owner = protocol.State(r.IntN(4)), int64(r.IntN(3)), "a"
		if row.State == protocol.Free || row.State == protocol.Reserved {
			row.Owner = ""
		}
		row.Ceiling = d.near(tick, 0, 0, m.Ticks(protocol.Slack), -m.Ticks(m.Grace), m.Ticks(m.Window))
		row.Floor = d.near(row.Ceiling, 0, -m.Ticks(m.First), -m.Ticks(m.Window))
		row.Claimed = d.near(ms, 0, -m.Probation.Milliseconds(), -m.Claim.Milliseconds(), -(m.Claim + m.Grace).Milliseconds())
		row.Renewed = d.near(ms, 0, -m.MinRenew.Milliseconds(), -2*m.RenewEvery(m.Window).Milliseconds()-1000)
		row.Holder = "h"
		if apt {
			d.suit(row, q.Ask, tick, ms)
			if q.Ask == protocol.AskConfirm {
				row.State = q.State
			}
		}
		d.write(tx, int64(i), row)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	before := d.memory.Rows[q.Worker%3]
	q.Owner, q.Fence, q.Seen = []string{"a", "a", "a", "a", "a", "b"}[r.IntN(6)], before.Fence, before.Ceiling
	switch r.IntN(8) {
	case 0:
		q.Fence++
	case 1:
		q.Seen++
	}
	q.Acked = d.near(before.Ceiling, 0, 0, -10)
	q.Window, q.State = m.Ticks(m.Window), before.State
	q.Cap = d.near(q.Acked, 0, m.Ticks(m.Raise), m.Ticks(m.Window))
	q.Next = d.near(before.Floor, 0, 1, 5)
	q.Earliest, q.Latest = d.near(us, -1_000_000, -1_000_000, -1_000_000, 0), d.near(us, 1_000_000, 1_000_000, 1_000_000, 0)
	if apt {
		q.Owner, q.Fence, q.Seen, q.Acked = "a", before.Fence, before.Ceiling, before.Ceiling
		q.Earliest, q.Latest = us-1_000_000, us+1_000_000
	}

	server, err := dbserver.For(sqlsnow.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	server.Now = strconv.FormatInt(us, 10)
	rows := &registry.Registry{DB: d.db, Engine: server, Params: *m}
	got := rows.Do(t.Context(), q)
	got.Asked, got.Answered = time.Time{}, time.Time{} // in a simulation, requests do not wait for a connection
	want := d.memory.Do(q, us, 0, 1)
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	d.changed = want.Changed
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v (%d) at tick %d:\n%+v\nof %+v\nthe server replies  %+v (row %+v)\nthe simulation      %+v (row %+v)",
			q.Ask, q.Ask, tick, q, before, got, got.Row, want, want.Row)
	}
	for i := range d.memory.Rows {
		want := d.memory.Rows[i]
		want.By = 0
		if got := d.read(int64(i)); got != want {
			t.Fatalf("%v (%d) at tick %d:\n%+v\nof %+v\nthe server makes    %+v\nthe simulation      %+v",
				q.Ask, q.Ask, tick, q, before, got, want)
		}
	}
	d.fence(rows, us)
	return q
}

// suit changes a row so that a request of its holder has an effect on it.
func (d *simDiff) suit(row *protocol.SimRow, ask protocol.Ask, tick, ms int64) {
	m := &d.memory.Params
	row.State, row.Owner = protocol.Granted, "a"
	switch ask {
	case protocol.AskTake, protocol.AskClaim:
		row.Ceiling = tick - m.Ticks(m.Grace)
	case protocol.AskGrant, protocol.AskAbandon:
		row.State, row.Ceiling, row.Claimed = protocol.Claimed, tick, ms-m.Probation.Milliseconds()-500
	case protocol.AskRenew:
		row.Ceiling, row.Renewed = tick+m.Ticks(m.First), ms-m.MinRenew.Milliseconds()
	}
}

// fence compares what Fence does, now and then.
func (d *simDiff) fence(rows *registry.Registry, us int64) {
	if d.random.IntN(20) > 0 {
		return
	}
	local := us + d.random.Int64N(60_000_001) - 30_000_000
	if _, err := rows.Fence(d.t.Context(), time.UnixMicro(local)); err != nil {
		d.t.Fatal(err)
	}
	d.memory.Fence(us, local, 0)
	if n, err := rows.Fenced(d.t.Context(), time.UnixMicro(local)); err != nil || n != int64(len(d.memory.Rows)) {
		d.t.Fatalf("Fenced finds %d rows, %v", n, err)
	}
	later := local + d.memory.Params.Window.Microseconds()*10
	if n, err := rows.Fenced(d.t.Context(), time.UnixMicro(later)); err != nil || n == int64(len(d.memory.Rows)) {
		d.t.Fatalf("Fenced finds %d rows that are fenced up to a later time, %v", n, err)
	}
	for i := range d.memory.Rows {
		want := d.memory.Rows[i]
		want.By = 0
		if got := d.read(int64(i)); got != want {
			d.t.Fatalf("Fence: the server makes %+v, the simulation %+v", got, want)
		}
	}
}

func (d *simDiff) write(tx *sql.Tx, worker int64, row *protocol.SimRow) {
	_, err := tx.ExecContext(d.t.Context(), `UPDATE snow_workers SET state = ?, owner = NULLIF(?, ''), fence = ?,
		floor_tick = ?, ceiling_tick = ?,
		claimed_at_ms = ?, renewed_at_ms = ?, holder = ? WHERE namespace = ? AND worker_id = ?`,
		row.State, row.Owner, row.Fence, row.Floor, row.Ceiling, row.Claimed, row.Renewed, row.Holder, d.memory.Params.Name, worker)
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *simDiff) read(worker int64) (row protocol.SimRow) {
	err := d.db.QueryRowContext(d.t.Context(), `SELECT state, COALESCE(owner, ''), fence, floor_tick, ceiling_tick,
		claimed_at_ms, renewed_at_ms, holder
		FROM snow_workers WHERE namespace = ? AND worker_id = ?`, d.memory.Params.Name, worker).
		Scan(&row.State, &row.Owner, &row.Fence, &row.Floor, &row.Ceiling, &row.Claimed, &row.Renewed, &row.Holder)
	if err != nil {
		d.t.Fatal(err)
	}
	return row
}
