package segments

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/retry"
)

// Segments are numbers that a process takes from counters in databases, many at a time, and gives out in memory.
// They are a [snow.Source].
//
// Every id is given out once. With one database, the ids of one process ascend, and ids of other processes are
// between them. With several databases, each gives the numbers of one residue, and ids ascend within one Fill only.
// Numbers that a process has at hand when it ends are skipped, unless [Segments.Close] can give them back: up to
// two steps and what a Fill waited for, and as much as one of these for each of several databases.
//
// All methods are safe for concurrent use.
type Segments struct {
	pool pool // first, so that current has a cache line of its own

	mu      sync.Mutex    // of pool and what follows
	err     error         // after Close
	rest    []remainder   // that Close left to give back
	changed chan struct{} // closed when waiting callers should try again
	waits   uint64
	refills uint64

	tables  []*table
	kept    []*sql.DB // of tables, each with a connection
	tag     string
	begin   time.Time // times of the pool count from it
	log     *slog.Logger
	wake    chan struct{} // makes run look at the pool
	ctx     context.Context
	cancel  context.CancelFunc
	ended   chan struct{} // closed when the work in the background has ended
	asking  sync.WaitGroup
	closing sync.Once
}

var _ snow.Source = (*Segments)(nil)

func (s *Segments) now() time.Duration { return time.Since(s.begin) }

// Next returns an id that is given out only once. While numbers are at hand it asks no database; otherwise it waits
// for more, until ctx ends. It returns [ErrEmpty] at once if no database gives numbers, [ErrExhausted] at the end
// of the numbers, and [ErrClosed] after Close.
func (s *Segments) Next(ctx context.Context) (snow.ID, error) {
	if b := s.pool.current.Load(); b != nil {
		if i := b.reserved.Add(1) - 1; i < b.count {
			return snow.ID(b.first + i*b.stride), nil
		}
	}
	return s.next(ctx)
}

// next is Next when the current block has no number left.
func (s *Segments) next(ctx context.Context) (snow.ID, error) {
	var one [1]snow.ID
	if err := s.Fill(ctx, one[:]); err != nil {
		return 0, err
	}
	return one[0], nil
}

// Fill sets all of ids as Next would, in ascending order. After an error it has taken none. If ids needs more
// numbers than are at hand, Fill waits until there are enough at once. If MaxStep is so low that other callers use
// up each step, that can take until ctx ends.
func (s *Segments) Fill(ctx context.Context, ids []snow.ID) error {
	b := s.pool.current.Load()
	if b == nil {
		clear(ids)
		return errNotOpened
	}
	if b.fill(ids) {
		return nil
	}
	if err := s.wait(ctx, ids); err != nil {
		clear(ids)
		return fmt.Errorf("segments: tag %q: %w", s.tag, err)
	}
	return nil
}

func (s *Segments) wait(ctx context.Context, ids []snow.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for waited := false; ; waited = true {
		if s.err != nil {
			return s.err
		}
		ok := s.pool.fill(ids)
		if !ok {
			s.pool.wanted = max(s.pool.wanted, int64(len(ids)))
		}
		if s.pool.needs() {
			select {
			case s.wake <- struct{}{}:
			default: // it is awake
			}
		}
		if ok {
			return nil
		}
		if err := s.pool.hopeless(); err != nil {
			return err
		}
		if !waited {
			s.waits++
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
			s.mu.Lock()
		case <-ctx.Done():
			s.mu.Lock()
			return ctx.Err()
		}
	}
}

// run takes numbers until Close.
func (s *Segments) run() {
	defer close(s.ended)
	defer s.free()
	defer s.giveBack()
	defer s.asking.Wait()
	alive := time.NewTicker(reviveEvery)
	defer alive.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-s.wake:
		case <-timer.C:
		case <-alive.C:
			for i := range s.kept {
				s.asking.Go(func() { s.revive(s.tables[i]) })
			}
			continue
		case <-s.ctx.Done():
			return
		}
		for {
			s.mu.Lock()
			q, ok, again := s.pool.ask(s.now())
			s.mu.Unlock()
			if !ok {
				timer.Stop()
				if again > 0 {
					timer.Reset(max(again-s.now(), 0))
				}
				break
			}
			s.asking.Go(func() { s.ask(q) })
		}
	}
}

// ask asks a database for numbers and handles the reply.
func (s *Segments) ask(q request) {
	ctx, cancel := context.WithTimeout(s.ctx, takeTimeout)
	defer cancel()
	t := s.tables[q.counter]
	t.using.Lock()
	r := t.ask(ctx, q)
	t.using.Unlock()
	s.mu.Lock()
	var event event
	if s.err == nil {
		event = s.pool.handle(q, r, s.now())
		if r.err == nil {
			s.refills++
		}
		close(s.changed)
		s.changed = make(chan struct{})
	}
	left := s.pool.left()
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	switch event {
	case wentDown:
		s.log.Warn("segments: a database gives no numbers", "database", q.counter, "left", left, "error", r.err)
	case cameUp:
		s.log.Info("segments: a database gives numbers again", "database", q.counter)
	case wentBack:
		s.log.Error("segments: a row went back", "database", q.counter, "left", left, "error", r.err)
	}
}

// revive takes care that the kept connection of a database lives. A take that is under way finds out by itself.
func (s *Segments) revive(t *table) {
	if t.using.TryLock() {
		defer t.using.Unlock()
		ctx, cancel := context.WithTimeout(s.ctx, takeTimeout)
		defer cancel()
		dbserver.Revive(ctx, t.db)
	}
}

// free gives the kept connections back to their pools.
func (s *Segments) free() {
	for _, db := range s.kept {
		_ = db.Close()
	}
}

// Close ends the segments: from now on Next and Fill return [ErrClosed]. Close stops the work in the background and
// waits for its end. It gives back the numbers that are left, to each database that no other process took numbers
// from since. Numbers that can't be given back are skipped, without an error. If ctx ends first, Close returns its
// error; the work ends all the same, within 5 s, and another Close can wait for it. If ctx has ended before the call,
// Close waits for these 5 s.
func (s *Segments) Close(ctx context.Context) error {
	if s.pool.current.Load() == nil {
		return errNotOpened
	}
	s.closing.Do(func() {
		s.mu.Lock()
		s.err = ErrClosed
		s.rest = s.pool.close()
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		s.cancel()
	})
	select {
	case <-s.ended:
		return nil
	default:
	}
	ctx, cancel := retry.ToClose(ctx)
	defer cancel()
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("segments: close tag %q: %w", s.tag, ctx.Err())
	}
}

// Stats returns how the segments are doing. It asks nobody.
func (s *Segments) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pool
	b := p.current.Load()
	if b == nil {
		return Stats{}
	}
	left := b.left()
	stats := Stats{
		Issued: uint64(p.issued + b.count - left), Left: left, Step: p.step, Refills: s.refills, Waits: s.waits,
		Databases: make([]Database, len(p.counters)),
	}
	for i := range p.counters {
		c := &p.counters[i]
		d := Database{Up: c.known && !c.down, Err: c.err, Residue: -1, Takes: c.takes, Failures: c.failures}
		if c.known {
			d.Residue = c.residue
		}
		stats.Regressions += c.regressions
		stats.Databases[i] = d
	}
	stats.Databases[b.counter].Left = left
	for _, span := range p.queue {
		stats.Databases[span.counter].Left += span.count
		stats.Left += span.count
	}
	return stats
}
