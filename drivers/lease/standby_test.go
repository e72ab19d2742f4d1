//go:build unix

package lease_test

import (
	"context"
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

const cancelWaits = "SELECT pg_cancel_backend(pid)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

// If somebody cancels the wait for a synchronous standby, the server confirms the commit, but the lease does not
// accept that.
func TestSynchronousStandby(t *testing.T) {
	server := dbtest.Postgres(t)
	dsn := server.DSN(server.CreateDatabase(t))
	db, admin, committer := contractdb.Open(t, "pgx", dsn), contractdb.Open(t, "pgx", dsn), contractdb.Open(t, "pgx", dsn)
	defer db.Close()
	defer admin.Close()
	defer committer.Close()
	ctx := t.Context()
	ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 4}
	if err := errors.Join(sqlsnow.Migrate(ctx, db, sqlsnow.Postgres), sqlsnow.Init(ctx, db, sqlsnow.Postgres, ns)); err != nil {
		t.Fatal(err)
	}
	quiet := sqlsnow.LeaseConfig{Namespace: "orders", Logger: slog.New(slog.DiscardHandler)}
	lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.Postgres, quiet)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, admin, "CREATE USER app PASSWORD 'app'", "GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO app",
		"ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")
	// Commits wait as soon as the checkpointer has read the setting, which only a commit that waits tells.
	committing, stop := context.WithCancel(ctx)
	defer stop()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for committing.Err() == nil {
			_, _ = committer.ExecContext(committing, "COMMENT ON SCHEMA public IS 'committed'")
		}
	}()
	for len(list(t, admin, cancelWaits)) == 0 && ctx.Err() == nil {
	}
	stop()
	<-stopped
	segment := segments.Config{Tag: "orders", Logger: quiet.Logger}

	for call, begin := range map[string]func(context.Context) error{
		"Renew": lease.Renew,
		"segments.Open": func(ctx context.Context) error {
			_, err := segments.Open(ctx, []*sql.DB{db}, sqlsnow.Postgres, segment)
			return err
		},
	} {
		waiting, cancel := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- begin(waiting) }()
		// It waits for the standby, and after the cancel it asks for it.
		for asks := false; !asks; {
			list(t, admin, cancelWaits)
			asks = list(t, admin, "SELECT COUNT(*)::text FROM pg_stat_activity WHERE query LIKE '%FROM pg_stat_replication%' AND pid <> pg_backend_pid()")[0] != "0"
			select {
			case err := <-done:
				t.Fatalf("%s returned after a cancelled wait: %v", call, err)
			default:
			}
		}
		cancel()
		for ended := false; !ended; { // it gives back the number that it may have taken
			list(t, admin, cancelWaits)
			select {
			case err := <-done:
				ended = true
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: got %v, want %v", call, err, context.Canceled)
				}
			default:
			}
		}
	}

	// An account that can't see what standbys have is told so, and with a standby that does its part all is well.
	app := contractdb.Open(t, "pgx", "postgres://app:app@"+dsn[strings.LastIndexByte(dsn, '@')+1:])
	defer app.Close()
	if _, err := sqlsnow.Acquire(ctx, app, sqlsnow.Postgres, quiet); !errors.Is(err, sqlsnow.ErrNotDurable) || !strings.Contains(err.Error(), "GRANT pg_read_all_stats") {
		t.Errorf("got %v, want %v with the grant that is missing", err, sqlsnow.ErrNotDurable)
	}
	server.Standby(t)
	execute(t, admin, "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (walreceiver, other)'", "SELECT pg_reload_conf()")
	execute(t, admin, "GRANT pg_read_all_stats TO app") // waits for the standby
	other, err := sqlsnow.Acquire(ctx, app, sqlsnow.Postgres, quiet)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := segments.Open(ctx, []*sql.DB{app}, sqlsnow.Postgres, segment)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Renew(ctx), lease.Renew(ctx), other.Close(ctx), lease.Close(ctx), numbers.Close(ctx)); err != nil {
		t.Error(err)
	}
}
