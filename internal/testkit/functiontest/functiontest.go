//go:build unix

// Package functiontest tests package sqlsnow/functions on real servers. It imports no driver: the tests that call
// Run do.
package functiontest

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

// A Target is a kind of server.
type Target struct {
	Dialect sqlsnow.Dialect
	Server  func(tb testing.TB, options ...string) *dbtest.Server
	Driver  string

	shared *dbtest.Server // by tests without options
}

// Run runs the tests.
func Run(t *testing.T, target Target) {
	tests := map[string]func(*testing.T, Target){
		"Reading": testReading, "Bounds": testBounds, "Partitions": testPartitions,
		"Making": testMaking, "MakingWithLanes": testMakingWithLanes, "NoWaits": testNoWaits, "Crash": testCrash, "LostHistory": testLostHistory,
		"Failover": testFailover, "ClockSetBack": testClockSetBack, "Renumber": testRenumber, "Restored": testRestored, "Replaced": testReplaced, "Refusals": testRefusals,
		"Sessions": testSessions, "Defaults": testDefaults, "Rate": testRate,
	}
	if target.Dialect == sqlsnow.MySQL {
		tests["SummerTime"] = testSummerTime
	}
	target.shared = target.server(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if name != "SummerTime" { // which sets the environment
				t.Parallel() // tests mostly wait for clocks
			}
			test(t, target)
		})
	}
}

// server starts a server on which accounts may create functions. Without options it returns the one that all tests share,
// which none of them stops or changes.
func (target Target) server(t *testing.T, options ...string) *dbtest.Server {
	if len(options) == 0 && target.shared != nil {
		return target.shared
	}
	if target.Dialect == sqlsnow.MySQL {
		options = append(options, "log-bin-trust-function-creators=1")
	}
	return target.Server(t, options...)
}

func (target Target) open(t *testing.T, server *dbtest.Server, database string) *sql.DB {
	t.Helper()
	return contractdb.Open(t, target.Driver, server.DSN(database))
}

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v: %s", err, statement)
		}
	}
}

const namespace = "orders"

// prepare makes the namespace and the functions, and a table whose ids the database makes.
func (target Target) prepare(t *testing.T, db *sql.DB, layout snow.Layout) (worker uint64) {
	t.Helper()
	if err := sqlsnow.Migrate(t.Context(), db, target.Dialect); err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Init(t.Context(), db, target.Dialect, sqlsnow.Namespace{Name: namespace, Layout: layout, Workers: 8}); err != nil {
		t.Fatal(err)
	}
	worker, err := functions.Install(t.Context(), db, target.Dialect, functions.Config{Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	if target.Dialect == sqlsnow.MySQL {
		exec(t, db, "CREATE TABLE made (id BIGINT NOT NULL DEFAULT 0 PRIMARY KEY, batch INT NOT NULL)",
			"CREATE TRIGGER made_id BEFORE INSERT ON made FOR EACH ROW SET NEW.id = IF(NEW.id = 0, snow_next_id(), NEW.id)")
	} else {
		exec(t, db, "CREATE TABLE made (id bigint PRIMARY KEY DEFAULT snow_next_id(), batch int NOT NULL)")
	}
	return worker
}

// A ledger has all ids that anybody saw.
type ledger struct {
	mu     sync.Mutex
	ids    map[snow.ID]string // by whom
	doubts int
}

func newLedger() *ledger { return &ledger{ids: make(map[snow.ID]string)} }

func (l *ledger) add(t *testing.T, who string, ids ...snow.ID) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if other, ok := l.ids[id]; ok {
			if l.doubts++; l.doubts <= 5 {
				t.Errorf("%s made %d, as %s did before", who, id, other)
			}
		}
		l.ids[id] = who
	}
}

// insert inserts rows in one statement, adds their ids to the ledger before the end of the transaction, and commits
// or rolls back.
func insert(ctx context.Context, db *sql.DB, batch, rows int, commit bool) (ids []snow.ID, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	value := fmt.Sprintf("(%d)", batch)
	if _, err := tx.ExecContext(ctx, "INSERT INTO made (batch) VALUES "+strings.Repeat(value+", ", rows-1)+value); err != nil {
		return nil, err
	}
	found, err := tx.QueryContext(ctx, fmt.Sprintf("SELECT id FROM made WHERE batch = %d", batch))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var id snow.ID
		if err := found.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	if len(ids) != rows {
		return nil, fmt.Errorf("%d rows have %d ids", rows, len(ids))
	}
	if commit {
		return ids, tx.Commit()
	}
	return ids, tx.Rollback()
}

// mustInsert inserts a few rows. Some of them are rolled back.
func mustInsert(t *testing.T, db *sql.DB, l *ledger, who string, batch *int, statements int) {
	t.Helper()
	for n := range statements {
		*batch++
		ids, err := insert(t.Context(), db, *batch, 1+n%7, n%2 == 0)
		if err != nil {
			t.Fatalf("%s: %v", who, err)
		}
		l.add(t, who, ids...)
	}
}

func generator(t *testing.T, db *sql.DB, d sqlsnow.Dialect) *snow.Generator {
	t.Helper()
	lease, err := sqlsnow.Acquire(t.Context(), db, d, sqlsnow.LeaseConfig{Namespace: namespace, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Close(context.Background()) })
	keys, err := snow.NewGenerator(lease, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
