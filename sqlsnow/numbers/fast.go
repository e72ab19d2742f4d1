package numbers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/sqlsnow"
)

const (
	defaultStep = 100
	longestStep = 1 << 20

	// The date is read again this often. So the clocks of the machine and of the database can't drift apart by more
	// than some milliseconds.
	readClockEvery = time.Minute
	// The two clocks of a machine differ by this much if it was asleep, or somebody has set it.
	mostSkew = time.Second

	mostCounters = 1 << 16 // in memory
)

// FastConfig configures [OpenFast].
type FastConfig struct {
	Config

	// Step is how many numbers of a counter are taken at once: 1 to 1,048,576. Zero means 100. What a process has at
	// hand when it ends, or when the period ends, is skipped. With a LossWindow, a block grows while it lasts for less
	// than that, and shrinks to Step again.
	Step int64

	// LossWindow is how much of what it confirmed the database may lose in a failover, such as what an asynchronous
	// replica lacks that takes over: up to 10 minutes. All processes of a series need it. Zero means nothing, and a
	// number is there at once. With more, the first number of a counter comes LossWindow and 500 ms after it was asked
	// for, and the next block is taken ahead: see "Failovers that lose commits" of the package.
	LossWindow time.Duration
}

// Fast is a series with gaps: a process takes a block of numbers with one statement, and gives them out in memory.
// Every number is given out once. Numbers of one process ascend, and numbers of other processes are between them.
//
// All methods are safe for concurrent use.
type Fast struct {
	series *series
	step   int64
	wait   time.Duration    // from a claim to its proof; 0 without a LossWindow
	clock  func() time.Time // monotonic
	take   dbserver.Statement
	turn   dbserver.Statement
	own    dbserver.Statement

	reading semaphore // held while the clock is read
	owned   semaphore // held while kept is used
	kept    proof     // of the configuration
	mu      sync.Mutex
	today   today
	period  string
	blocks  map[string]*block
	coming  map[string]claim // of the next period
}

// A today is what is known about the database's date.
type today struct {
	window
	now  int64     // the database's clock
	sent time.Time // just before it was read
}

// valid reports whether the database's date is surely the one of t. Its clock was read after t.sent, so it is at most
// t.now and the time since then.
func (t *today) valid(at time.Time) bool {
	passed, wall := at.Sub(t.sent), at.Round(0).Sub(t.sent.Round(0))
	return passed < readClockEvery && (wall-passed).Abs() < mostSkew && t.now+passed.Microseconds() < t.end
}

// A semaphore is a lock that a caller stops waiting for when its context ends.
type semaphore chan struct{}

func (s semaphore) lock(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	default:
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s semaphore) unlock() { <-s }

// OpenFast opens a series with gaps. The first call for a series stores its configuration; later ones must have the
// same, except for the padding of the number, Step and LossWindow. Nothing has to be closed.
//
// OpenFast returns the errors of [OpenGapFree], and [sqlsnow.ErrNotDurable] if the settings of the database allow it to
// lose more than LossWindow of what it confirmed.
func OpenFast(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, cfg FastConfig) (*Fast, error) {
	f, err := openFast(ctx, db, d, cfg)
	if err != nil {
		return nil, fmt.Errorf("numbers: open series %q: %w", cfg.Series, err)
	}
	return f, nil
}

func openFast(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, cfg FastConfig) (*Fast, error) {
	if cfg.Step == 0 {
		cfg.Step = defaultStep
	}
	if cfg.Step < 1 || cfg.Step > longestStep {
		return nil, &snow.FieldError{Field: "Step", Value: strconv.FormatInt(cfg.Step, 10), Bound: fmt.Sprintf("want 1 to %d", longestStep)}
	}
	if cfg.LossWindow < 0 || cfg.LossWindow > longestLoss {
		return nil, &snow.FieldError{Field: "LossWindow", Value: cfg.LossWindow.String(), Bound: fmt.Sprintf("want 0 to %v", longestLoss)}
	}
	s, err := open(ctx, db, d, cfg.Config, fast, cfg.LossWindow)
	if err != nil {
		return nil, err
	}
	f := newFast(s, cfg.Step)
	if cfg.LossWindow == 0 {
		return f, nil
	}
	f.wait = cfg.LossWindow + eps
	return f, databaseError(s.engine, "mark the configuration", f.claimSeries(ctx))
}

func newFast(s *series, step int64) *Fast {
	return &Fast{
		series: s, step: step, clock: time.Now,
		take: s.engine.Compile(updateTake), turn: s.engine.Compile(updateTurn), own: s.engine.Compile(updateSeries),
		reading: make(semaphore, 1), owned: make(semaphore, 1), blocks: make(map[string]*block), coming: make(map[string]claim),
	}
}

// Pattern returns the pattern of the series.
func (f *Fast) Pattern() Pattern { return f.series.pattern }

// Partitions returns the names of the partitions, in order.
func (f *Fast) Partitions() []string { return f.series.pattern.Partitions() }

// GapFree returns false. Package gormsnow asks it.
func (f *Fast) GapFree() bool { return false }

// Next returns a number that is given out only once. While numbers are at hand, and for a minute after the database's
// date was read, it asks no database. Otherwise it needs a connection of the pool: call it before a transaction, or
// give the series a pool of its own. With a LossWindow, Next waits as long for the first number of a counter, and
// whenever a block was used up faster than that; when ctx ends earlier, a later call goes on with the wait.
//
// Next returns an [*OverflowError] if the padding has no room, a [*ValueError], a [*RegressedError] and a
// [*sqlsnow.DatabaseError].
func (f *Fast) Next(ctx context.Context, partitions ...string) (string, error) {
	var one [1]string
	if err := f.Fill(ctx, one[:], partitions...); err != nil {
		return "", err
	}
	return one[0], nil
}

// Fill sets all of texts as Next would, in ascending order. After an error it has set none.
func (f *Fast) Fill(ctx context.Context, texts []string, partitions ...string) error {
	if err := f.fill(ctx, texts, partitions); err != nil {
		return fmt.Errorf("numbers: series %q: %w", f.series.name, err)
	}
	return nil
}

// FillIn is Fill. With it, Fast is a number series of package gormsnow. The transaction is not used.
func (f *Fast) FillIn(ctx context.Context, _ Tx, texts []string, partitions ...string) error {
	return f.Fill(ctx, texts, partitions...)
}

// errTurned says that the database's date is no longer the one of a window.
var errTurned = errors.New("the date has changed")

func (f *Fast) fill(ctx context.Context, texts, partitions []string) error {
	if err := f.series.pattern.checkValues(partitions); err != nil || len(texts) == 0 {
		return err
	}
	var err error
	for range maxTurns {
		var w window
		if w, err = f.date(ctx); err != nil {
			return databaseError(f.series.engine, "read the date", err)
		}
		if err = f.fillIn(ctx, w, texts, partitions); !errors.Is(err, errTurned) {
			return databaseError(f.series.engine, "take numbers", err)
		}
		f.mu.Lock()
		f.today = today{}
		f.mu.Unlock()
	}
	return ErrClock
}

// date returns the window of the database's date.
func (f *Fast) date(ctx context.Context) (window, error) {
	if w, ok := f.known(); ok {
		return w, nil
	}
	if err := f.reading.lock(ctx); err != nil {
		return window{}, err
	}
	defer f.reading.unlock()
	if w, ok := f.known(); ok {
		return w, nil // another goroutine has read it
	}
	var sent time.Time
	var now int64
	err := f.series.patiently(ctx, func() error {
		sent = f.clock()
		stored, err := f.series.define(ctx)
		now = stored.now
		return err
	})
	if err != nil {
		return window{}, err
	}
	w := f.series.windowAt(now)
	period := f.series.scope(w, nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.today = today{w, now, sent}
	if period != f.period {
		f.period = period
		clear(f.blocks) // what they have left is skipped
		for scope, ahead := range f.coming {
			if ahead.period == period {
				f.blocks[scope] = &block{semaphore: make(semaphore, 1), ahead: ahead, size: ahead.count}
			}
		}
		clear(f.coming)
	}
	return w, nil
}

func (f *Fast) known() (window, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.today.window, f.today.valid(f.clock())
}
