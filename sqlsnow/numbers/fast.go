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
	"github.com/shardsnow/snow/internal/retry"
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
	// hand when it ends, or when the period ends, is skipped.
	Step int64
}

// Fast is a series with gaps: a process takes a block of numbers with one statement, and gives them out in memory.
// Every number is given out once. Numbers of one process ascend, and numbers of other processes are between them.
//
// All methods are safe for concurrent use.
type Fast struct {
	series *series
	step   int64
	take   dbserver.Statement

	reading semaphore // held while the clock is read
	mu      sync.Mutex
	today   today
	period  string
	blocks  map[string]*block
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

// A block has the numbers of a counter that are at hand.
type block struct {
	semaphore       // held while numbers are taken
	next, end int64 // from next to end; end is also the highest that this process knows of
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
// same, except for the padding of the number and Step. Nothing has to be closed.
//
// OpenFast returns the errors of [OpenGapFree], and [sqlsnow.ErrNotDurable] if the settings of the database allow it to
// lose what it confirmed.
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
	s, err := open(ctx, db, d, cfg.Config, fast, 0)
	if err != nil {
		return nil, err
	}
	return newFast(s, cfg.Step), nil
}

func newFast(s *series, step int64) *Fast {
	return &Fast{
		series: s, step: step, take: s.engine.Compile(updateTake),
		reading: make(semaphore, 1), blocks: make(map[string]*block),
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
// give the series a pool of its own.
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
	sent := time.Now()
	now, err := f.series.define(ctx)
	for tries := 0; f.series.engine.IsBusy(err) && tries < retry.MaxTries && retry.Pause(ctx, firstRetry) == nil; tries++ {
		sent = time.Now()
		now, err = f.series.define(ctx)
	}
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
	}
	return w, nil
}

func (f *Fast) known() (window, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.today.window, f.today.valid(time.Now())
}

// block returns the numbers at hand of a counter.
func (f *Fast) block(scope string) *block {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.blocks[scope]
	if ok {
		return b
	}
	if len(f.blocks) >= mostCounters {
		for other := range f.blocks { // any: its numbers are skipped
			delete(f.blocks, other)
			break
		}
	}
	b = &block{semaphore: make(semaphore, 1), next: 1}
	f.blocks[scope] = b
	return b
}

// fillIn fills texts with numbers of the date of w.
func (f *Fast) fillIn(ctx context.Context, w window, texts, partitions []string) error {
	s := f.series
	scope := s.scope(w, partitions)
	n := int64(len(texts))
	if err := s.checkCount(len(texts), scope); err != nil {
		return err
	}
	b := f.block(scope)
	if err := b.lock(ctx); err != nil {
		return err
	}
	defer b.unlock()
	i := 0
	give := func(next, end int64) (rest int64) {
		for ; next <= end && i < len(texts); next++ {
			texts[i] = string(s.pattern.append(nil, w.day, next, partitions))
			i++
		}
		return next
	}
	left := b.end - b.next + 1
	if left >= n {
		b.next = give(b.next, b.end)
		return nil
	}
	first, count, err := f.more(ctx, w, scope, n-left, b.end)
	if err != nil {
		return err
	}
	give(b.next, b.end)
	b.next, b.end = give(first, first+count-1), first+count-1
	return nil
}

// more takes a block of at least need numbers above least. The numbers are durable, and nobody else has them.
func (f *Fast) more(ctx context.Context, w window, scope string, need, least int64) (first, count int64, err error) {
	s := f.series
	count = max(f.step, need)
	for tries := 0; ; tries++ {
		var changed bool
		first, changed, err = f.try(ctx, w, scope, count, least)
		if changed && err == nil {
			return first, count, nil
		}
		if err == nil {
			count, err = f.diagnose(ctx, w, scope, count, need, least)
		}
		if err != nil && !s.engine.IsBusy(err) {
			return 0, 0, err
		}
		if tries == retry.MaxTries || err != nil && retry.Pause(ctx, firstRetry) != nil {
			if err == nil {
				err = errors.New("the counter changed whenever it was read")
			}
			return 0, 0, err
		}
	}
}

func (f *Fast) try(ctx context.Context, w window, scope string, count, least int64) (first int64, changed bool, err error) {
	s := f.series
	values := map[string]any{
		"series": s.name, "scope": scope, "count": count, "least": least, "room": s.pattern.Highest() - count, "begin": w.begin, "end": w.end,
	}
	err = s.engine.Write(ctx, s.db, dbserver.ForSegments, func(on *dbserver.Session) (_ bool, err error) {
		changed, err = on.Update(ctx, f.take, values, &first)
		if s.engine.HasReturning() {
			first -= count - 1
		}
		return changed, err
	})
	return first, changed, err
}

// diagnose says why the statement that takes numbers changed no row, or what to take instead.
func (f *Fast) diagnose(ctx context.Context, w window, scope string, count, need, least int64) (int64, error) {
	s := f.series
	row, found, err := s.counter(ctx, scope)
	free := s.pattern.Highest() - row.last
	switch {
	case err != nil:
		return 0, err
	case !found && least > 0:
		return 0, &RegressedError{Scope: scope, Least: least}
	case !found:
		return count, s.insertCounter(ctx, scope)
	case row.state != stateOpen:
		back := &RegressedError{Scope: scope, Last: row.last}
		if row.last < least { // this process finds the regression as well
			back.Least = least
		}
		return 0, back
	case row.last < least:
		// Stop all processes, also any that has not seen a higher number. If that fails, the next take tries it again.
		_, _ = s.change(ctx, updateFence, map[string]any{"scope": scope, "least": least})
		return 0, &RegressedError{Scope: scope, Last: row.last, Least: least}
	case !w.has(row.now):
		return 0, errTurned
	case free < need:
		return 0, s.overflow(scope)
	case free < count:
		return free, nil
	}
	info, err := s.engine.Info(ctx, s.db)
	if err == nil {
		err = info.Check(0)
	}
	return count, err
}
