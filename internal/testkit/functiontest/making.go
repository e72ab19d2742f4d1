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
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

// testMaking makes ids in 16 sessions, beside generators of the same namespace. Some of the sessions roll back.
func testMaking(t *testing.T, target Target) { make16(t, target, snow.DefaultLayout(), 0) }

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
	options := target.private()
	if target.Dialect == sqlsnow.MySQL {
		// MariaDB's format is MIXED, for which reads in functions lock rows
		options = append(options, "log-bin=binlog")
	}
	server := target.server(t, options...)
	db := target.open(t, server, server.CreateDatabase(t))
	target.prepare(t, db, snow.DefaultLayout())
	begin := func(isolation sql.IsolationLevel) *sql.Tx {
		t.Helper()
		impatient := "SET SESSION innodb_lock_wait_timeout = 5"
		if target.Dialect == sqlsnow.Postgres {
			impatient = "SET lock_timeout = '5s'"
		}
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { discard(conn) })
		if _, err := conn.ExecContext(t.Context(), impatient); err != nil {
			t.Fatal(err)
		}
		tx, err := conn.BeginTx(t.Context(), &sql.TxOptions{Isolation: isolation})
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	target.first(t, begin)
	var open []*sql.Tx
	for range 4 {
		open = append(open, begin(sql.LevelDefault))
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

// first makes the first id of a database, or of a new primary, in a transaction that stays open. Others that begin,
// and transactions that saw the database before, go on.
func (target Target) first(t *testing.T, begin func(sql.IsolationLevel) *sql.Tx) {
	call := func(what string, tx *sql.Tx) {
		var id snow.ID
		if err := tx.QueryRowContext(t.Context(), "SELECT snow_next_id()").Scan(&id); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	const see = "SELECT COUNT(*) FROM made"
	var before []*sql.Tx
	for _, isolation := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelSerializable} {
		tx := begin(isolation)
		if _, err := tx.ExecContext(t.Context(), see); err != nil {
			t.Fatal(err)
		}
		before = append(before, tx)
	}
	first := begin(sql.LevelDefault)
	call("first", first)
	var others sync.WaitGroup
	for _, isolation := range []sql.IsolationLevel{sql.LevelDefault, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		for range 3 {
			tx := begin(isolation)
			others.Go(func() {
				for range 5 {
					call(isolation.String(), tx)
				}
			})
		}
	}
	others.Wait()
	if err := first.Commit(); err != nil {
		t.Error(err)
	}
	for _, tx := range before {
		call("that saw the database before", tx)
		if err := tx.Rollback(); err != nil { // a serializable one has locked the table that it saw
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
	if err := sqlsnow.Init(t.Context(), db, target.Dialect, sqlsnow.Namespace{Name: namespace, Layout: snow.DefaultLayout(), Workers: 8}); err != nil {
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
