//go:build unix

package leasefaults

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

const (
	jobVariable = "SNOW_LEASE_JOB" // set in worker processes only

	batch      = 16                     // ids between two writes
	reportTime = 100 * time.Millisecond // between two reports
	pause      = 10 * time.Millisecond  // before the next attempt with an expired lease
	retryTime  = 100 * time.Millisecond // before the next attempt to acquire
	maxAhead   = 500 * time.Millisecond // how far ids of a released number may be in the future; less than every window
)

// layout has few ids in a tick, so that the load uses all of them. Unlike the database's, a tick is no millisecond.
func layout() snow.Layout {
	l, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), 10*time.Millisecond,
		snow.Bits{Timestamp: 40, Worker: 10, Sequence: 2})
	if err != nil {
		panic(err) // a constant
	}
	return l
}

// A Lease is what a worker process makes ids with.
type Lease interface {
	snow.Worker
	Stats() sqlsnow.LeaseStats
	Done() <-chan struct{}
	Close(ctx context.Context) error
}

// A worker is a worker process.
type worker struct {
	job
	db     *sql.DB // nil for a store
	lease  Acquire
	issue  context.Context // ends with the command "close", where there is nothing to close yet
	leases sync.WaitGroup

	mu     sync.Mutex
	report report
	held   []Lease
}

// Work does the job in the environment of this process, and ends the process. Commands come on the standard input,
// one in a line. The process ends at the end of its input, so that a test that dies leaves no process behind.
// Reports go to the standard output, as JSON.
func Work() { workWith(nil) }

// workWith is Work with leases of a store, which dial opens. nil means an SQL database.
func workWith(dial Dial) {
	if err := work(dial); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func work(dial Dial) (err error) {
	w := &worker{}
	if err := json.Unmarshal([]byte(os.Getenv(jobVariable)), &w.job); err != nil {
		return err
	}
	if err := errors.Join(shiftWall(w.WallShift), w.readPod()); err != nil {
		return err
	}
	switch {
	case w.Fixed != nil, w.Segments != nil:
	case dial != nil:
		if w.lease, err = dial(w.DSN); err != nil {
			return err
		}
	default:
		if w.db, err = sql.Open(w.Driver, w.DSN); err != nil {
			return err
		}
		w.db.SetMaxOpenConns(10)
		w.db.SetMaxIdleConns(10)
		w.lease = func(ctx context.Context, cfg sqlsnow.LeaseConfig) (Lease, error) {
			l, err := sqlsnow.Acquire(ctx, w.db, w.Dialect, cfg)
			if err != nil {
				return nil, err
			}
			return l, nil
		}
	}

	var end context.CancelFunc
	w.issue, end = context.WithCancel(context.Background())
	started, closing := make(chan struct{}), make(chan struct{})
	go w.obey(started, closing)
	if w.Wait {
		w.tell()
		<-started
	}
	for i := range max(1, w.Leases) {
		w.leases.Go(func() { w.run(i) })
	}
	for tick := time.NewTicker(cmp.Or(w.Every, reportTime)); ; {
		select {
		case <-tick.C:
			w.tell()
		case <-closing:
			end()
			w.close()
			w.leases.Wait()
			w.tell()
			return nil
		}
	}
}

// obey executes commands.
func (w *worker) obey(started, closing chan struct{}) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		command, argument, _ := strings.Cut(in.Text(), " ")
		switch command {
		case "go":
			close(started)
		case "close":
			close(closing)
		case "wall":
			shift, err := time.ParseDuration(argument)
			if err = errors.Join(err, shiftWall(shift)); err != nil {
				w.update(func(r *report) { r.Broken = err.Error() })
			}
		}
	}
	os.Exit(0)
}

// tell prints a report.
func (w *worker) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &w.report
	r.Serial++
	r.Renewals, r.Failures, r.Swaps = 0, 0, 0
	for _, l := range w.held {
		s := l.Stats()
		r.Renewals, r.Failures, r.Swaps = r.Renewals+s.Renewals, r.Failures+s.Failures, r.Swaps+s.Swaps
		r.Worker, r.Fence, r.Ceiling = s.Worker, s.Fence, s.Ceiling
		if s.Err != nil {
			r.saw(s.Err)
		}
	}
	line, err := json.Marshal(r)
	if err != nil {
		line = []byte(err.Error())
	}
	fmt.Printf("%s\n", line)
}

func (w *worker) update(change func(*report)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.report)
}

// saw counts an error in the Stats of a lease, once for every report that finds it there.
func (r *report) saw(err error) {
	var clock *sqlsnow.ClockError
	if errors.As(err, &clock) {
		r.ClockErrors++
	} else {
		r.Errors++
	}
}

// lose counts a number that was lost, by the reason in the log.
func (r *report) lose(reason string) {
	switch reason {
	case sqlsnow.Displaced.String():
		r.Displaced++
	case sqlsnow.Regressed.String():
		r.Regressed++
	default:
		r.OtherLosses++
	}
}

// The worker is the handler of its leases' log, which has a line for every number that was lost.
var _ slog.Handler = (*worker)(nil)

// Enabled implements [slog.Handler].
func (w *worker) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements [slog.Handler].
func (w *worker) Handle(_ context.Context, record slog.Record) error {
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "reason" {
			w.update(func(r *report) { r.lose(a.Value.String()) })
		}
		return true
	})
	return nil
}

// WithAttrs implements [slog.Handler].
func (w *worker) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup implements [slog.Handler].
func (w *worker) WithGroup(string) slog.Handler { return w }

// run is the life of a lease.
func (w *worker) run(i int) {
	if err := w.live(i); err != nil {
		w.update(func(r *report) { r.Broken = err.Error() })
	}
}

func (w *worker) live(i int) error {
	file, err := os.OpenFile(filepath.Join(w.Dir, fmt.Sprintf("%s-%d.ids", w.Holder, i)),
		os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if w.Segments != nil {
		return w.loadSegments(file)
	}
	if w.Fixed != nil {
		fixed, err := snow.Fixed(layout(), *w.Fixed)
		if err != nil {
			return err
		}
		return w.load(fixed, w.issue.Done(), file)
	}
	lease := w.acquire()
	if lease == nil {
		return nil
	}
	err = w.load(lease, lease.Done(), file)
	select {
	case <-lease.Done():
		w.update(func(r *report) { r.Ended++ })
	default:
	}
	return err
}

// acquire returns nil after an error, unless the job is patient.
func (w *worker) acquire() Lease {
	for {
		ctx, cancel := w.issue, context.CancelFunc(func() {})
		if w.Timeout > 0 {
			ctx, cancel = context.WithTimeout(ctx, w.Timeout)
		}
		lease, err := w.lease(ctx, sqlsnow.LeaseConfig{
			Namespace: w.Namespace, Worker: w.Pin, Holder: w.Holder, Logger: slog.New(w),
		})
		cancel()
		if err == nil {
			w.update(func(r *report) { r.Acquired++; w.held = append(w.held, lease) })
			if w.issue.Err() != nil {
				w.close() // has not seen this one, or has
			}
			return lease
		}
		w.update(func(r *report) { r.refuse(err) })
		if !w.Patient {
			return nil
		}
		select {
		case <-w.issue.Done():
			return nil
		case <-time.After(retryTime):
		}
	}
}

func (r *report) refuse(err error) {
	r.Refused++
	r.Failure = err.Error()
	var none *sqlsnow.NoWorkerError
	var held *sqlsnow.HeldError
	var clock *sqlsnow.ClockError
	switch {
	case errors.As(err, &none):
		r.NoWorker++
	case errors.As(err, &held):
		r.Held++
		r.HeldBy = held.Holder
	case errors.As(err, &clock):
		r.Clock++
	}
}

// close closes all leases while they make ids.
func (w *worker) close() {
	w.mu.Lock()
	held := w.held
	w.mu.Unlock()
	var all sync.WaitGroup
	for _, l := range held {
		all.Go(func() {
			err := l.Close(context.Background()) // the process ends with its parent
			w.update(func(r *report) {
				if err == nil {
					r.Closed++
				} else {
					r.Failure = err.Error()
				}
			})
		})
	}
	all.Wait()
}
