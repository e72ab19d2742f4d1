//go:build unix

package sqlsnow_test

import (
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// A replica that executes the statements of its primary again has the same rows, whatever its own settings are.
func TestReplicasOfStatements(t *testing.T) {
	primary := dbtest.MariaDB(t, "server-id=1", "log-bin=binlog", "binlog-format=STATEMENT", "transaction-isolation=REPEATABLE-READ")
	replica := dbtest.MariaDB(t, "server-id=2", "log-bin=binlog", "sync-binlog=0", "read-only=1", "innodb-flush-log-at-trx-commit=2")
	replica.Follow(t, primary)
	name := primary.CreateDatabase(t)
	db, copied := contractdb.Open(t, "mysql", primary.DSN(name)), contractdb.Open(t, "mysql", replica.DSN(name))
	ctx := t.Context()
	ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 4}
	for _, err := range []error{sqlsnow.Migrate(ctx, db, sqlsnow.MySQL), sqlsnow.Init(ctx, db, sqlsnow.MySQL, ns)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	lease := func() *sqlsnow.Lease {
		t.Helper()
		l, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, sqlsnow.LeaseConfig{Namespace: "orders", Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close(ctx) })
		return l
	}
	same := func(step string) {
		t.Helper()
		replica.CatchUp(t, primary)
		for _, table := range []string{"snow_namespaces", "snow_workers", "snow_segments"} {
			want, got := contents(t, db, table), contents(t, copied, table)
			if want != got || want == "" && table != "snow_segments" {
				t.Errorf("after %s: the primary's %s:\n%s\nthe replica's:\n%s", step, table, want, got)
			}
		}
	}
	same("Init")
	held, closed := lease(), lease()
	same("Acquire")
	if err := errors.Join(held.Renew(ctx), closed.Close(ctx)); err != nil {
		t.Fatal(err)
	}
	same("Renew and Close")
	if _, err := sqlsnow.Reserve(ctx, db, sqlsnow.MySQL, "orders", "merge"); err != nil {
		t.Fatal(err)
	}
	same("Reserve")
	numbers, err := segments.Open(ctx, []*sql.DB{db}, sqlsnow.MySQL, segments.Config{Tag: "orders", Step: 10, MaxStep: 10, Logger: quiet.Logger})
	if err != nil {
		t.Fatal(err)
	}
	defer numbers.Close(ctx)
	for range 50 {
		if _, err := numbers.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	numbers.Close(ctx)
	same("segments")
	if err := errors.Join(segments.Raise(ctx, db, sqlsnow.MySQL, "orders", 5000), sqlsnow.Fence(ctx, db, sqlsnow.MySQL, "orders")); err != nil {
		t.Fatal(err)
	}
	same("segments.Raise and Fence")
}

// contents returns all rows of a table.
func contents(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table+" ORDER BY 1, 2")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		places := make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			b.WriteString(v.String + " ")
		}
		b.WriteString("\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Nothing is written to a server that was made read-only, even with an administrator's account: it is no longer the
// primary.
func TestReadOnlyForAdministrators(t *testing.T) {
	server := dbtest.MariaDB(t, "server-id=1", "log-bin=binlog")
	db := contractdb.Open(t, "mysql", server.DSN(server.CreateDatabase(t)))
	ctx, ns := t.Context(), sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 4}
	if err := errors.Join(sqlsnow.Migrate(ctx, db, sqlsnow.MySQL), sqlsnow.Init(ctx, db, sqlsnow.MySQL, ns)); err != nil {
		t.Fatal(err)
	}
	lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, sqlsnow.LeaseConfig{Namespace: "orders", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := segments.Open(ctx, []*sql.DB{db}, sqlsnow.MySQL, segments.Config{Tag: "orders", Logger: quiet.Logger})
	if err != nil {
		t.Fatal(err)
	}
	defer numbers.Close(ctx)
	exec(t, db, "SET GLOBAL read_only = 1")
	before := server.Position(t)
	if err := lease.Renew(ctx); !errors.Is(err, sqlsnow.ErrReadOnly) {
		t.Errorf("Renew: got %v, want %v", err, sqlsnow.ErrReadOnly)
	}
	if st := lease.Stats(); st.Failures == 0 || !errors.Is(st.Err, sqlsnow.ErrReadOnly) {
		t.Errorf("Stats: got %+v, want a failure that is %v", st, sqlsnow.ErrReadOnly)
	}
	_, reserved := sqlsnow.Reserve(ctx, db, sqlsnow.MySQL, "orders", "merge")
	for call, err := range map[string]error{
		"Close":          lease.Close(ctx),
		"Reserve":        reserved,
		"Fence":          sqlsnow.Fence(ctx, db, sqlsnow.MySQL, "orders"),
		"Init":           sqlsnow.Init(ctx, db, sqlsnow.MySQL, sqlsnow.Namespace{Name: "other", Layout: snow.DefaultLayout()}),
		"segments.Raise": segments.Raise(ctx, db, sqlsnow.MySQL, "orders", 5000),
	} {
		if !errors.Is(err, sqlsnow.ErrReadOnly) {
			t.Errorf("%s: got %v, want %v", call, err, sqlsnow.ErrReadOnly)
		}
	}
	if after := server.Position(t); after != before {
		t.Errorf("the binary log went on from %s to %s", before, after)
	}
}

// After a switch-over a pool has sessions of the old primary. Sessions that meet a read-only server are closed, so
// that the next attempt asks for a new one, which reaches the new primary.
func TestReadOnlySessionsLeaveThePool(t *testing.T) {
	server := dbtest.MariaDB(t, "server-id=1", "log-bin=binlog")
	dsn := server.DSN(server.CreateDatabase(t))
	db, admin := contractdb.Open(t, "mysql", dsn), contractdb.Open(t, "mysql", dsn)
	db.SetMaxOpenConns(1)
	ctx, ns := t.Context(), sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 4}
	if err := errors.Join(sqlsnow.Migrate(ctx, db, sqlsnow.MySQL), sqlsnow.Init(ctx, db, sqlsnow.MySQL, ns)); err != nil {
		t.Fatal(err)
	}
	exec(t, admin, "SET GLOBAL read_only = 1")
	for call, f := range map[string]func() error{
		"Fence":          func() error { return sqlsnow.Fence(ctx, db, sqlsnow.MySQL, "orders") },
		"Acquire":        func() error { _, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, quietly("orders")); return err },
		"segments.Raise": func() error { return segments.Raise(ctx, db, sqlsnow.MySQL, "orders", 5000) },
	} {
		before := answer(t, db, "SELECT CONNECTION_ID()")
		if err := f(); !errors.Is(err, sqlsnow.ErrReadOnly) {
			t.Errorf("%s: got %v, want %v", call, err, sqlsnow.ErrReadOnly)
		}
		if after := answer(t, db, "SELECT CONNECTION_ID()"); after == before {
			t.Errorf("%s: the pool has session %s of a read-only server again", call, after)
		}
	}
}
