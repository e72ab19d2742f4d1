//go:build unix

package sqlsnow_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

var shop = sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout(), Workers: 100}

// silent leases without a log.
var silent = sqlsnow.LeaseConfig{Logger: slog.New(slog.DiscardHandler)}

// opened returns what Open returns. The lease is closed when the test ends.
func opened(t *testing.T, db *sql.DB) (*snow.Generator, *sqlsnow.Lease) {
	t.Helper()
	keys, lease, err := sqlsnow.Open(t.Context(), db, sqlsnow.MySQL, shop, silent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lease.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return keys, lease
}

func TestOpen(t *testing.T) {
	t.Parallel()
	server := dbtest.MariaDB(t)
	for name, test := range map[string]func(*testing.T, *dbtest.Server, string){
		"fifty at once":        openFifty,
		"reads only when done": openReadsOnly,
		"refuses":              openRefuses,
		"context that ended":   openEnded,
		"waits":                openWaits,
		"generator":            openGenerator,
	} {
		t.Run(name, func(t *testing.T) { test(t, server, server.DSN(server.CreateDatabase(t))) })
	}
}

// Fifty processes start at the same time on an empty database.
func openFifty(t *testing.T, _ *dbtest.Server, dsn string) {
	const processes, each = 50, 100
	start := make(chan struct{})
	var mu sync.Mutex
	workers, ids := make(map[uint64]bool), make(map[snow.ID]bool)
	var wg sync.WaitGroup
	for range processes {
		db := openMySQL(t, dsn)
		if err := db.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			<-start
			keys, lease, err := sqlsnow.Open(t.Context(), db, sqlsnow.MySQL, shop, silent)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() {
				if err := lease.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
			made := make([]snow.ID, each)
			if err := keys.Fill(t.Context(), made); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			workers[lease.Stats().Worker] = true
			for _, id := range made {
				ids[id] = true
			}
		})
	}
	close(start)
	wg.Wait()
	if len(workers) != processes || len(ids) != processes*each {
		t.Errorf("%d processes have %d worker numbers, and %d of their %d ids are different", processes, len(workers), len(ids), processes*each)
	}
	db := openMySQL(t, dsn)
	if got := answer(t, db, applied); got != all {
		t.Errorf("snow_migrations: got %q, want %q", got, all)
	}
	if got := answer(t, db, "SELECT CONCAT((SELECT COUNT(*) FROM snow_namespaces), ' ', (SELECT COUNT(*) FROM snow_workers))"); got != "1 100" {
		t.Errorf("namespaces and workers: got %s, want 1 100", got)
	}
}

// When everything is there, an account that can make nothing is enough.
func openReadsOnly(t *testing.T, server *dbtest.Server, dsn string) {
	admin := openMySQL(t, dsn)
	_, first := opened(t, admin)
	db := restricted(t, server, admin, [2]string{"SELECT", "*"}, [2]string{"UPDATE", "snow_workers"})
	keys, second := opened(t, db)
	if a, b := first.Stats().Worker, second.Stats().Worker; a == b {
		t.Errorf("both leases have the worker number %d", a)
	}
	id, err := keys.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p, err := shop.Layout.Decompose(id); err != nil || p.Worker != second.Stats().Worker {
		t.Errorf("the id %d is of worker %d, %v, want %d", id, p.Worker, err, second.Stats().Worker)
	}
}

func openRefuses(t *testing.T, _ *dbtest.Server, dsn string) {
	db := openMySQL(t, dsn)
	var field *snow.FieldError
	other := silent
	other.Namespace = "shops"
	if _, _, err := sqlsnow.Open(t.Context(), db, sqlsnow.MySQL, shop, other); !errors.As(err, &field) || field.Field != "LeaseConfig.Namespace" {
		t.Errorf("two names: got %v, want a FieldError of LeaseConfig.Namespace", err)
	}
	if got := answer(t, db, ours); got != "" {
		t.Errorf("two names: made the tables %s", got)
	}
	opened(t, db)
	twitter := shop
	twitter.Layout, twitter.Workers = snow.Twitter(), 0
	if _, _, err := sqlsnow.Open(t.Context(), db, sqlsnow.MySQL, twitter, silent); !errors.Is(err, sqlsnow.ErrNamespaceMismatch) {
		t.Errorf("another layout: got %v, want %v", err, sqlsnow.ErrNamespaceMismatch)
	}
	if got := answer(t, db, "SELECT COUNT(*) FROM snow_workers WHERE state <> 0"); got != "1" {
		t.Errorf("%s numbers are leased, want the 1 of the first call", got)
	}
}

func openEnded(t *testing.T, _ *dbtest.Server, dsn string) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	db := openMySQL(t, dsn)
	if keys, lease, err := sqlsnow.Open(ctx, db, sqlsnow.MySQL, shop, silent); keys != nil || lease != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v, %v, want %v", keys, lease, err, context.Canceled)
	}
	if got := answer(t, db, ours); got != "" {
		t.Errorf("made the tables %s", got)
	}
}

// Open configures the generator; Acquire refuses what it would not use.
func openGenerator(t *testing.T, _ *dbtest.Server, dsn string) {
	db, config := openMySQL(t, dsn), silent
	config.Generator = snow.Config{MaxAhead: 7 * time.Millisecond}
	_, lease, err := sqlsnow.Open(t.Context(), db, sqlsnow.MySQL, shop, config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snow.NewGenerator(lease, config.Generator); err != nil {
		t.Errorf("another generator with the same settings: %v", err)
	}
	var field *snow.FieldError
	if _, err := snow.NewGenerator(lease, snow.Config{}); !errors.As(err, &field) || field.Field != "MaxAhead" {
		t.Errorf("another generator with other settings: got %v, want a FieldError of MaxAhead", err)
	}
	if err := lease.Close(t.Context()); err != nil {
		t.Error(err)
	}
	config.Namespace = shop.Name
	if _, err := sqlsnow.Acquire(t.Context(), db, sqlsnow.MySQL, config); !errors.As(err, &field) || field.Field != "Generator" {
		t.Errorf("Acquire with a generator: got %v, want a FieldError of Generator", err)
	}
	config.Generator = snow.Config{MaxAhead: time.Hour}
	if _, _, err := sqlsnow.Open(t.Context(), db, sqlsnow.MySQL, shop, config); !errors.As(err, &field) || field.Field != "MaxAhead" {
		t.Errorf("a MaxAhead of an hour: got %v, want a FieldError of MaxAhead", err)
	}
	if got := answer(t, db, "SELECT COUNT(*) FROM snow_workers WHERE state <> 0"); got != "0" {
		t.Errorf("%s numbers are leased, want none", got)
	}
}

// With Wait, a process gets the number that another one gives back.
func openWaits(t *testing.T, _ *dbtest.Server, dsn string) {
	db := openMySQL(t, dsn)
	one := shop
	one.Workers = 1
	_, former, err := sqlsnow.Open(t.Context(), db, sqlsnow.MySQL, one, silent)
	if err != nil {
		t.Fatal(err)
	}
	config, tried := silent, make(chan struct{}, 100)
	config.Wait = true
	config.OnEvent = func(_ context.Context, e sqlsnow.LeaseEvent) {
		if e.Kind == sqlsnow.Failed {
			tried <- struct{}{}
		}
	}
	var none *sqlsnow.NoWorkerError
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, _, err := sqlsnow.Open(ctx, db, sqlsnow.MySQL, one, config)
		done <- err
	}()
	<-tried
	cancel()
	if err := <-done; !errors.As(err, &none) || !errors.Is(err, context.Canceled) || none.Live != 1 {
		t.Errorf("Open whose wait was cancelled: %v", err)
	}
	go func() {
		<-tried
		done <- former.Close(t.Context())
	}()
	_, lease, err := sqlsnow.Open(t.Context(), db, sqlsnow.MySQL, one, config)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-done, lease.Close(t.Context())); err != nil {
		t.Error(err)
	}
}
