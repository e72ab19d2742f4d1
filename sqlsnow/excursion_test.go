//go:build unix

package sqlsnow_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// The database's clock goes forward, by less than MaxSkew, and back. Ids stay ahead of it, and so do their windows.
func TestExcursionOfTheClock(t *testing.T) {
	server := dbtest.MariaDB(t)
	db := contractdb.Open(t, "mysql", server.DSN(server.CreateDatabase(t)))
	server.SetClock(t, 0)
	ctx := t.Context()
	ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 2, PinnedWindow: 3 * time.Second}
	if err := errors.Join(sqlsnow.Migrate(ctx, db, sqlsnow.MySQL), sqlsnow.Init(ctx, db, sqlsnow.MySQL, ns)); err != nil {
		t.Fatal(err)
	}
	one := uint64(1)
	lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, sqlsnow.LeaseConfig{Namespace: "orders", Worker: &one, MaxSkew: 6 * time.Second, Logger: quiet.Logger})
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Close(ctx)
	keys, err := snow.NewGenerator(lease, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	flow := func(when string) {
		t.Helper()
		begin := time.Now()
		err := lease.Renew(ctx)
		for errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // of the request: the machine is busy
			begin, err = time.Now(), lease.Renew(ctx)
		}
		if err != nil {
			t.Errorf("%s: Renew: %v", when, err)
		}
		_, err = keys.Next(ctx)
		if late := time.Since(begin); errors.Is(err, snow.ErrLeaseExpired) && late > ns.PinnedWindow/2 {
			return // the window was over before the answer, or the test's next step, came
		}
		if err != nil {
			t.Errorf("%s: Next: %v (%+v)", when, err, lease.Stats())
		}
	}
	flow("at first")
	server.SetClock(t, 4*time.Second)
	flow("ahead")
	ceiling := lease.Stats().Ceiling
	server.SetClock(t, 0)
	// or ids would end there
	for !t.Failed() && (!lease.Stats().Ceiling.After(ceiling) || lease.Stats().Left < 2*time.Second) {
		flow("back again")
	}
}

func TestFence(t *testing.T) {
	t.Parallel()
	server := dbtest.MariaDB(t)
	db := contractdb.Open(t, "mysql", server.DSN(server.CreateDatabase(t)))
	t.Run("is remembered", func(t *testing.T) { fenceRemembered(t, db) })
	fenceClocks(t, server, db)
}

// Fence covers windows that were granted on a server whose clock was ahead, and that a backup has forgotten, on a
// server whose clock is behind.
func fenceClocks(t *testing.T, server *dbtest.Server, db *sql.DB) {
	server.SetClock(t, 0)
	ctx := t.Context()
	// so long that no renewal finds out before Close
	ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 1, Window: time.Minute}
	if err := errors.Join(sqlsnow.Migrate(ctx, db, sqlsnow.MySQL), sqlsnow.Init(ctx, db, sqlsnow.MySQL, ns)); err != nil {
		t.Fatal(err)
	}
	for name, steps := range map[string][]time.Duration{
		"ahead":          {25 * time.Second},
		"ahead in steps": {25 * time.Second, 50 * time.Second, 75 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			backup(t, db)
			server.SetClock(t, steps[0])
			lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, sqlsnow.LeaseConfig{Namespace: "orders", Logger: quiet.Logger})
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range steps[1:] {
				server.SetClock(t, step)
				var clock *sqlsnow.ClockError
				if err := lease.Renew(ctx); !errors.As(err, &clock) {
					t.Errorf("Renew with a clock that went %v ahead: %v", step, err)
				}
			}
			ends := lease.Stats().Ceiling
			restore(t, db)
			server.SetClock(t, -25*time.Second)
			if err := sqlsnow.Fence(ctx, db, sqlsnow.MySQL, "orders"); err != nil {
				t.Fatal(err)
			}
			all, err := sqlsnow.Workers(ctx, db, sqlsnow.MySQL, "orders")
			if err != nil || all[0].Floor.Before(ends) {
				t.Errorf("the number can be leased from %v on, and a window of it ends at %v (%v)", all[0].Floor, ends, err)
			}
			if err := lease.Close(ctx); err == nil {
				t.Error("a lease that the database forgot gave its number back")
			}
			restore(t, db)
			server.SetClock(t, 0)
		})
	}
}

// If a failover loses a Fence, the same call fences again: the database may lose what was written within LossWindow.
func fenceRemembered(t *testing.T, db *sql.DB) {
	ctx := t.Context()
	ns := sqlsnow.Namespace{Name: "lossy", Layout: snow.DefaultLayout(), Workers: 3, LossWindow: time.Millisecond}
	if err := errors.Join(sqlsnow.Migrate(ctx, db, sqlsnow.MySQL), sqlsnow.Init(ctx, db, sqlsnow.MySQL, ns)); err != nil {
		t.Fatal(err)
	}
	backup(t, db)
	done := make(chan error, 1)
	go func() { done <- sqlsnow.Fence(ctx, db, sqlsnow.MySQL, "lossy") }()
	fenced := func() (n int) {
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM snow_workers WHERE floor_tick > 0").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for fenced() != ns.Workers && len(done) == 0 {
	}
	restore(t, db)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := fenced(); n != ns.Workers {
		t.Errorf("%d of %d numbers are fenced", n, ns.Workers)
	}
}

func backup(t *testing.T, db *sql.DB) {
	t.Helper()
	execute(t, db, "DROP TABLE IF EXISTS backup", "CREATE TABLE backup AS SELECT * FROM snow_workers")
}

func restore(t *testing.T, db *sql.DB) {
	t.Helper()
	execute(t, db, "REPLACE INTO snow_workers SELECT * FROM backup")
}

func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}
