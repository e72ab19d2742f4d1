//go:build unix

package sqlsnow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/contractdb"
	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// The database's clock goes forward, by less than MaxSkew, and back. Ids stay ahead of it, and so do their windows.
func TestExcursionOfTheClock(t *testing.T) {
	server := dbtest.MariaDB(t)
	db := contractdb.Open(t, "mysql", server.DSN(server.CreateDatabase(t)))
	server.SetClock(t, 0)
	ctx := t.Context()
	ns := sqlsnow.Namespace{Name: "orders", Layout: snow.Default(), Workers: 2, PinnedWindow: 3 * time.Second}
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
	for !t.Failed() && (!lease.Stats().Ceiling.After(ceiling) || lease.Stats().Left < 2*time.Second) { // or ids would end there
		flow("back again")
	}
}
