//go:build unix

package sqlsnow_test

import (
	"context"
	"database/sql"
	"log/slog"
	"runtime"
	"sync"
	"testing"

	_ "gorm.io/driver/mysql"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// The costs in docs/leases.md are measured by
//
//	go test -run '^$' -bench . -count 6 ./sqlsnow

var quiet = sqlsnow.LeaseConfig{Namespace: "bench", Logger: slog.New(slog.DiscardHandler)}

// openBench returns a database with a namespace on a server of its own.
func openBench(b *testing.B, l snow.Layout, connections int) *sql.DB {
	b.Helper()
	server := dbtest.MariaDB(b, "max_connections=1200")
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(b)))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err := sqlsnow.Migrate(b.Context(), db, sqlsnow.MySQL); err != nil {
		b.Fatal(err)
	}
	if err := sqlsnow.Init(b.Context(), db, sqlsnow.MySQL, sqlsnow.Namespace{Name: "bench", Layout: l}); err != nil {
		b.Fatal(err)
	}
	return db
}

// Next through a lease, compared with Next on a Fixed worker, with a layout that
// does not limit the rate.
func BenchmarkNext(b *testing.B) {
	l, err := snow.NewLayout(snow.DefaultLayout().Epoch(), snow.DefaultLayout().Tick(), snow.Bits{Timestamp: 41, Worker: 2, Sequence: 20})
	if err != nil {
		b.Fatal(err)
	}
	db := openBench(b, l, 4)
	for name, worker := range map[string]func(b *testing.B) snow.Worker{
		"fixed": func(b *testing.B) snow.Worker {
			w, err := snow.Fixed(l, 0)
			if err != nil {
				b.Fatal(err)
			}
			return w
		},
		"leased": func(b *testing.B) snow.Worker {
			lease, err := sqlsnow.Acquire(b.Context(), db, sqlsnow.MySQL, quiet)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { lease.Close(context.Background()) })
			return lease
		},
	} {
		b.Run(name, func(b *testing.B) {
			keys, err := snow.NewGenerator(worker(b), snow.Config{})
			if err != nil {
				b.Fatal(err)
			}
			ctx := context.Background()
			if _, err := keys.Next(ctx); err != nil { // a fixed worker waits before its first id
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := keys.Next(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A thousand processes start at once, each with a connection, and stop at once.
func BenchmarkThousand(b *testing.B) {
	db := openBench(b, snow.DefaultLayout(), 1000)
	conns := make([]*sql.Conn, 1000)
	for i := range conns { // the time to connect is not measured
		conn, err := db.Conn(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		conns[i] = conn
	}
	for _, conn := range conns {
		conn.Close()
	}
	leases := make([]*sqlsnow.Lease, len(conns))
	for b.Loop() {
		b.StopTimer()
		before := memory()
		b.StartTimer()
		var all sync.WaitGroup
		for i := range leases {
			all.Go(func() {
				var err error
				if leases[i], err = sqlsnow.Acquire(b.Context(), db, sqlsnow.MySQL, quiet); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		b.StopTimer()
		b.ReportMetric(float64(memory()-before)/float64(len(leases)), "B/lease")
		for _, lease := range leases {
			all.Go(func() {
				if lease == nil {
					return
				}
				if err := lease.Close(context.Background()); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		clear(leases)
		b.StartTimer()
	}
}

// memory returns the memory in use after a collection, including stacks.
func memory() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
