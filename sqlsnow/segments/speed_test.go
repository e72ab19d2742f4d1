package segments

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// The cost of Next in docs/segments.md is measured by
//
//	go test -run '^$' -bench SegmentsNext -count 6 ./sqlsnow

// A bare atomic addition is the floor of every counter.
func BenchmarkSegmentsNext(b *testing.B) {
	ctx := context.Background()
	var s Segments
	s.pool.open(1, Config{})
	s.pool.current.Store(&block{span: span{first: 1, stride: 1, count: 1 << 60}})
	var bare struct {
		_ [128]byte
		n atomic.Int64
		_ [128]byte
	}
	for _, test := range []struct {
		name string
		next func(*testing.B)
		loop func(*testing.PB)
	}{
		{"atomic", func(b *testing.B) {
			for b.Loop() {
				bare.n.Add(1)
			}
		}, func(pb *testing.PB) {
			for pb.Next() {
				bare.n.Add(1)
			}
		}},
		{"segments", func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Next(ctx); err != nil {
					b.Fatal(err)
				}
			}
		}, func(pb *testing.PB) {
			for pb.Next() {
				if _, err := s.Next(ctx); err != nil {
					panic(err)
				}
			}
		}},
	} {
		b.Run(test.name, test.next)
		b.Run(test.name+"-parallel", func(b *testing.B) { b.RunParallel(test.loop) })
	}
}

// Both in turns of half a millisecond, and the shortest turn of each counts: what else the machine does hits both
// alike.
func BenchmarkSegmentsNextRatio(b *testing.B) {
	ctx := context.Background()
	s := new(Segments)
	s.pool.open(1, Config{})
	s.pool.current.Store(&block{span: span{first: 1, stride: 1, count: 1 << 60}})
	bare := new(struct {
		_ [128]byte
		n atomic.Int64
		_ [128]byte
	})
	const calls = 100_000
	least := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		begin := time.Now()
		for range calls {
			bare.n.Add(1)
		}
		middle := time.Now()
		for range calls {
			if _, err := s.Next(ctx); err != nil {
				b.Fatal(err)
			}
		}
		least[0], least[1] = min(least[0], middle.Sub(begin)), min(least[1], time.Since(middle))
	}
	b.ReportMetric(float64(least[0].Nanoseconds())/calls, "atomic-ns")
	b.ReportMetric(float64(least[1].Nanoseconds())/calls, "next-ns")
	b.ReportMetric(float64(least[1])/float64(least[0]), "ratio")
}
