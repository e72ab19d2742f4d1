//go:build unix

package segments_test

import (
	"database/sql"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// relay passes connections on to a server, whose answers it holds back for a while.
func relay(tb testing.TB, server string, hold time.Duration) (addr string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				return
			}
			go func() {
				defer to.Close()
				_, _ = io.Copy(to, client)
			}()
			go func() {
				defer client.Close()
				b := make([]byte, 1<<16)
				for {
					n, err := to.Read(b)
					if err != nil {
						return
					}
					time.Sleep(hold) // what is measured
					if _, err := client.Write(b[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func openSegmentBench(b *testing.B, hold time.Duration) *sql.DB {
	b.Helper()
	server := dbtest.MariaDB(b)
	dsn := server.DSN(server.CreateDatabase(b))
	db, err := sql.Open("mysql", strings.Replace(dsn, server.Addr(), relay(b, server.Addr(), hold), 1))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	if err := sqlsnow.Migrate(b.Context(), db, sqlsnow.MySQL); err != nil {
		b.Fatal(err)
	}
	return db
}

// Two goroutines that do nothing but Next, each call timed, with a database that answers after 10 ms, once the step
// has grown to the load. An op is a call.
func BenchmarkSegmentsSaturated(b *testing.B) {
	db := openSegmentBench(b, 10*time.Millisecond)
	s, err := segments.Open(b.Context(), []*sql.DB{db}, sqlsnow.MySQL, segments.Config{Tag: "bench", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(b.Context())
	some := make([]snow.ID, 1000)
	for s.Stats().Step < 1<<24/2 {
		if err := s.Fill(b.Context(), some); err != nil {
			b.Fatal(err)
		}
	}
	before := s.Stats()
	const goroutines = 2
	all := make([][]time.Duration, goroutines)
	b.ResetTimer()
	var wait sync.WaitGroup
	for i := range all {
		all[i] = make([]time.Duration, 0, b.N/goroutines+1)
		wait.Go(func() {
			last := time.Now()
			for range b.N / goroutines {
				if _, err := s.Next(b.Context()); err != nil {
					b.Error(err)
					return
				}
				now := time.Now()
				all[i] = append(all[i], now.Sub(last))
				last = now
			}
		})
	}
	wait.Wait()
	b.StopTimer()
	times := slices.Concat(all...)
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	for name, share := range map[string]float64{"p50-ns": 0.5, "p99.9-ns": 0.999, "p99.999-ns": 0.99999, "max-ns": 1} {
		b.ReportMetric(float64(times[min(len(times)-1, int(share*float64(len(times))))]), name)
	}
	after := s.Stats()
	b.ReportMetric(float64(after.Waits-before.Waits), "waits")
	b.ReportMetric(float64(after.Refills-before.Refills), "refills")
}

// A start, and a stop, of a process whose row is there.
func BenchmarkSegmentsOpen(b *testing.B) {
	db := openSegmentBench(b, 0)
	for b.Loop() {
		s, err := segments.Open(b.Context(), []*sql.DB{db}, sqlsnow.MySQL, segments.Config{Tag: "bench", Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
