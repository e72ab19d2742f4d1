package sqlsnow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/shardsnow/snow"
)

const (
	defaultStep    = 1000
	defaultMaxStep = 1 << 24
	defaultTarget  = time.Minute

	takeTimeout = 5 * time.Second // of a request in the background, and of the others at the start when one database has answered

	// highestSegmentID leaves room for what a row says is the next number.
	highestSegmentID = math.MaxInt64 - mostCounters
)

// SegmentConfig configures [OpenSegments]. All but Tag may be zero.
type SegmentConfig struct {
	// Tag names a sequence of numbers: 1 to 64 letters, digits, and . _ - : / of ASCII. Case counts. Tables that share keys
	// share a tag.
	Tag string

	// Step is how many numbers to take at once to begin with, and the fewest later. Zero means 1,000.
	Step int64

	// MaxStep bounds the step as it grows. Zero means 16,777,216, or Step if that is more. Equal to Step it does not grow.
	MaxStep int64

	// Target is how long numbers that are taken at once should last: the step doubles when it was less, and halves when it was
	// more than twice as much. It is also about how long ids go on without any database. Zero means a minute.
	Target time.Duration

	// Last is the highest id, such as 1<<53 - 1 for JavaScript. Zero means 1,024 less than the highest of 63 bits.
	Last snow.ID

	// Tables are those that the ids are stored in. Before the first numbers of a database are taken, its row is compared with
	// the highest id there, and a row that is not beyond it is a *RegressedError; new rows begin above. It costs a statement for
	// the row and one for each table, for which the column needs an index. Nil means that the row is believed.
	Tables []SegmentTable

	// Logger is told when a database goes and comes. Nil means slog.Default.
	Logger *slog.Logger
}

// A SegmentTable is a table that has ids of a tag.
type SegmentTable struct {
	DB     *sql.DB // where it is; of the dialect that OpenSegments is called with
	Name   string  // may have a schema before a dot
	Column string  // of the ids
}

// OpenSegments takes the first numbers from each of dbs and returns when they are durable. It returns without those that can't
// be reached or do not answer within 5 s of another one, and asks them later. ctx only bounds the call.
//
// Where the table has no row for the tag in any of dbs, rows are made, which needs all of dbs: with N databases that of dbs[i]
// gives the numbers that are i modulo N. Processes that begin it at the same moment must have the same order, or may all be
// refused, until somebody removes the rows. After that the rows count, not the order of dbs, but their number stays N for good.
// [ErrSegmentsMismatch] is returned if rows do not fit together, as when one database is there twice or two are copies.
//
// It is one statement for each database. On MySQL, where there are several, it is followed by one read of the row. Later, a
// goroutine takes more before the numbers run out, until Close.
//
// A database that may lose what it confirmed, by its settings, is [ErrNotDurable]; there is no LossWindow here. Without the
// table it is [ErrNotMigrated]. A row that went back is a [*RegressedError], see there and SegmentConfig.Tables. Fields out
// of bounds are a [*snow.FieldError], other errors of a database are a [*DatabaseError]. If ctx ends while a statement is under
// way, the numbers that it takes are skipped.
func OpenSegments(ctx context.Context, dbs []*sql.DB, d Dialect, cfg SegmentConfig) (*Segments, error) {
	s, err := openSegments(ctx, dbs, d, cfg)
	if err != nil {
		return nil, fmt.Errorf("sqlsnow: open segments of tag %q: %w", cfg.Tag, err)
	}
	return s, nil
}

// complete checks c and fills in what is left out.
func (c SegmentConfig) complete() (SegmentConfig, error) {
	if err := checkName("Tag", c.Tag); err != nil {
		return c, err
	}
	if c.Step == 0 {
		c.Step = defaultStep
	}
	if c.MaxStep == 0 {
		c.MaxStep = max(defaultMaxStep, c.Step)
	}
	if c.Target == 0 {
		c.Target = defaultTarget
	}
	if c.Last == 0 {
		c.Last = highestSegmentID
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	for _, f := range []struct {
		name               string
		value, least, most int64
	}{
		{"Step", c.Step, 1, mostStep},
		{"MaxStep", c.MaxStep, c.Step, mostStep},
		{"Target", int64(c.Target), 1, int64(24 * time.Hour)},
		{"Last", int64(c.Last), 1, highestSegmentID},
	} {
		if f.value < f.least || f.value > f.most {
			return c, &snow.FieldError{Field: f.name, Value: strconv.FormatInt(f.value, 10), Bound: fmt.Sprintf("want %d to %d", f.least, f.most)}
		}
	}
	for i, t := range c.Tables {
		if t.DB == nil || t.Name == "" || t.Column == "" {
			return c, &snow.FieldError{Field: "Tables", Value: strconv.Itoa(i), Bound: "want a database, a name and a column"}
		}
	}
	return c, nil
}

func openSegments(ctx context.Context, dbs []*sql.DB, d Dialect, cfg SegmentConfig) (*Segments, error) {
	e, err := engineOf(d)
	if err != nil {
		return nil, err
	}
	if cfg, err = cfg.complete(); err != nil {
		return nil, err
	}
	if len(dbs) == 0 || len(dbs) > mostCounters {
		return nil, &snow.FieldError{Field: "dbs", Value: strconv.Itoa(len(dbs)), Bound: fmt.Sprintf("want 1 to %d", mostCounters)}
	}
	s := &Segments{
		tag: cfg.Tag, begin: time.Now(), log: cfg.Logger.With("tag", cfg.Tag),
		changed: make(chan struct{}), wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	s.pool.open(len(dbs), cfg)
	for i, db := range dbs {
		if db == nil {
			return nil, &snow.FieldError{Field: "dbs", Value: strconv.Itoa(i), Bound: "it is nil"}
		}
		s.tables = append(s.tables, &segmentTable{db: db, engine: e, tag: cfg.Tag, tables: cfg.Tables})
	}
	if err := s.first(ctx); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	go s.run()
	return s, nil
}

// first takes numbers from every database.
func (s *Segments) first(ctx context.Context) error {
	all := make([]int, len(s.tables))
	for i := range all {
		all[i] = i
	}
	s.contact(ctx, all)
	var fresh []int
	var errs []error
	for i, c := range s.pool.counters {
		switch {
		case errors.Is(c.err, errNoRow) || errors.Is(c.err, errNotSealed):
			fresh = append(fresh, i)
		case errors.Is(c.err, ErrSegmentsMismatch) || errors.Is(c.err, ErrNotMigrated) || errors.Is(c.err, ErrNotDurable):
			errs = append(errs, ofDatabase(i, c.err)) // of somebody's making, and for all processes alike
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if len(fresh) > 0 {
		bound, cancel := ctx, func() {}
		if s.pool.left() > 0 { // then one that hangs is done without, too
			bound, cancel = context.WithTimeout(ctx, takeTimeout)
		}
		err := prepareSegments(bound, s.tables)
		for tries := 0; err != nil && s.tables[0].engine.isBusy(err) && tries < mostTries && pause(bound, firstRetry) == nil; tries++ {
			err = prepareSegments(bound, s.tables)
		}
		cancel()
		if err == nil {
			s.contact(ctx, fresh)
		} else if s.pool.left() == 0 || errors.Is(err, ErrSegmentsMismatch) && !errors.Is(err, errNoRow) {
			return err
		} else {
			for _, i := range fresh {
				s.pool.counters[i].err = err
			}
		}
	}
	if s.pool.left() > 0 {
		return ctx.Err()
	}
	for i, c := range s.pool.counters {
		errs = append(errs, ofDatabase(i, c.err))
	}
	return errors.Join(errs...)
}

// contact asks databases for their first numbers, all at once.
func (s *Segments) contact(ctx context.Context, which []int) {
	slow, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for _, i := range which {
		all.Go(func() {
			for begin := s.now(); ; {
				s.mu.Lock()
				q := s.pool.begin(i, s.now())
				s.mu.Unlock()
				r := s.tables[i].take(slow, q)
				if r.err != nil && slow.Err() != nil && ctx.Err() == nil {
					r = segmentTaken{err: fmt.Errorf("no answer within %v of another database: %w", takeTimeout, r.err)}
				}
				s.mu.Lock()
				s.pool.handle(q, r, s.now(), true)
				wait := s.pool.counters[i].retry - s.now()
				again := r.busy || s.pool.counters[i].room > 0 && r.err != nil && r.room > 0
				s.mu.Unlock()
				switch {
				case r.err == nil:
					time.AfterFunc(takeTimeout, cancel)
					return
				case !again || s.now()-begin > takeTimeout || slow.Err() != nil:
					return
				}
				select {
				case <-time.After(wait):
				case <-slow.Done():
				}
			}
		})
	}
	all.Wait()
}
