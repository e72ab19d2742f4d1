// Package numbercost measures what numbers for people cost. It compares rows that are stored in a transaction each,
// with a number that the program has at hand, with a gap-free number and with a fast one.
//
// Blocks of the ways take turns, so that other work on the machine affects all of them alike.
package numbercost

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardsnow/snow/bench/rows"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

// The ways.
const (
	Plain      = "plain insert"
	GapFree    = "gap-free"
	GapFreeOwn = "gap-free, a counter for each connection"
	Fast       = "fast"
	FastLossy  = "fast, LossWindow 5 s"
)

// Ways are all ways, in the order of the report.
var Ways = []string{Plain, GapFree, GapFreeOwn, Fast, FastLossy}

// Options say how much to measure. The zero value is a full run of some minutes.
type Options struct {
	Turns    int           // of each way; zero means 20
	Rows     int           // of each turn; zero means 1000
	Loss     time.Duration // the LossWindow of FastLossy; zero means 5 s
	Progress func(line string)
}

// A Result is what a way costs with a number of connections.
type Result struct {
	Engine, Version string
	Connections     int
	Way             string
	PerSecond       []float64 // rows a second of each turn
}

// Measure stores rows in each way, on 1 and on 16 connections.
func Measure(ctx context.Context, opts Options) (all []Result, err error) {
	if opts.Turns <= 0 {
		opts.Turns = 20
	}
	if opts.Rows <= 0 {
		opts.Rows = 1000
	}
	if opts.Loss <= 0 {
		opts.Loss = 5 * time.Second
	}
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	for _, e := range []engine{
		{rows.MariaDB, "mysql", sqlsnow.MySQL, dbtest.MariaDB},
		{rows.PostgreSQL, "pgx", sqlsnow.Postgres, dbtest.Postgres},
	} {
		for _, connections := range []int{1, 16} {
			failed := rows.Hosted(func(tb testing.TB) error {
				results, err := e.measure(ctx, tb, connections, opts)
				all = append(all, results...)
				return err
			})
			if failed != nil {
				return all, fmt.Errorf("numbercost: %s, %d connections: %w", e.name, connections, failed)
			}
		}
	}
	return all, nil
}

type engine struct {
	name, driver string
	dialect      sqlsnow.Dialect
	start        func(tb testing.TB, options ...string) *dbtest.Server
}

func (e engine) measure(ctx context.Context, tb testing.TB, connections int, opts Options) ([]Result, error) {
	server := e.start(tb)
	db, err := sql.Open(e.driver, server.DSN(server.CreateDatabase(tb)))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(connections + 1) // one for blocks of the fast way
	db.SetMaxIdleConns(connections + 1)
	w := &work{engine: e, db: db, connections: connections, loss: opts.Loss}
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	results := make([]Result, len(Ways))
	for i, way := range Ways {
		results[i] = Result{Engine: e.name, Version: server.Product(tb), Connections: connections, Way: way}
	}
	for turn := range opts.Turns + 1 { // the first one only warms up
		opts.Progress(fmt.Sprintf("%s, %d connections: turn %d of %d", e.name, connections, turn, opts.Turns))
		for i, way := range Ways {
			begin := time.Now()
			if err := w.store(ctx, way, opts.Rows); err != nil {
				return nil, fmt.Errorf("%s: %w", way, err)
			}
			if turn > 0 {
				results[i].PerSecond = append(results[i].PerSecond, float64(opts.Rows)/time.Since(begin).Seconds())
			}
		}
	}
	return results, nil
}

// work stores rows.
type work struct {
	engine
	db          *sql.DB
	connections int
	loss        time.Duration
	made        atomic.Int64
	gapFree     *numbers.GapFree
	fast        *numbers.Fast
	fastLossy   *numbers.Fast
}

func (w *work) open(ctx context.Context) error {
	if err := sqlsnow.Migrate(ctx, w.db, w.dialect); err != nil {
		return err
	}
	if _, err := w.db.ExecContext(ctx, "CREATE TABLE invoices (number VARCHAR(40) NOT NULL PRIMARY KEY, amount BIGINT NOT NULL)"); err != nil {
		return err
	}
	cfg := numbers.Config{Series: "gapfree", Pattern: "{shop}/{yyyy}-{00000000}", Restart: numbers.Yearly}
	gapFree, err := numbers.OpenGapFree(ctx, w.db, w.dialect, cfg)
	if err != nil {
		return err
	}
	cfg.Series, cfg.Pattern = "fast", "fast/{yyyy}-{00000000}"
	fast, err := numbers.OpenFast(ctx, w.db, w.dialect, numbers.FastConfig{Config: cfg, Step: 1000})
	if err != nil {
		return err
	}
	cfg.Series, cfg.Pattern = "lossy", "lossy/{yyyy}-{00000000}"
	// Blocks last longer than the window, so only the turn that warms up waits.
	lossy, err := numbers.OpenFast(ctx, w.db, w.dialect, numbers.FastConfig{Config: cfg, Step: 10_000, LossWindow: w.loss})
	w.gapFree, w.fast, w.fastLossy = gapFree, fast, lossy
	return err
}

// store stores n rows on all connections.
func (w *work) store(ctx context.Context, way string, n int) error {
	var left atomic.Int64
	left.Store(int64(n))
	errs := make([]error, w.connections)
	var all sync.WaitGroup
	for i := range w.connections {
		all.Go(func() {
			for left.Add(-1) >= 0 && errs[i] == nil {
				errs[i] = w.one(ctx, way, i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (w *work) one(ctx context.Context, way string, connection int) error {
	number := fmt.Sprintf("plain/%012d", w.made.Add(1))
	var err error
	switch way {
	case Fast:
		number, err = w.fast.Next(ctx)
	case FastLossy:
		number, err = w.fastLossy.Next(ctx)
	}
	if err != nil {
		return err
	}
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	switch way {
	case GapFree:
		number, err = w.gapFree.Take(ctx, tx, "all")
	case GapFreeOwn:
		number, err = w.gapFree.Take(ctx, tx, fmt.Sprintf("own%d", connection))
	}
	if err != nil {
		return err
	}
	insert := "INSERT INTO invoices (number, amount) VALUES (" + w.dialect.Placeholder(1) + ", 7)"
	if _, err := tx.ExecContext(ctx, insert, number); err != nil {
		return err
	}
	return tx.Commit()
}
