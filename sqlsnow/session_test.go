//go:build unix

package sqlsnow_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// With completion_type=CHAIN each COMMIT begins a transaction. Nothing is written on such a connection, and Migrate
// leaves none in a transaction.
func TestChainedTransactions(t *testing.T) {
	server := dbtest.MariaDB(t)
	dsn := server.DSN(server.CreateDatabase(t))
	db := contractdb.Open(t, "mysql", dsn+"&completion_type=CHAIN")
	db.SetMaxOpenConns(1)
	ctx, ns := t.Context(), sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 4}
	cfg := sqlsnow.LeaseConfig{Namespace: "orders", Logger: slog.New(slog.DiscardHandler)}
	if err := errors.Join(sqlsnow.Migrate(ctx, db, sqlsnow.MySQL), sqlsnow.Init(ctx, db, sqlsnow.MySQL, ns)); err != nil {
		t.Fatal(err)
	}
	lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, cfg)
	if err != nil {
		t.Fatal(err)
	}
	commit := func() {
		t.Helper()
		tx, err := db.BeginTx(ctx, nil)
		if err == nil {
			err = tx.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	commit()
	for call, err := range map[string]error{
		"Renew": lease.Renew(ctx), "Fence": sqlsnow.Fence(ctx, db, sqlsnow.MySQL, "orders"), "Close": lease.Close(ctx),
	} {
		var failed *sqlsnow.DatabaseError
		if !errors.As(err, &failed) || !failed.InTransaction {
			t.Errorf("%s: got %v, want a DatabaseError with InTransaction", call, err)
		}
	}
	db.SetMaxOpenConns(2) // another connection is in no transaction
	if lease, err = sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, cfg); err != nil {
		t.Fatal(err)
	}
	db.Close()
	held := "SELECT COUNT(*) FROM snow_workers WHERE state = 2 AND ceiling_tick > floor_tick"
	if got := answer(t, contractdb.Open(t, "mysql", dsn), held); got != "2" {
		t.Errorf("got %s windows after the connections were closed, want 2", got)
	}
	lease.Close(ctx)
}

// MySQL has no @@in_transaction. The check of a session uses an assignment there that fails within a transaction.
// MariaDB shows that as well, with another name of the variable.
func TestIsolationInATransaction(t *testing.T) {
	server := dbtest.MariaDB(t)
	db := contractdb.Open(t, "mysql", server.DSN(""))
	db.SetMaxOpenConns(1)
	isolation := server.Variable("tx_isolation")
	look := "SET @@" + isolation + " = @@" + isolation + ", @snow = 1"
	exec(t, db, look, "BEGIN")
	var failed *mysql.MySQLError
	if _, err := db.ExecContext(t.Context(), look); !errors.As(err, &failed) || failed.Number != 1568 {
		t.Errorf("in a transaction: got %v, want code 1568", err)
	}
	exec(t, db, "ROLLBACK", look)
}

// A session that keeps its writes from the replicas is not durable.
func TestSessionWithoutBinaryLog(t *testing.T) {
	server := dbtest.MariaDB(t, "server-id=1", "log-bin=binlog")
	dsn := server.DSN(server.CreateDatabase(t))
	db, ns := contractdb.Open(t, "mysql", dsn), sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 4}
	if err := errors.Join(sqlsnow.Migrate(t.Context(), db, sqlsnow.MySQL), sqlsnow.Init(t.Context(), db, sqlsnow.MySQL, ns)); err != nil {
		t.Fatal(err)
	}
	unlogged := contractdb.Open(t, "mysql", dsn+"&sql_log_bin=0")
	_, err := sqlsnow.Acquire(t.Context(), unlogged, sqlsnow.MySQL, quietly("orders"))
	_, segmentsErr := segments.Open(t.Context(), []*sql.DB{unlogged}, sqlsnow.MySQL, segments.Config{Tag: "orders", Logger: quiet.Logger})
	for call, err := range map[string]error{"Acquire": err, "segments.Open": segmentsErr} {
		if !errors.Is(err, sqlsnow.ErrNotDurable) || !strings.Contains(err.Error(), "sql_log_bin") {
			t.Errorf("%s: got %v, want %v for sql_log_bin", call, err, sqlsnow.ErrNotDurable)
		}
	}
}

func quietly(namespace string) sqlsnow.LeaseConfig {
	return sqlsnow.LeaseConfig{Namespace: namespace, Logger: slog.New(slog.DiscardHandler)}
}

// A pool whose connections are all in use says so.
func TestStarvedPool(t *testing.T) {
	server := dbtest.MariaDB(t)
	db := contractdb.Open(t, "mysql", server.DSN(server.CreateDatabase(t)))
	ctx, ns := t.Context(), sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 4}
	if err := errors.Join(sqlsnow.Migrate(ctx, db, sqlsnow.MySQL), sqlsnow.Init(ctx, db, sqlsnow.MySQL, ns)); err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(2)
	lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, quietly("orders"))
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Close(ctx)
	held := make([]*sql.Conn, 2)
	for i := range held {
		if held[i], err = db.Conn(ctx); err != nil {
			t.Fatal(err)
		}
		defer held[i].Close()
	}
	waiting, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() {
		_, err := segments.Open(waiting, []*sql.DB{db}, sqlsnow.MySQL, segments.Config{Tag: "orders", Logger: quiet.Logger})
		done <- err
	}()
	for db.Stats().WaitCount == 0 {
		if ctx.Err() != nil {
			t.Fatal("nobody waits for a connection")
		}
	}
	cancel()
	const want = "no connection, all 2 of the pool are in use"
	if err := <-done; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), want) {
		t.Errorf("segments.Open: got %v, want %q", err, want)
	}
	for _, conn := range held {
		conn.Close()
	}
}

func TestElsewhereOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	home, tenant := server.CreateDatabase(t), server.CreateDatabase(t)
	forgetful := func(table, engine string) contractdb.Forgetful {
		return contractdb.Forgetful{
			Table: table, Want: engine,
			Make: []string{"ALTER TABLE " + table + " ENGINE=" + engine}, Undo: []string{"ALTER TABLE " + table + " ENGINE=InnoDB"},
		}
	}
	contractdb.Elsewhere{
		Dialect: sqlsnow.MySQL,
		Open:    func(t *testing.T) *sql.DB { return contractdb.Open(t, "mysql", server.DSN(home)) },
		Tenant:  contractdb.Open(t, "mysql", server.DSN(tenant)),
		Moves:   [][]string{{"USE " + tenant}},
		Hide:    "CREATE TEMPORARY TABLE {table} AS SELECT * FROM {table}",
		Drop:    "DROP TEMPORARY TABLE {table}",
		Hides:   true,
		Forgets: []contractdb.Forgetful{
			forgetful("snow_workers", "MyISAM"), forgetful("snow_namespaces", "MEMORY"), forgetful("snow_segments", "MyISAM"),
			{
				Table: "snow_workers", Want: "VIEW",
				Make: []string{"RENAME TABLE snow_workers TO others", "CREATE VIEW snow_workers AS SELECT * FROM others"},
				Undo: []string{"DROP VIEW snow_workers", "RENAME TABLE others TO snow_workers"},
			},
		},
	}.Run(t)
	// A session whose clock SET timestamp has stopped writes nothing.
	db := contractdb.Open(t, "mysql", server.DSN(home))
	db.SetMaxOpenConns(1)
	lease, err := sqlsnow.Acquire(t.Context(), db, sqlsnow.MySQL, quietly("orders"))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, "SET timestamp = 1000000000")
	for call, err := range map[string]error{"Renew": lease.Renew(t.Context()), "Fence": sqlsnow.Fence(t.Context(), db, sqlsnow.MySQL, "orders")} {
		if err == nil || !strings.Contains(err.Error(), "SET timestamp has stopped the session's clock") {
			t.Errorf("%s with a stopped clock: %v", call, err)
		}
	}
	exec(t, db, "SET timestamp = DEFAULT")
	if err := errors.Join(lease.Renew(t.Context()), lease.Close(t.Context())); err != nil {
		t.Error(err)
	}
}
