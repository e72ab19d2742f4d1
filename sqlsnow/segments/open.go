package segments

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
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
)

// Open takes the first numbers from each of dbs and returns when they are durable. It does not wait for databases
// that can't be reached, or that need 5 s longer to answer than another one: it asks them later. ctx only bounds
// the call.
//
// If none of dbs has a row for the tag, Open makes the rows, for which it needs all of dbs: with N databases,
// dbs[i] gives the numbers that are i modulo N. Processes that make the rows at the same moment must pass dbs in
// the same order, or all of them may be refused until somebody removes the rows. Once the rows exist, the order of
// dbs does not matter, but there must always be N of them. If rows do not fit together, because dbs has a database
// twice or two databases are copies of each other, Open returns [ErrMismatch].
//
// Open keeps one connection of each of dbs until Close. So numbers come even if callers that wait for them hold all
// others in transactions. If the connection dies, another one of the pool takes its place, within a minute or at
// the next take. A pool of a single connection is refused. In SQLite Open keeps none, because one connection writes
// at a time.
//
// Open reads the schema and the settings of each database, and executes one statement there. On MySQL with several
// databases, it then reads the row once. Later, a goroutine takes more before the numbers run out, until Close.
//
// Open returns [sqlsnow.ErrNotDurable] if the settings of a database allow it to lose what it confirmed, because
// segments have no LossWindow; [sqlsnow.ErrNotMigrated] if there is no table; a [*RegressedError] if a row went
// back; a [*snow.FieldError] if a field is out of bounds; and a [*sqlsnow.DatabaseError] for other errors of a
// database. If ctx ends while a statement is under way, the numbers that the statement takes are skipped.
func Open(ctx context.Context, dbs []*sql.DB, d sqlsnow.Dialect, cfg Config) (*Segments, error) {
	s, err := open(ctx, dbs, d, cfg)
	if err != nil {
		return nil, fmt.Errorf("segments: open tag %q: %w", cfg.Tag, err)
	}
	return s, nil
}

func open(ctx context.Context, dbs []*sql.DB, d sqlsnow.Dialect, cfg Config) (*Segments, error) {
	e, err := dbserver.SegmentsFor(d)
	if err != nil {
		return nil, err
	}
	if cfg, err = cfg.complete(); err != nil {
		return nil, err
	}
	if len(dbs) == 0 || len(dbs) > maxCounters {
		return nil, &snow.FieldError{Field: "dbs", Value: strconv.Itoa(len(dbs)), Bound: fmt.Sprintf("want 1 to %d", maxCounters)}
	}
	s := &Segments{
		tag: cfg.Tag, begin: time.Now(), log: cfg.Logger.With("tag", cfg.Tag),
		changed: make(chan struct{}), wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	s.pool.open(len(dbs), cfg)
	keeps := e.Dialect != sqldialect.SQLite // where one connection writes at a time
	for i, db := range dbs {
		switch {
		case db == nil:
			return nil, &snow.FieldError{Field: "dbs", Value: strconv.Itoa(i), Bound: "it is nil"}
		case keeps && db.Stats().MaxOpenConnections == 1:
			return nil, &snow.FieldError{Field: "dbs", Value: strconv.Itoa(i), Bound: "its pool has a single connection, want 2 or more: segments keep one of them"}
		}
	}
	for _, db := range dbs {
		if keeps {
			db = dbserver.Keep(db)
			s.kept = append(s.kept, db)
		}
		s.tables = append(s.tables, newTable(db, e, cfg.Tag, cfg.Tables))
	}
	if err := s.first(ctx); err != nil {
		s.free()
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
		case errors.Is(c.err, ErrMismatch) || errors.Is(c.err, sqlsnow.ErrNotMigrated) || errors.Is(c.err, sqlsnow.ErrNotDurable):
			errs = append(errs, ofDatabase(i, c.err)) // waiting does not help: somebody has to correct it
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if len(fresh) > 0 {
		bound, cancel := ctx, func() {}
		if s.pool.left() > 0 { // there are numbers already, so do not wait long for a database that hangs
			bound, cancel = context.WithTimeout(ctx, takeTimeout)
		}
		err := prepare(bound, s.tables)
		for tries := 0; err != nil && s.tables[0].engine.IsBusy(err) && tries < retry.MaxTries && retry.Pause(bound, firstRetry) == nil; tries++ {
			err = prepare(bound, s.tables)
		}
		cancel()
		if err == nil {
			s.contact(ctx, fresh)
		} else if s.pool.left() == 0 || errors.Is(err, ErrMismatch) && !errors.Is(err, errNoRow) {
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
			begin := s.now()
			for tries := 1; ; tries++ {
				s.mu.Lock()
				q := s.pool.begin(i, s.now())
				s.mu.Unlock()
				r := s.tables[i].ask(slow, q)
				if r.err != nil && slow.Err() != nil && ctx.Err() == nil {
					r = reply{err: fmt.Errorf("no answer within %v of another database: %w", takeTimeout, r.err)}
				}
				s.mu.Lock()
				s.pool.handle(q, r, s.now())
				wait := s.pool.counters[i].retry - s.now()
				again := r.busy || s.pool.counters[i].room > 0 && r.err != nil && r.room > 0
				s.mu.Unlock()
				switch {
				case r.err == nil:
					time.AfterFunc(takeTimeout, cancel)
					return
				// a slow machine gets its tries
				case !again || s.now()-begin > takeTimeout && tries > retry.MaxTries || slow.Err() != nil:
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
