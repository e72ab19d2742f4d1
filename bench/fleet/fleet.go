// Package fleet measures what a registry of worker numbers does for a large fleet: how much work thousands of leases
// are for it, how soon all of them have a number when they start at once, and how soon they go on after an outage.
//
//	fleet.go       Options, the results, and Measure
//	run.go         the phases of a measurement
//	store.go       what a measurement needs of a store
//	sql.go         MariaDB and PostgreSQL
//	etcd.go        etcd
//	zookeeper.go   ZooKeeper
//	processor.go   the processor time of a server and its children
//	meter.go       round trips and latencies
//
// Each lease is a real one, with its goroutine, timers and statements. Only the processes around the leases are
// missing: the leases share a few pools of connections.
package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shardsnow/snow/bench/rows"
)

// Every is how often a lease renews, without jitter, in a namespace of up to 4,096 numbers.
const Every = 30 * time.Second

// Options say how much to measure.
type Options struct {
	Sizes    []int         // leases that renew at the same time, in ascending order
	Burst    int           // processes that start at once while nobody else does
	Settle   time.Duration // before a steady load is measured
	Steady   time.Duration // how long it is measured
	Outage   time.Duration // how long the server is away
	Window   time.Duration // of the leases; zero means the default, with which they renew once in Every
	Stores   []string      // by name; none means all
	Progress func(line string)
}

// Full returns the options of a run of about eight minutes.
func Full() Options {
	return Options{
		Sizes: []int{1000, 5000, 20_000}, Burst: 1000,
		Settle: 5 * time.Second, Steady: Every, Outage: 50 * time.Second,
	}
}

// Quick returns the options of a run of some minutes.
func Quick() Options {
	return Options{Sizes: []int{500, 2000}, Burst: 500, Steady: 12 * time.Second, Outage: 5 * time.Second, Stores: []string{MariaDB, Etcd, ZooKeeper}}
}

// A Result is what the fleets were for one store.
type Result struct {
	Store       string        `json:"store"`
	Version     string        `json:"version"`
	Connections int           `json:"connections"`
	Loads       []Load        `json:"loads"`
	Burst       Start         `json:"burst"`   // Options.Burst processes at once, in an empty namespace
	Largest     Start         `json:"largest"` // all processes of the largest fleet at once
	Outage      time.Duration `json:"outage"`
	Back        Comeback      `json:"back"`
	Bytes       int64         `json:"bytes"` // of the process, for a lease
	Goroutines  float64       `json:"goroutines"`
}

// A Load is a fleet that renews, and nothing else.
type Load struct {
	Leases     int           `json:"leases"`
	Every      time.Duration `json:"every,omitempty"` // how often a lease renews, without jitter; zero means Every
	Took       time.Duration `json:"took"`
	Renewals   int           `json:"renewals"`
	Failures   int           `json:"failures"`
	RoundTrips int64         `json:"round_trips"`
	Processor  time.Duration `json:"processor"` // of the server
	Client     time.Duration `json:"client"`    // of this process, which has all leases
	P50        time.Duration `json:"p50"`
	P99        time.Duration `json:"p99"`
	Busiest    int           `json:"busiest"` // renewals in the second that had the most
}

// PerRenewal returns the processor time of the server for a renewal.
func (l Load) PerRenewal() time.Duration { return l.Processor / time.Duration(max(l.Renewals, 1)) }

// Interval returns how often a lease renews, without jitter.
func (l Load) Interval() time.Duration { return cmp.Or(l.Every, Every) }

// Cores returns how many cores the servers need while each lease renews once in an Interval.
func (l Load) Cores() float64 {
	return l.PerRenewal().Seconds() * float64(l.Leases) / l.Interval().Seconds()
}

// Trips returns the round trips of a renewal.
func (l Load) Trips() float64 { return float64(l.RoundTrips) / float64(max(l.Renewals, 1)) }

// CoresAt returns the cores that the server needs for a number of leases, on the line through what was measured. Beyond
// the largest fleet that is an extrapolation.
func (r Result) CoresAt(leases int) float64 {
	var n, sumX, sumY, sumXX, sumXY float64
	for _, l := range r.Loads {
		x, y := float64(l.Leases), l.Cores()
		n, sumX, sumY, sumXX, sumXY = n+1, sumX+x, sumY+y, sumXX+x*x, sumXY+x*y
	}
	scatter := n*sumXX - sumX*sumX
	if scatter == 0 { // one point
		return float64(leases) * sumY / max(sumX, 1)
	}
	slope := (n*sumXY - sumX*sumY) / scatter
	return max(0, (sumY-slope*sumX)/n+slope*float64(leases))
}

// A Start is what processes that start at once have to wait.
type Start struct {
	Leases     int           `json:"leases"`
	All        time.Duration `json:"all"` // until the last one has a number
	P50        time.Duration `json:"p50"`
	P99        time.Duration `json:"p99"`
	RoundTrips int64         `json:"round_trips"`
	Processor  time.Duration `json:"processor"`
}

// A Comeback is what happens when a server is back after an outage.
type Comeback struct {
	All       time.Duration `json:"all"` // until the last lease has renewed
	P50       time.Duration `json:"p50"` // of the leases, from the server's return to the renewal
	P99       time.Duration `json:"p99"`
	Lost      int           `json:"lost"`    // numbers
	Busiest   int           `json:"busiest"` // renewals in the second that had the most
	Failures  int           `json:"failures"`
	Processor time.Duration `json:"processor"`
}

// Measure measures the stores one after the other. The results of a store are valid even if another one could not be
// measured.
func Measure(ctx context.Context, opts Options) (all []Result, err error) {
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	for _, kind := range kinds(opts.Stores) {
		opts := opts
		failed := rows.Hosted(func(tb testing.TB) error {
			opts.Sizes = slices.DeleteFunc(slices.Clone(opts.Sizes), func(n int) bool { return n > kind.most })
			s, err := kind.start(ctx, tb, opts)
			if err != nil {
				return err
			}
			defer s.close()
			r := &run{store: s, opts: opts, tb: tb, result: Result{Store: kind.name, Version: s.version(), Connections: connections, Outage: opts.Outage}}
			defer r.forget()
			err = r.measure(ctx)
			if err == nil {
				all = append(all, r.result)
			}
			return err
		})
		if failed != nil {
			return all, fmt.Errorf("fleet: %s: %w", kind.name, failed)
		}
	}
	return all, nil
}
