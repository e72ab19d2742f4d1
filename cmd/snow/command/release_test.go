package command

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestRelease(t *testing.T) {
	newRegistry(t)
	want := func(status int, output, line string) {
		t.Helper()
		got := execute(t, strings.Fields(line)...)
		if got.status != status || !strings.Contains(got.stdout+got.stderr, output) {
			t.Fatalf("snow %s: exit status %d, stdout %q, stderr %q; want %d and %q", line, got.status, got.stdout, got.stderr, status, output)
		}
	}
	want(0, "namespace short: it is there", "init -namespace short -workers 2 -window 2s -pinned-window 2s")
	f := &databaseFlags{dsn: "env:SNOW_DSN", access: database.Existing, timeout: 10e9}
	db, err := f.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	hold := func(namespace string) *sqlsnow.Lease {
		t.Helper()
		lease, err := sqlsnow.Acquire(t.Context(), db.DB, db.Dialect, sqlsnow.LeaseConfig{Namespace: namespace, Holder: "shop-1", Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lease.Close(context.Background()) })
		return lease
	}
	want(2, "--worker is missing", "release -namespace shop")
	want(2, "--namespace is missing", "release -worker 1")
	want(2, "no number 4", "release -namespace shop -worker 4")
	want(1, `"snow init" makes a namespace`, "release -namespace nix -worker 1")
	want(0, "worker 3 is free", "release -namespace shop -worker 3")

	if _, err := sqlsnow.Reserve(t.Context(), db.DB, db.Dialect, "shop", "import"); err != nil {
		t.Fatal(err)
	}
	want(3, "worker 3 is reserved for import", "release -namespace shop -worker 3 -wait")

	lease := hold("shop")
	number := fmt.Sprint(lease.Stats().Worker)
	want(3, "worker "+number+" is held, of shop-1: another process can lease it from", "release -namespace shop -worker "+number)
	if c := workersOf(t).Count; c["held"] != 1 {
		t.Errorf("a number that is held was taken away: %v", c)
	}

	// The holder of a short window renews it while the command waits.
	alive := hold("short")
	renewed := alive.Stats().Renewals
	want(3, "is alive: it renewed its window", fmt.Sprintf("release -namespace short -worker %d -wait", alive.Stats().Worker))
	if alive.Stats().Renewals == renewed {
		t.Error("the holder did not renew")
	}

	// A holder that ends gives back its number.
	if err := lease.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(0, "worker "+number+" is free", "release -namespace shop -worker "+number+" -wait")

	// A holder that is gone: its row is as a killed process leaves it.
	end := time.Since(snow.DefaultLayout().Epoch()).Milliseconds() + 3000
	_, err = db.ExecContext(t.Context(), "UPDATE snow_workers SET state = 2, fence = 7, holder = 'gone', renewed_at_ms = 0, ceiling_tick = ? WHERE namespace = 'shop' AND worker_id = 1", end)
	if err != nil {
		t.Fatal(err)
	}
	want(3, "worker 1 is late, of gone", "release -namespace shop -worker 1")
	want(0, "worker 1 is free", "release -namespace shop -worker 1 -wait")
}
