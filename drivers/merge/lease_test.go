//go:build unix

package merge_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A run that ends while its lease is being renewed, and whose connections the server ends at the same moment, gives
// the lease back: the next run need not wait.
func TestReleaseOnBrokenConnections(t *testing.T) {
	server := dbtest.Postgres(t)
	open := func() (*sql.DB, string) {
		dsn := server.DSN(server.CreateDatabase(t))
		return opened(t, "pgx", dsn), dsn
	}
	source, _ := open()
	target, dsn := open()
	admin := opened(t, "pgx", dsn)
	for _, text := range []string{"CREATE TABLE heroes (id SERIAL PRIMARY KEY, name TEXT)", "INSERT INTO heroes (name) SELECT 'h' || i FROM generate_series(1, 50) i"} {
		if _, err := source.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	sources := []merge.Source{{Name: "s1", DB: source}}
	p, err := merge.Inspect(t.Context(), sqlsnow.Postgres, sources...)
	if err != nil {
		t.Fatal(err)
	}
	p.Questions = nil
	table := p.Table("heroes")
	table.NewIDs, table.IDs = p.Sources, plan.IDsDense
	for _, c := range table.Columns {
		if c.Decided = true; c.Role == plan.RoleUndecided {
			c.Role = plan.RolePlain
		}
	}
	schema, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range schema {
		if _, err := target.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	target.SetMaxIdleConns(10)
	run := func(ctx context.Context, lease time.Duration, events func(report.Event)) error {
		t.Helper()
		m, err := merge.New(sqlsnow.Postgres, target, sources, p, merge.Config{Lease: lease, Events: events})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Run(ctx)
		return err
	}

	ctx, stop := context.WithCancel(t.Context())
	broke := false
	err = run(ctx, 6*time.Second, func(e report.Event) {
		if e.Kind != report.EventChunk || broke {
			return
		}
		broke = true
		if err := breakRenewal(t, target, admin, stop); err != nil {
			t.Error(err)
			stop()
		}
	})
	if err == nil || !broke {
		t.Fatalf("the run did not end: %v", err)
	}
	var until int64
	if err := admin.QueryRowContext(t.Context(), "SELECT until_us FROM snow_merge_lease").Scan(&until); err != nil {
		t.Fatal(err)
	}
	if until != 0 {
		t.Errorf("the lease lasts until %v", time.UnixMicro(until))
	}
	if err := run(t.Context(), 0, nil); err != nil {
		t.Errorf("the next run: %v", err)
	}
}

// breakRenewal waits until a renewal of the lease waits for the database. Then it stops the run, and ends all
// connections of its pool. Nobody uses some of them.
func breakRenewal(t *testing.T, target, admin *sql.DB, stop func()) error {
	ctx := t.Context()
	holder, err := admin.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = holder.Rollback() }()
	if _, err := holder.ExecContext(ctx, "SELECT fence FROM snow_merge_lease FOR UPDATE"); err != nil {
		return err
	}
	for waits := 0; waits == 0; {
		err := admin.QueryRowContext(ctx, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
			AND wait_event_type = 'Lock' AND query LIKE 'UPDATE snow_merge_lease%'`).Scan(&waits)
		if err != nil {
			return err
		}
	}
	for range 2 { // the driver does not look whether a connection lives that was taken from the pool within a second
		if err := use(ctx, target, 3); err != nil {
			return err
		}
	}
	stop()
	_, err = admin.ExecContext(ctx, `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> $1`, pidOf(ctx, holder))
	return errors.Join(err, holder.Rollback())
}

// use takes connections from a pool and gives them back.
func use(ctx context.Context, db *sql.DB, n int) error {
	if n == 0 {
		return nil
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(use(ctx, db, n-1), conn.Close())
}

func pidOf(ctx context.Context, tx *sql.Tx) (pid int) {
	_ = tx.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid)
	return pid
}
