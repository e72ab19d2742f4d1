//go:build unix

package functiontest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

// testMaking makes ids in 16 sessions, some of which roll back, beside generators of the same namespace.
func testMaking(t *testing.T, target Target) { make16(t, target, snow.Default(), 0) }

func testMakingWithLanes(t *testing.T, target Target) {
	layout, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), 10*time.Millisecond, snow.Bits{Timestamp: 38, Worker: 5, Sequence: 6, Shard: 3, Lane: 3, Span: 10})
	if err != nil {
		t.Fatal(err)
	}
	make16(t, target, layout, 3)
}

func make16(t *testing.T, target Target, layout snow.Layout, lane int) {
	server := target.server(t)
	db := target.open(t, server, server.CreateDatabase(t))
	worker := target.prepare(t, db, layout)
	made, start := newLedger(), time.Now()
	var all sync.WaitGroup
	done := make(chan struct{})
	for n := range 2 {
		keys := generator(t, db, target.Dialect)
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				ids := make([]snow.ID, 20)
				if err := keys.Fill(t.Context(), ids); err != nil {
					t.Error(err)
					return
				}
				made.add(t, fmt.Sprint("generator ", n), ids...)
			}
		})
	}
	var sessions sync.WaitGroup
	var rows [16]int
	for n := range rows {
		sessions.Go(func() {
			for i := range 40 {
				count := 1 + i%13
				ids, err := insert(t.Context(), db, n*1000+i, count, i%3 != 0)
				if err != nil {
					t.Error(err)
					return
				}
				rows[n] += count
				made.add(t, fmt.Sprint("session ", n), ids...)
				for _, id := range ids {
					p, err := layout.Decompose(id)
					if err != nil || p.Worker != worker || p.Time.After(time.Now()) || p.Time.Before(start.Add(-time.Second)) {
						t.Errorf("%d: got %+v %v, want worker %d, and a time between %v and now", id, p, err, worker, start)
					}
				}
			}
		})
	}
	sessions.Wait()
	took := time.Since(start)
	close(done)
	all.Wait()
	total := 0
	for _, n := range rows {
		total += n
	}
	t.Logf("%d rows in %v: %.0f rows/s; %d ids in all", total, took, float64(total)/took.Seconds(), len(made.ids))
	lanes, shards := make(map[uint64]int), make(map[uint64]int)
	for id, who := range made.ids {
		if strings.HasPrefix(who, "session") {
			p, _ := layout.Decompose(id)
			lanes[p.Sequence>>(layout.Bits().Sequence-layout.Bits().Lane)]++
			shards[p.Shard]++
		}
	}
	if len(lanes) != 1<<lane || len(shards) != 1<<layout.Bits().Shard {
		t.Errorf("got %d lanes and %d shards, want %d and %d", len(lanes), len(shards), 1<<lane, 1<<layout.Bits().Shard)
	}
	for shard, n := range shards {
		if even := total / len(shards); n < even/2 || n > 2*even {
			t.Errorf("shard %d has %d of %d ids", shard, n, total)
		}
	}
}

// testNoWaits makes many ids in transactions that are open at the same time. None waits until another one ends.
func testNoWaits(t *testing.T, target Target) {
	server := target.server(t)
	db := target.open(t, server, server.CreateDatabase(t))
	target.prepare(t, db, snow.Default())
	impatient := "SET SESSION innodb_lock_wait_timeout = 5"
	if target.Dialect == sqlsnow.Postgres {
		impatient = "SET lock_timeout = '5s'"
	}
	var open []*sql.Tx
	for range 4 {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer discard(conn)
		if _, err := conn.ExecContext(t.Context(), impatient); err != nil {
			t.Fatal(err)
		}
		tx, err := conn.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, tx)
	}
	var statements sync.WaitGroup
	for _, tx := range open {
		statements.Go(func() {
			for range 40 {
				if _, err := tx.ExecContext(t.Context(), "INSERT INTO made (batch) VALUES "+strings.Repeat("(0), ", 99)+"(0)"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	statements.Wait()
	for _, tx := range open {
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	}
}

// coarse has ticks of a second, and few ids in each: what is made again is made twice.
func coarse(t *testing.T) snow.Layout {
	t.Helper()
	l, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Second, snow.Bits{Timestamp: 30, Worker: 4, Sequence: 8})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// testCrash kills the server again and again.
func testCrash(t *testing.T, target Target) {
	server := target.server(t, target.private()...)
	name := server.CreateDatabase(t)
	made, batch := newLedger(), 0
	target.prepare(t, target.open(t, server, name), coarse(t))
	for round := range 3 {
		db := target.open(t, server, name)
		mustInsert(t, db, made, fmt.Sprint("start ", round), &batch, 12)
		held, err := db.BeginTx(t.Context(), nil) // a transaction that never ends
		if err != nil {
			t.Fatal(err)
		}
		var id snow.ID
		if err := held.QueryRowContext(t.Context(), "SELECT snow_next_id()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		made.add(t, "open transaction", id)
		server.Kill(t)
		_ = held.Rollback()
		server.Restart(t)
	}
}

// private are options that make the server one of the test's own.
func (target Target) private() []string {
	if target.Dialect == sqlsnow.MySQL {
		return []string{"server-id=1"}
	}
	return []string{"max_connections=60"}
}

// testLostHistory puts a server back to an earlier state, three times to the same one.
func testLostHistory(t *testing.T, target Target) {
	server := target.server(t, target.private()...)
	name := server.CreateDatabase(t)
	made, batch := newLedger(), 0
	db := target.open(t, server, name)
	target.prepare(t, db, coarse(t))
	mustInsert(t, db, made, "kept", &batch, 6)
	server.Keep(t)
	for round := range 3 {
		mustInsert(t, target.open(t, server, name), made, fmt.Sprint("lost ", round), &batch, 12)
		server.PutBack(t)
	}
	mustInsert(t, target.open(t, server, name), made, "last", &batch, 12)
}

// testFailover promotes a replica that lacks what the primary did last, and whose clock is a second behind.
func testFailover(t *testing.T, target Target) {
	t.Run("later", func(t *testing.T) { target.failOver(t, true) })
	t.Run("at once", func(t *testing.T) { target.failOver(t, false) })
}

// failOver is testFailover, with or without a checkpoint of the replica since Install.
func (target Target) failOver(t *testing.T, checkpoint bool) {
	var primary, replica *dbtest.Server
	if target.Dialect == sqlsnow.MySQL {
		primary = target.server(t, "server-id=1", "log-bin=binlog")
		replica = target.server(t, "server-id=2", "log-bin=binlog", "read-only=1")
		replica.SetClock(t, -time.Second)
		replica.Follow(t, primary)
	} else {
		primary = target.server(t, target.private()...)
		replica = primary.Replica(t)
		replica.SetClock(t, -time.Second)
	}
	name := primary.CreateDatabase(t)
	db := target.open(t, primary, name)
	target.prepare(t, db, coarse(t))
	made, batch := newLedger(), 0
	mustInsert(t, db, made, "replicated", &batch, 12)
	if checkpoint && target.Dialect == sqlsnow.Postgres {
		exec(t, db, "CHECKPOINT")
		replica.CatchUp(t, primary)
		exec(t, target.open(t, replica, name), "CHECKPOINT")
	}
	replica.CatchUp(t, primary)
	if ids, err := insert(t.Context(), target.open(t, replica, name), -1, 1, true); err == nil {
		t.Errorf("the replica made %d", ids)
	}
	replica.Unfollow(t)
	mustInsert(t, db, made, "lost", &batch, 24)
	primary.Kill(t)
	replica.Promote(t)
	promoted := target.open(t, replica, name)
	if !checkpoint { // see the counters of PostgreSQL
		if _, err := functions.Install(t.Context(), promoted, target.Dialect, functions.Config{Namespace: namespace}); err != nil {
			t.Fatal(err)
		}
	}
	mustInsert(t, promoted, made, "promoted", &batch, 24)
}

// testClockSetBack sets the clock back by little, which is waited for, and by an hour, which is an error, also after a start.
func testClockSetBack(t *testing.T, target Target) {
	server := target.server(t, target.private()...)
	server.SetClock(t, 0)
	name := server.CreateDatabase(t)
	db := target.open(t, server, name)
	target.prepare(t, db, snow.Default())
	made, batch := newLedger(), 0
	mustInsert(t, db, made, "before", &batch, 4)
	server.SetClock(t, -2*time.Second)
	mustInsert(t, db, made, "2 s behind", &batch, 4)
	for _, restart := range []bool{false, true} {
		server.SetClock(t, -time.Hour)
		if restart {
			server.Restart(t)
			db = target.open(t, server, name)
		}
		for _, one := range []*sql.DB{db, target.open(t, server, name)} {
			if ids, err := insert(t.Context(), one, -1, 1, false); err == nil || !strings.Contains(err.Error(), "behind the ids") {
				t.Errorf("an hour behind, restart %v: got %d and %v, want an error", restart, ids, err)
			}
		}
	}
	server.SetClock(t, 0)
	mustInsert(t, db, made, "after", &batch, 4)
}

// testRenumber installs again, and takes another number.
func testRenumber(t *testing.T, target Target) {
	server := target.server(t)
	db := target.open(t, server, server.CreateDatabase(t))
	first := target.prepare(t, db, coarse(t))
	made, batch := newLedger(), 0
	mustInsert(t, db, made, "first", &batch, 8)
	cfg := functions.Config{Namespace: namespace}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if again, err := functions.Install(t.Context(), db, target.Dialect, cfg); err != nil || again != first {
				t.Errorf("Install again: got %d and %v, want %d", again, err, first)
			}
		})
	}
	all.Wait()
	mustInsert(t, db, made, "again", &batch, 8)
	other, err := functions.Renumber(t.Context(), db, target.Dialect, cfg)
	if err != nil || other == first {
		t.Fatalf("Renumber: got %d and %v, want another than %d", other, err, first)
	}
	ids, err := insert(t.Context(), db, 1000, 8, true)
	if err != nil {
		t.Fatal(err)
	}
	made.add(t, "renumbered", ids...)
	for _, id := range ids {
		if p, _ := coarse(t).Decompose(id); p.Worker != other {
			t.Errorf("%d has worker %d, want %d", id, p.Worker, other)
		}
	}
}

func testRefusals(t *testing.T, target Target) {
	server := target.server(t)
	db := target.open(t, server, server.CreateDatabase(t))
	install := func() error {
		_, err := functions.Install(t.Context(), db, target.Dialect, functions.Config{Namespace: namespace})
		return err
	}
	if err := install(); !errors.Is(err, sqlsnow.ErrNotMigrated) {
		t.Errorf("without tables: got %v", err)
	}
	if err := sqlsnow.Migrate(t.Context(), db, target.Dialect); err != nil {
		t.Fatal(err)
	}
	if err := install(); !errors.Is(err, sqlsnow.ErrNoNamespace) {
		t.Errorf("without the namespace: got %v", err)
	}
	if err := sqlsnow.Init(t.Context(), db, target.Dialect, sqlsnow.Namespace{Name: namespace, Layout: snow.Default(), Workers: 8}); err != nil {
		t.Fatal(err)
	}
	foreign := "CREATE FUNCTION snow_next_id() RETURNS BIGINT DETERMINISTIC NO SQL RETURN 1"
	if target.Dialect == sqlsnow.Postgres {
		foreign = "CREATE FUNCTION snow_next_id() RETURNS bigint LANGUAGE sql AS 'SELECT CAST(1 AS bigint)'"
	}
	exec(t, db, foreign)
	var field *snow.FieldError
	if err := install(); !errors.As(err, &field) || field.Field != "function" {
		t.Errorf("with a function of the same name: got %v", err)
	}
	exec(t, db, "DROP FUNCTION snow_next_id")
	target.read(t, db, snow.Clustered())
	if err := install(); !errors.As(err, &field) || field.Field != "function" {
		t.Errorf("with functions of another layout: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := functions.Install(ctx, db, target.Dialect, functions.Config{Namespace: namespace}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}
