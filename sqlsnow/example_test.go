package sqlsnow_test

import (
	"context"
	"database/sql"
	"errors"
	"expvar"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/DATA-DOG/go-sqlmock"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// A process that makes ids for the table of orders. The database is any one
// that all such processes reach.
func Example() {
	ctx := context.Background()
	db, err := sql.Open("mysql", "app@tcp(registry.internal)/snow")
	if err != nil {
		log.Fatal(err)
	}
	keys, lease, err := sqlsnow.Open(ctx, db, sqlsnow.MySQL, sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout()}, sqlsnow.LeaseConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Close(ctx) // frees the worker number for the next process

	id, err := keys.Next(ctx)
	if err != nil {
		log.Fatal(err) // snow.ErrLeaseExpired: the database was out of reach for a whole window
	}
	fmt.Println(id)
}

// The four steps of Open one by one, where a deployment makes the tables and the
// namespace with another account, and where the generator has a Config.
func Example_steps() {
	ctx := context.Background()
	db, err := sql.Open("mysql", "app@tcp(registry.internal)/snow")
	if err != nil {
		log.Fatal(err)
	}
	if err := sqlsnow.Migrate(ctx, db, sqlsnow.MySQL); err != nil {
		log.Fatal(err)
	}
	if err := sqlsnow.Init(ctx, db, sqlsnow.MySQL, sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout()}); err != nil {
		log.Fatal(err)
	}

	lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, sqlsnow.LeaseConfig{Namespace: "orders"})
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Close(ctx)

	gen, err := snow.NewGenerator(lease, snow.Config{MaxAhead: 100 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	id, err := gen.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}

// The namespace is checked before the database is asked.
func ExampleOpen() {
	var db *sql.DB
	ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout()}
	_, _, err := sqlsnow.Open(context.Background(), db, sqlsnow.Postgres, ns, sqlsnow.LeaseConfig{Namespace: "order"})
	fmt.Println(err)
	// Output: sqlsnow: open: LeaseConfig.Namespace "order": want the Namespace's, "orders", or none
}

// What can't change afterwards, for orders in several databases of MySQL with replicas.
func ExampleNamespace() {
	ns := sqlsnow.Namespace{
		Name:       "shop",               // for all tables that share keys
		Layout:     snow.DefaultShards(), // from snow layout fit
		Workers:    1024,                 // processes at once
		LossWindow: 5 * time.Second,      // replicas may be promoted that lack the last 5 s
	}
	db, err := sql.Open("mysql", "owner@tcp(registry.internal)/snow")
	if err != nil {
		log.Fatal(err)
	}
	if err := sqlsnow.Init(context.Background(), db, sqlsnow.MySQL, ns); err != nil {
		log.Fatal(err)
	}
}

func ExampleAcquire() {
	var db *sql.DB
	lease, err := sqlsnow.Acquire(context.Background(), db, sqlsnow.MySQL, sqlsnow.LeaseConfig{Namespace: "orders", MaxSkew: -1})
	fmt.Println(lease == nil, err)
	// Output: true sqlsnow: acquire a worker of namespace "orders": MaxSkew -1ns: want 0 to 30s, which Fence allows for
}

// Where another account than the application's may create tables, in a step of
// the deployment.
func ExampleMigrate() {
	db, err := sql.Open("mysql", "owner@tcp(registry.internal)/snow")
	if err != nil {
		log.Fatal(err)
	}
	if err := sqlsnow.Migrate(context.Background(), db, sqlsnow.MySQL); err != nil {
		log.Fatal(err)
	}
}

// A game server whose number is part of its name.
func ExampleAcquire_pinned() {
	var db *sql.DB
	// a former process may have crashed a moment ago
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	number := uint64(7)
	lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.Postgres, sqlsnow.LeaseConfig{Namespace: "items", Worker: &number, Holder: "realm-7"})
	var held *sqlsnow.HeldError
	if errors.As(err, &held) {
		log.Fatalf("realm 7 runs already, as %s", held.Holder)
	}
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Close(context.Background())
}

// More processes than worker numbers.
func ExampleNoWorkerError() {
	err := fmt.Errorf("start: %w", &sqlsnow.NoWorkerError{
		Live: 1020, Cooling: 4, EarliestFree: time.Date(2026, 7, 1, 12, 0, 30, 0, time.UTC),
	})
	var none *sqlsnow.NoWorkerError
	if errors.As(err, &none) && none.Cooling > 0 {
		fmt.Println(none.Cooling, "numbers of processes that crashed; the first is free at", none.EarliestFree.Format(time.TimeOnly))
	}
	// Output: 4 numbers of processes that crashed; the first is free at 12:00:30
}

// A readiness probe. A liveness probe must not look at the lease: a restart
// throws away the rest of the window.
func ExampleLease_Stats() {
	var lease *sqlsnow.Lease
	ready := func() bool { return lease.Stats().Left > time.Minute }
	_ = ready
}

// In one line, /debug/vars shows how a lease is doing.
func ExampleLeaseStats() {
	var lease *sqlsnow.Lease
	expvar.Publish("snow.lease", expvar.Func(func() any { return lease.Stats() }))
}

// Events for measurements; with a tracer each becomes a span.
func ExampleLeaseEvent() {
	var db *sql.DB
	var swaps atomic.Int64
	lease, err := sqlsnow.Acquire(context.Background(), db, sqlsnow.MySQL, sqlsnow.LeaseConfig{
		Namespace: "orders",
		OnEvent: func(ctx context.Context, e sqlsnow.LeaseEvent) {
			if e.Kind == sqlsnow.Swapped {
				swaps.Add(1)
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Close(context.Background())
}

// Before it goes away from the database for a while, a process renews its
// window to the full length.
func ExampleLease_Renew() {
	var lease *sqlsnow.Lease
	if err := lease.Renew(context.Background()); err != nil {
		log.Print(err) // ids go on for lease.Stats().Left
	}
}

// A process that can't do without ids ends when there is no way back.
func ExampleLease_Done() {
	var lease *sqlsnow.Lease
	go func() {
		<-lease.Done()
		if !errors.Is(lease.Err(), sqlsnow.ErrClosed) {
			log.Fatal(lease.Err())
		}
	}()
}

func ExampleInit() {
	err := sqlsnow.Init(context.Background(), nil, sqlsnow.SQLite, sqlsnow.Namespace{Name: "orders", Layout: snow.Twitter(), Workers: 100})
	fmt.Println(err)
	// Output: sqlsnow: init namespace "orders": Workers 100: the layout has 32
}

// After a restore from a backup, before a process starts again.
func ExampleFence() {
	var db *sql.DB
	if err := sqlsnow.Fence(context.Background(), db, sqlsnow.Postgres, "orders"); err != nil {
		log.Fatal(err)
	}
}

// A number for rows that are older than the namespace: the id of a row has the
// time of the row.
func ExampleReserve() {
	var db *sql.DB
	r, err := sqlsnow.Reserve(context.Background(), db, sqlsnow.MySQL, "orders", "orders before 2026")
	if err != nil {
		log.Fatal(err)
	}
	row := time.Date(2025, 12, 24, 18, 30, 0, 0, time.UTC)
	id, err := r.Layout.Compose(snow.Parts{Time: row, Worker: r.Worker, Sequence: 0}) // the caller counts the sequence
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}

// A program that has written down its number gets it again from a namespace that was restored from a backup.
func ExampleReclaim() {
	var db *sql.DB
	const mine = 1023
	var held *sqlsnow.HeldError
	_, err := sqlsnow.Reclaim(context.Background(), db, sqlsnow.MySQL, "orders", "orders before 2026", mine)
	if errors.As(err, &held) {
		log.Fatalf("%q has the number by now: ids may exist twice", held.Holder)
	} else if err != nil {
		log.Fatal(err)
	}
}

// A dry run tells which number it would take.
func ExampleReservable() {
	var db *sql.DB
	r, err := sqlsnow.Reservable(context.Background(), db, sqlsnow.MySQL, "orders", "orders before 2026")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Worker)
}

func ExampleWorkers() {
	db := sampleRegistry()
	workers, err := sqlsnow.Workers(context.Background(), db, sqlsnow.MySQL, "orders")
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range workers {
		fmt.Printf("%d %-8v %s\n", w.Worker, w.State, w.Holder)
	}
	// Output:
	// 0 granted  shop-6f9 1
	// 1 free     shop-6f9 17
	// 2 reserved merge of eu-2
}

// sampleRegistry is a database with a namespace of three worker numbers.
func sampleRegistry() *sql.DB {
	db, mock, err := sqlmock.New()
	if err != nil {
		log.Fatal(err)
	}
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	tick := at.Sub(snow.DefaultLayout().Epoch()).Milliseconds()
	mock.ExpectQuery("UTC_TIMESTAMP").WillReturnRows(mock.NewRows(make([]string, 16)).
		AddRow(at.UnixMicro(), "0", "1", "1", "1", "1", "1", "0", "1", "fsync", "1", "0", "shop", "0", "", ""))
	mock.ExpectQuery("FROM `shop`.snow_namespaces").WillReturnRows(mock.NewRows(make([]string, 12)).
		AddRow(snow.DefaultLayout().String(), "5f3f2e1c-8a58-4a9a-9d3a-0f6d1a2b3c4d", 3, 0, 0, 0, 600_000, 600_000, 600_000, 0, 30_000, 0))
	mock.ExpectQuery("FROM `shop`.snow_workers").WillReturnRows(mock.NewRows(make([]string, 8)).
		AddRow(0, 2, "shop-6f9 1", 12, tick-60_000, tick+600_000, at.UnixMilli(), at.UnixMilli()).
		AddRow(1, 0, "shop-6f9 17", 9, tick-90_000, tick-30_000, at.UnixMilli(), at.UnixMilli()).
		AddRow(2, 3, "merge of eu-2", 0, 0, 0, 0, 0))
	return db
}

func ExampleNamespaces() {
	db := sampleRegistry()
	all, err := sqlsnow.Namespaces(context.Background(), db, sqlsnow.MySQL, "orders") // without a name: all of them
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range all {
		fmt.Println(n.Name, n.Workers, n.Layout)
	}
	// Output: orders 3 41+0+10+12+0/1ms@2024-01-01T00:00:00Z
}

func ExampleClock() {
	db := sampleRegistry()
	now, err := sqlsnow.Clock(context.Background(), db, sqlsnow.MySQL)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(now.Format(time.DateTime))
	// Output: 2026-07-01 12:00:00
}
