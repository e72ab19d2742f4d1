// Bench compares package snow with other generators of ids (-only ids). It measures
// the cost of kinds of primary keys for a database (-only rows, and -only turns for
// snow keys next to AUTO_INCREMENT), the cost of the plugin of gormsnow (-only
// gorm), the cost of a router over databases (-only route), numbers for people (-only
// numbers), the service of ids (-only serve), and texts of ids for people outside
// (-only opaque). It prints tables and writes RESULTS.md,
// results.json and charts. -only merge measures how fast tables are merged, which
// takes 15 minutes and is never part of another run, and neither are -only
// concurrent, which measures primary keys that many connections insert, in 40
// minutes, -only servers, which measures a merge from one server to another beside a
// dump and load, -only inspect, which counts what merge.Inspect proposes right, and
// -only fleet, which measures a registry of worker numbers with up to 20,000 leases,
// in eight minutes.
//
// A part that is not measured keeps its results in results.json.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/shardsnow/snow/bench/fleet"
	"github.com/shardsnow/snow/bench/gormcost"
	"github.com/shardsnow/snow/bench/ids"
	"github.com/shardsnow/snow/bench/inspect"
	"github.com/shardsnow/snow/bench/merge"
	"github.com/shardsnow/snow/bench/numbercost"
	"github.com/shardsnow/snow/bench/opaquecost"
	"github.com/shardsnow/snow/bench/routecost"
	"github.com/shardsnow/snow/bench/rows"
	"github.com/shardsnow/snow/bench/serve"
)

func main() {
	merge.Process()
	if fleet.IsMember() {
		if err := fleet.Serve(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: etcd:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	quick bool
	only  string
	rows  int
	limit time.Duration
	dir   string

	outage time.Duration
}

func run(args []string) error {
	var o options
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.BoolVar(&o.quick, "quick", false, "take about a minute, for a first look, where a full run takes about ten")
	flags.StringVar(&o.only, "only", "", "measure only `ids`, rows, turns, concurrent, gorm, route, numbers, serve, opaque, fleet, merge, servers or inspect, or none, to write the report of results.json again")
	flags.IntVar(&o.rows, "rows", 0, "load `N` rows into each table, or merge them; 2000000 without a limit take the better part of an hour")
	flags.DurationVar(&o.limit, "limit", 0, "end a load after this `duration` with the rows that it has")
	flags.DurationVar(&o.outage, "outage", 0, "let the server of a fleet be away for this `duration`; default a minute")
	flags.StringVar(&o.dir, "dir", ".", "write results to this `directory`")
	_ = flags.Parse(args) // it exits on an error
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("argument %q: want flags only", flags.Arg(0))
	case !slices.Contains([]string{"", "ids", "rows", "turns", "concurrent", "gorm", "route", "numbers", "serve", "opaque", "fleet", "merge", "servers", "inspect", "none"}, o.only):
		return fmt.Errorf("-only %q: want ids, rows, turns, concurrent, gorm, route, numbers, serve, opaque, fleet, merge, servers, inspect or none", o.only)
	case o.rows < 0:
		return fmt.Errorf("-rows %d: want a positive number", o.rows)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return o.measure(ctx)
}

func (o options) measure(ctx context.Context) error {
	path := filepath.Join(o.dir, "results.json")
	results, err := readResults(path)
	if err != nil {
		return err
	}
	if o.only == "none" {
		return results.write(o.dir)
	}
	if o.part("ids") {
		opts := ids.Full()
		if o.quick {
			opts = ids.Quick()
		}
		opts.Progress = progress("ids")
		s, err := measured(o.quick, func() (*ids.Result, error) { return ids.Measure(ctx, opts) })
		if err != nil {
			return err
		}
		results.IDs = s
		if err := results.write(o.dir); err != nil {
			return err
		}
		fmt.Print(idsReport(s))
	}
	if o.part("rows") {
		// The rows of an engine are valid even if another engine could not be started.
		s, failed := measured(o.quick, func() ([]rows.Result, error) { return rows.Measure(ctx, o.rowsOptions()) })
		if len(s.Result) > 0 && ctx.Err() == nil {
			results.Rows = s
			if err := results.write(o.dir); err != nil {
				return err
			}
			fmt.Print(rowsReport(s))
		}
		if failed != nil {
			return failed
		}
	}
	if o.part("turns") {
		s, err := measured(o.quick, func() ([]rows.Turn, error) { return rows.Turns(ctx, o.rowsOptions()) })
		if err != nil {
			return err
		}
		results.Turns = s
		if err := results.write(o.dir); err != nil {
			return err
		}
		fmt.Print(turnsReport(s))
	}
	if o.part("gorm") {
		opts := gormcost.Options{Progress: progress("gorm")}
		if o.quick {
			opts.Rounds, opts.Statements = 5, 80
		}
		s, err := measured(o.quick, func() (gormcost.Result, error) { return gormcost.Measure(ctx, opts) })
		if err != nil {
			return err
		}
		results.GORM = s
		if err := results.write(o.dir); err != nil {
			return err
		}
		fmt.Print(gormReport(s))
	}
	if o.part("numbers") {
		opts := numbercost.Options{Progress: progress("numbers")}
		if o.quick {
			opts.Turns, opts.Rows = 5, 200
		}
		s, err := measured(o.quick, func() ([]numbercost.Result, error) { return numbercost.Measure(ctx, opts) })
		if err != nil {
			return err
		}
		results.Numbers = s
		if err := results.write(o.dir); err != nil {
			return err
		}
		fmt.Print(numbersReport(s))
	}
	if o.part("route") {
		opts := routecost.Options{Progress: progress("route")}
		if o.quick {
			opts.Rounds, opts.Statements, opts.Queries = 9, 1000, 60
		}
		s, err := measured(o.quick, func() (routecost.Result, error) { return routecost.Measure(ctx, opts) })
		if err != nil {
			return err
		}
		results.Route = s
		if err := results.write(o.dir); err != nil {
			return err
		}
		fmt.Print(routeReport(s))
	}
	if o.part("serve") {
		opts := serve.Options{Progress: progress("serve")}
		if o.quick {
			opts.Rounds, opts.Turn = 5, 300*time.Millisecond
		}
		s, err := measured(o.quick, func() (serve.Result, error) { return serve.Measure(ctx, opts) })
		if err != nil {
			return err
		}
		results.Serve = s
		if err := results.write(o.dir); err != nil {
			return err
		}
		fmt.Print(serveReport(s))
	}
	if o.part("opaque") {
		opts := opaquecost.Options{Progress: progress("opaque")}
		if o.quick {
			opts.Rounds, opts.IDs = 5, 20_000
		}
		s, err := measured(o.quick, func() (opaquecost.Result, error) { return opaquecost.Measure(ctx, opts) })
		if err != nil {
			return err
		}
		results.Opaque = s
		if err := results.write(o.dir); err != nil {
			return err
		}
		fmt.Print(opaqueReport(s))
	}
	if o.only == "merge" { // otherwise a full run would take twice as long
		s, err := measured(o.quick, func() (merge.Result, error) { return merge.Measure(ctx, o.mergeOptions()) })
		if err != nil {
			return err
		}
		results.Merge = s
		if err := results.write(o.dir); err != nil {
			return err
		}
		fmt.Print(mergeReport(s))
	}
	if o.only == "concurrent" {
		s, failed := measured(o.quick, func() ([]rows.Table, error) { return rows.Concurrently(ctx, o.concurrentOptions()) })
		if len(s.Result) > 0 && ctx.Err() == nil {
			results.Concurrent = s
			if err := results.write(o.dir); err != nil {
				return err
			}
			fmt.Print(concurrentReport(s))
		}
		if failed != nil {
			return failed
		}
	}
	if o.only == "servers" {
		s, err := measured(o.quick, func() (merge.ServersResult, error) { return merge.MeasureServers(ctx, o.serversOptions()) })
		if err != nil {
			return err
		}
		results.Servers = s
		if err := results.write(o.dir); err != nil {
			return err
		}
		fmt.Print(serversReport(s))
	}
	if o.only == "fleet" {
		s, failed := measured(o.quick, func() ([]fleet.Result, error) { return fleet.Measure(ctx, o.fleetOptions()) })
		if len(s.Result) > 0 && ctx.Err() == nil {
			results.Fleet = s
			if err := results.write(o.dir); err != nil {
				return err
			}
			fmt.Print(fleetReport(s))
		}
		if failed != nil {
			return failed
		}
	}
	if o.only == "inspect" {
		s, err := measured(o.quick, func() ([]inspect.Score, error) {
			return inspect.Measure(ctx, inspect.Options{Rows: cmp.Or(o.rows, 400), Seed: 1})
		})
		if err != nil {
			return err
		}
		results.Inspect = s
		if err := results.write(o.dir); err != nil {
			return err
		}
		fmt.Print(inspectReport(s))
	}
	return nil
}

// part reports whether to measure a part.
func (o options) part(name string) bool { return o.only == "" || o.only == name }

// rowsOptions limits the tables and the slow keys to what fits the time, unless a
// flag sets the number of rows.
func (o options) rowsOptions() rows.Options {
	opts := rows.Options{Rows: o.rows, PerKeyLimit: o.limit, Progress: progress("rows")}
	switch {
	case o.quick:
		opts.Rows = cmp.Or(o.rows, 60_000)
		opts.Engines = []string{rows.MariaDB}
		opts.Rounds = 1
		opts.PerKeyLimit = cmp.Or(o.limit, 4*time.Second)
	case o.rows == 0:
		opts.Rows = 500_000
		opts.PerKeyLimit = cmp.Or(o.limit, 30*time.Second)
	}
	return opts
}

// concurrentOptions has fewer rows where a statement has only one.
func (o options) concurrentOptions() rows.ConcurrentOptions {
	opts := rows.ConcurrentOptions{Progress: progress("concurrent")}
	for _, connections := range []int{16, 64} {
		for _, statement := range []int{1, 20, 500} {
			n := 1_000_000
			if statement == 1 {
				n = 300_000
			}
			opts.Loads = append(opts.Loads, rows.Load{Connections: connections, PerStatement: statement, Rows: cmp.Or(o.rows, n)})
		}
	}
	if o.quick {
		opts.Engines = []string{rows.MariaDB}
		opts.Loads = []rows.Load{
			{Connections: 16, PerStatement: 1, Rows: cmp.Or(o.rows, 50_000)},
			{Connections: 16, PerStatement: 20, Rows: cmp.Or(o.rows, 100_000)},
		}
	}
	return opts
}

func (o options) mergeOptions() merge.Options {
	opts := merge.Options{Rows: cmp.Or(o.rows, 500_000), Rounds: 9, Memory: []int{1_000_000, 4_000_000}, Progress: progress("merge")}
	if o.quick {
		// after a million rows memory no longer grows
		opts.Rows, opts.Rounds, opts.Memory = cmp.Or(o.rows, 100_000), 1, nil
	}
	return opts
}

func (o options) serversOptions() merge.ServersOptions {
	opts := merge.ServersOptions{Rows: cmp.Or(o.rows, 2_000_000), Rounds: 3, Progress: func(line string) { fmt.Fprintln(os.Stderr, "servers", line) }}
	if o.quick {
		opts.Rows, opts.Rounds = cmp.Or(o.rows, 200_000), 1
	}
	return opts
}

func (o options) fleetOptions() fleet.Options {
	opts := fleet.Full()
	if o.quick {
		opts = fleet.Quick()
	}
	opts.Outage = cmp.Or(o.outage, opts.Outage)
	opts.Progress = progress("fleet")
	return opts
}

// progress returns a function that shows at most one line a second, so that
// reports from inside a measurement don't change it.
func progress(part string) func(string) {
	begin := time.Now()
	var last time.Time
	return func(line string) {
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			fmt.Fprintf(os.Stderr, "%s %6s  %s\n", part, now.Sub(begin).Round(time.Second), line)
		}
	}
}
