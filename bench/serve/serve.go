// Package serve measures the service of ids, package httpsnow, beside an empty handler of net/http and a sequence of a
// database.
//
// All of them take turns with the same connections from one process, so that other work on the machine affects all
// of them alike. What counts are ratios in a round. The client writes and reads bytes without net/http, so that it
// takes little of the time that is compared.
package serve

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // the sequence

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/bench/gormcost"
	"github.com/shardsnow/snow/bench/rows"
	"github.com/shardsnow/snow/httpsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// Batch is how many ids a request of the batches asks for.
const Batch = 100

// Options say how much to measure. The zero value is a full run of about two minutes.
type Options struct {
	Connections int           // zero means 64
	Rounds      int           // the number of rounds, for medians; zero means 21
	Turn        time.Duration // how long a turn takes; zero means 1 s

	Progress func(line string) // if not nil, is called before each round
}

// A Result is what requests cost.
type Result struct {
	Version     string // of the database
	Connections int
	Rounds      []Round
}

// A Round has one turn of each.
type Round struct {
	Empty    Load // requests to a handler that does nothing
	Single   Load // requests for one id, as JSON
	Batch    Load // requests for Batch ids, in binary
	Sequence Load // values of a sequence, each by a prepared statement
}

// A Load is what a turn has shown.
type Load struct {
	Rate float64       // answers a second
	P99  time.Duration // of the time to an answer
}

// SingleRate returns the rate of single ids over the empty handler's rate, the median of all rounds.
func (r Result) SingleRate() float64 {
	return r.median(func(r Round) float64 { return r.Single.Rate / r.Empty.Rate })
}

// SingleP99 returns the same of the 99th percentiles.
func (r Result) SingleP99() float64 {
	return r.median(func(r Round) float64 { return float64(r.Single.P99) / float64(r.Empty.P99) })
}

// BatchRate returns the rate of ids in batches over the rate of single ids.
func (r Result) BatchRate() float64 {
	return r.median(func(r Round) float64 { return r.Batch.Rate * Batch / r.Single.Rate })
}

// SequenceRate returns the rate of single ids over the sequence's rate.
func (r Result) SequenceRate() float64 {
	return r.median(func(r Round) float64 { return r.Single.Rate / r.Sequence.Rate })
}

func (r Result) median(ratio func(Round) float64) float64 {
	var all []float64
	for _, round := range r.Rounds {
		all = append(all, ratio(round))
	}
	return gormcost.Median(all)
}

// Measure measures beside a private MariaDB, whose programs it needs. When ctx ends it ends the server and returns.
func Measure(ctx context.Context, opts Options) (result Result, err error) {
	opts.Connections = cmp.Or(opts.Connections, 64)
	opts.Rounds = cmp.Or(opts.Rounds, 21)
	opts.Turn = cmp.Or(opts.Turn, time.Second)
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	err = rows.Hosted(func(tb testing.TB) (err error) {
		server := dbtest.MariaDB(tb)
		result, err = opts.measure(ctx, server.DSN(server.CreateDatabase(tb)))
		return err
	})
	if err != nil {
		err = fmt.Errorf("serve: %w", err)
	}
	return result, err
}

func (o Options) measure(ctx context.Context, dsn string) (result Result, err error) {
	result.Connections = o.Connections
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return result, err
	}
	defer db.Close()
	db.SetMaxOpenConns(o.Connections)
	db.SetMaxIdleConns(o.Connections)
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&result.Version); err != nil {
		return result, err
	}
	if _, err := db.ExecContext(ctx, "CREATE SEQUENCE ids CACHE 1000"); err != nil {
		return result, err
	}
	next, err := db.PrepareContext(ctx, "SELECT NEXTVAL(ids)")
	if err != nil {
		return result, err
	}
	defer next.Close()
	ids, err := handler()
	if err != nil {
		return result, err
	}
	empty, err := listen(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err != nil {
		return result, err
	}
	defer empty.Close()
	service, err := listen(ids)
	if err != nil {
		return result, err
	}
	defer service.Close()
	turns := []func(Round) (Round, error){
		func(r Round) (_ Round, err error) {
			r.Empty, err = o.load(ctx, requests(empty.Addr, "POST /v1/ids", "application/json"))
			return r, err
		},
		func(r Round) (_ Round, err error) {
			r.Single, err = o.load(ctx, requests(service.Addr, "POST /v1/ids", "application/json"))
			return r, err
		},
		func(r Round) (_ Round, err error) {
			r.Batch, err = o.load(ctx, requests(service.Addr, fmt.Sprintf("POST /v1/ids?count=%d", Batch), "application/octet-stream"))
			return r, err
		},
		func(r Round) (_ Round, err error) {
			r.Sequence, err = o.load(ctx, func(context.Context) (client, error) { return statement{next}, nil })
			return r, err
		},
	}
	for i := range o.Rounds + 1 {
		o.Progress(fmt.Sprintf("round %d of %d", i, o.Rounds))
		var round Round
		for turn := range turns {
			if round, err = turns[(i+turn)%len(turns)](round); err != nil { // nothing is always first
				return result, err
			}
		}
		if i > 0 { // the first one makes connections and fills caches
			result.Rounds = append(result.Rounds, round)
		}
	}
	return result, nil
}

// handler returns the service over a generator of one worker.
func handler() (http.Handler, error) {
	worker, err := snow.Fixed(snow.DefaultLayout(), 0)
	if err != nil {
		return nil, err
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		return nil, err
	}
	return httpsnow.New(gen, httpsnow.Config{})
}

// listen serves a handler on loopback, with the limits of snow serve.
func listen(h http.Handler) (*http.Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{
		Addr: listener.Addr().String(), Handler: h,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	go func() { _ = server.Serve(listener) }() // it ends with Close
	return server, nil
}

// load sends requests on all connections for a turn, each after the answer to the one before.
func (o Options) load(ctx context.Context, connect func(context.Context) (client, error)) (Load, error) {
	type share struct {
		took []time.Duration
		err  error
	}
	clients := make([]client, o.Connections)
	defer func() {
		for _, c := range clients {
			if c != nil {
				c.close()
			}
		}
	}()
	for i := range clients {
		c, err := connect(ctx)
		if err != nil {
			return Load{}, err
		}
		clients[i] = c
		if err := c.ask(ctx); err != nil {
			return Load{}, err
		}
	}
	shares := make(chan share, len(clients))
	begin := time.Now()
	for _, c := range clients {
		go func() {
			var s share
			for now := time.Now(); now.Sub(begin) < o.Turn && s.err == nil && ctx.Err() == nil; {
				s.err = c.ask(ctx)
				then := time.Now()
				s.took, now = append(s.took, then.Sub(now)), then
			}
			shares <- s
		}()
	}
	var all []time.Duration
	var failed error
	for range clients {
		s := <-shares
		all, failed = append(all, s.took...), errors.Join(failed, s.err)
	}
	elapsed := time.Since(begin)
	if failed = errors.Join(failed, ctx.Err()); failed != nil {
		return Load{}, failed
	}
	slices.Sort(all)
	return Load{Rate: float64(len(all)) / elapsed.Seconds(), P99: all[len(all)*99/100]}, nil
}
