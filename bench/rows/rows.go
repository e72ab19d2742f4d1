// Package rows measures the cost of a primary key for a database: how fast rows are inserted as the table grows
// past the memory of the server, how much space they take, and how long a read by primary key takes.
//
// Each run loads one table of orders, which has two secondary indexes, over a single connection: multi-row INSERT
// statements, each its own transaction and flushed to disk when it commits. Each run has a private server with a
// fresh data directory, so that nothing is left of the run before. Except for the keys, the rows are the same in
// all runs.
//
// Buyers are drawn at random, so the index on the buyer grows in random order for every primary key. Only this cost
// grows with the table for all keys alike: towards the end of a load the index is larger than the buffer pool.
//
// MariaDB bypasses the cache of the operating system, and PostgreSQL uses it. So a page that is not in the buffer
// pool may still be in memory for PostgreSQL. Don't compare the engines with each other.
package rows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow"
)

// The engines, as in [Options].Engines, where case does not matter, and in [Result].Engine.
const (
	MariaDB    = "MariaDB"
	MySQL      = "MySQL" // for [Concurrently] only
	PostgreSQL = "PostgreSQL"
)

// The keys, as in [Result].Key.
const (
	AutoIncrement = "auto-increment"               // numbers that the database counts; they are not read back
	Snow          = "snow"                         // snow.DefaultLayout(), a Fill for each statement
	Clustered     = "snow, clustered"              // snow.Clustered(), for [Concurrently] only
	OneProcess    = "snow, clustered, one process" // the same, with one generator for all connections
	// the same with Config.OneLane, for [Concurrently] on PostgreSQL only
	OneLane    = "snow, one lane"
	UUIDv7     = "UUIDv7"      // google/uuid NewV7, 16 bytes, ascending within a process
	UUIDv4     = "UUIDv4"      // google/uuid NewRandom, 16 bytes
	UUIDv4Text = "UUIDv4 text" // the same as 36 characters
)

// Options say what to measure. The zero value measures 2 million rows on both engines, without a limit.
type Options struct {
	// Rows is how many rows each table gets, rounded up to whole statements of 500. Zero means 2 million.
	//
	// The buffer pool is 64 MiB for 2 million rows or more, and proportionally less for fewer rows, down to 8 MiB.
	// With fewer than about 60,000 rows the data fits into it, which tests the program but does not show the cost
	// of a key.
	Rows int

	// Engines are the databases to measure. None means all.
	Engines []string

	// Rounds is how often the ascending keys are measured, each time in another order, so that changes in the
	// machine's speed affect all of them alike. Zero means 3. The random keys are measured once: they take much
	// longer, and differ by too much to need several rounds.
	Rounds int

	// PerKeyLimit is how long one load may take. After that the load stops with the rows that it has. Zero means no
	// limit.
	PerKeyLimit time.Duration

	// Progress, if not nil, is called about once a second with a line to show.
	Progress func(line string)
}

// A Result is what one key cost on one engine. Its figures are of one run: of several, the one with the median rate.
type Result struct {
	Engine  string // one of the engines' names
	Version string // what the server says
	Pool    int64  // size of the buffer pool in bytes, as the server says
	Key     string // one of the keys' names
	Column  string // SQL type of the key

	Rows   int // rows loaded
	Target int // rows to load: more than Rows if [Options].PerKeyLimit ended the load before

	RowsPerSecond []Point   // a point for about each 2 % of Target
	Overall       float64   // rows per second of the whole load
	LastQuarter   float64   // rows per second of the last quarter of Rows, where the table is largest
	Runs          []float64 // Overall of every run, in the order that they ran

	Bytes int64 // size on disk of the table with its indexes, all of it written

	Reads   int // rows read by primary key, drawn evenly from all rows
	ReadP50 time.Duration
	ReadP99 time.Duration
}

// A Point is the rate between the point before it and itself.
type Point struct {
	Rows      int     // in the table
	Seconds   float64 // since the load began
	PerSecond float64 // rows per second
}

const (
	defaultRows   = 2_000_000
	defaultRounds = 3
)

// Measure runs the measurements of opts, one after the other. After an error it goes on with the next engine. It
// returns the results of the keys that were finished, by engine and key, and joins all errors. When ctx ends it
// ends the servers and returns.
//
// It needs the programs of the servers, and Linux or macOS, and refuses a server named by SNOW_MYSQL_DSN or
// SNOW_POSTGRES_DSN. Measurements at the same time disturb each other. Servers keep their files in the directory
// for temporary files, which should be on a disk. For 2 million rows the largest table takes some 700 MB, and
// PostgreSQL's log up to 1 GB more.
func Measure(ctx context.Context, opts Options) ([]Result, error) {
	results, err := opts.measure(ctx)
	if err != nil {
		err = fmt.Errorf("rows: %w", err)
	}
	return results, err
}

func (o Options) measure(ctx context.Context) ([]Result, error) {
	o.Rows = cmp.Or(o.Rows, defaultRows)
	o.Rounds = cmp.Or(o.Rounds, defaultRounds)
	switch {
	case o.Rows < 0:
		return nil, fmt.Errorf("rows: %d is negative", o.Rows)
	case o.Rounds < 0:
		return nil, fmt.Errorf("rounds: %d is negative", o.Rounds)
	case o.PerKeyLimit < 0:
		return nil, fmt.Errorf("limit: %v is negative", o.PerKeyLimit)
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	engines, err := choose(o.Engines, &mariadb, &postgres)
	if err != nil {
		return nil, err
	}
	worker, err := snow.Fixed(snow.DefaultLayout(), 0)
	if err != nil {
		return nil, err
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		return nil, err
	}
	var results []Result
	var failed error
	for i, e := range engines {
		plan := schedule(keys(gen), o.Rounds)
		runs := make(map[string][]Result)
		for n, k := range plan {
			r := run{engine: e, key: k, batches: (o.Rows + batch - 1) / batch, limit: o.PerKeyLimit}
			r.report = func(format string, args ...any) {
				o.Progress(fmt.Sprintf("%s, %s (run %d of %d): ", e.name, k.name, i*len(plan)+n+1, len(engines)*len(plan)) +
					fmt.Sprintf(format, args...))
			}
			result, err := r.serve(ctx)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s, %s: %w", e.name, k.name, err))
				break
			}
			runs[k.name] = append(runs[k.name], result)
		}
		for _, k := range keys(gen) {
			if len(runs[k.name]) > 0 {
				results = append(results, middle(runs[k.name]))
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return results, failed
}

// choose returns the engines with the given names out of all, or all.
func choose(names []string, all ...*engine) ([]*engine, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []*engine
	for _, name := range names {
		i := slices.IndexFunc(all, func(e *engine) bool { return strings.EqualFold(e.name, name) })
		if i < 0 {
			var known []string
			for _, e := range all {
				known = append(known, e.name)
			}
			return nil, fmt.Errorf("engine %q: want %s", name, strings.Join(known, " or "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// schedule returns the keys in the order of their runs: first the ascending ones, in rounds that each start with
// another key, and then the random ones.
func schedule(keys []key, rounds int) []key {
	var ascending, random []key
	for _, k := range keys {
		if k.random {
			random = append(random, k)
		} else {
			ascending = append(ascending, k)
		}
	}
	var plan []key
	for range rounds {
		plan = append(plan, ascending...)
		ascending = append(ascending[1:], ascending[0])
	}
	return append(plan, random...)
}

// middle returns the run with the median rate, with the rates of all.
func middle(runs []Result) Result {
	var rates []float64
	for _, r := range runs {
		rates = append(rates, r.Overall)
	}
	sorted := slices.SortedFunc(slices.Values(runs), func(a, b Result) int { return cmp.Compare(a.Overall, b.Overall) })
	m := sorted[(len(sorted)-1)/2]
	m.Runs = rates
	return m
}
