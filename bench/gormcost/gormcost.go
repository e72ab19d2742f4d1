// Package gormcost measures what the plugin of gormsnow costs. It compares creating rows through GORM with the
// plugin, and creating the same rows with ids that the caller has set, from the same generator.
//
// Statements of the variants take turns, so that other work on the machine affects all of them alike. One variant
// is measured twice: the difference between its two figures is the error of the measurement.
package gormcost

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/bench/rows"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// The variants.
const (
	byHand      = iota // the caller sets the ids
	plugin             // the plugin does
	byHandAgain        // the same as byHand, to be compared with it
	variants
)

// Options say how much to measure. The zero value is a full run of about two minutes.
type Options struct {
	Rounds int // the number of rounds, for medians; zero means 21
	// of each variant in a round, which create one row each; zero means 400. There are an eighth as many batches.
	Statements int

	Progress func(line string) // if not nil, is called before each round
}

// A Result is what creating rows costs.
type Result struct {
	Version string // of the server
	Cases   []Case
}

// A Case is one way to create.
type Case struct {
	Rows   int  // in each statement
	DryRun bool // without a server: GORM alone is measured, and the plugin's share of it

	// One figure for each round: the median time of a statement, in nanoseconds.
	ByHand, Plugin, ByHandAgain []float64

	// Allocations and bytes of a statement.
	Allocs, PluginAllocs float64
	Bytes, PluginBytes   float64
}

// Ratio returns the time with the plugin over that without, and half the distance between the smallest and the
// largest ratio of the rounds. Both are NaN if nothing was measured.
func (c Case) Ratio() (median, spread float64) { return ratio(c.Plugin, c.ByHand) }

// Control returns the ratio of the variant without the plugin to itself. Its difference from 1 is the error.
func (c Case) Control() (median, spread float64) { return ratio(c.ByHandAgain, c.ByHand) }

func ratio(a, b []float64) (mid, spread float64) {
	r := make([]float64, min(len(a), len(b)))
	for i := range r {
		r[i] = a[i] / b[i]
	}
	if len(r) == 0 {
		return Median(r), Median(r)
	}
	return Median(r), (slices.Max(r) - slices.Min(r)) / 2
}

// Measure measures on a private MariaDB, whose programs it needs. When ctx ends it ends the server and returns.
func Measure(ctx context.Context, opts Options) (Result, error) {
	opts.Rounds = cmp.Or(opts.Rounds, 21)
	opts.Statements = cmp.Or(opts.Statements, 400)
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	var result Result
	err := rows.Hosted(func(tb testing.TB) (err error) {
		server := dbtest.MariaDB(tb)
		result, err = opts.measure(ctx, server.DSN(server.CreateDatabase(tb)))
		return err
	})
	if err != nil {
		err = fmt.Errorf("gormcost: %w", err)
	}
	return result, err
}

func (o Options) measure(ctx context.Context, dsn string) (result Result, err error) {
	worker, err := snow.Fixed(snow.DefaultLayout(), 0)
	if err != nil {
		return result, err
	}
	keys, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		return result, err
	}
	var dbs [variants]*gorm.DB
	for i := range dbs {
		if dbs[i], err = open(ctx, dsn); err != nil {
			return result, err
		}
		pool, err := dbs[i].DB()
		if err != nil {
			return result, err
		}
		defer pool.Close()
	}
	if err := dbs[plugin].Use(gormsnow.New(keys)); err != nil {
		return result, err
	}
	if err := dbs[byHand].AutoMigrate(&Order{}); err != nil {
		return result, fmt.Errorf("create the table: %w", err)
	}
	if err := dbs[byHand].Raw("SELECT VERSION()").Scan(&result.Version).Error; err != nil {
		return result, fmt.Errorf("ask the server: %w", err)
	}
	for _, c := range []Case{{Rows: 1}, {Rows: 1000}, {Rows: 1, DryRun: true}, {Rows: 1000, DryRun: true}} {
		r := run{keys: keys, dbs: dbs, rows: c.Rows, statements: o.Statements}
		if c.Rows > 1 {
			r.statements = max(1, o.Statements/8)
		}
		if c.DryRun {
			for i, db := range r.dbs {
				r.dbs[i] = db.Session(&gorm.Session{DryRun: true, SkipDefaultTransaction: true})
			}
		}
		for round := range o.Rounds {
			o.Progress(fmt.Sprintf("%d rows a statement, dry run %v: round %d of %d", c.Rows, c.DryRun, round+1, o.Rounds))
			times, err := r.time(ctx)
			if err != nil {
				return result, err
			}
			c.ByHand = append(c.ByHand, times[byHand])
			c.Plugin = append(c.Plugin, times[plugin])
			c.ByHandAgain = append(c.ByHandAgain, times[byHandAgain])
		}
		if c.Allocs, c.Bytes, err = r.memory(ctx, byHand); err != nil {
			return result, err
		}
		if c.PluginAllocs, c.PluginBytes, err = r.memory(ctx, plugin); err != nil {
			return result, err
		}
		result.Cases = append(result.Cases, c)
	}
	return result, nil
}

// open opens a database with one connection.
func open(ctx context.Context, dsn string) (*gorm.DB, error) {
	db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	return db.WithContext(ctx), nil
}
