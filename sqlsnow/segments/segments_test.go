package segments

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/retry"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/internal/fakedb"
)

func testPool(counters int, c Config) *pool {
	p := &pool{}
	c.Tag = "t"
	c, err := c.complete()
	if err != nil {
		panic(err)
	}
	p.open(counters, c)
	return p
}

// give answers a request with numbers from start on.
func give(q request, start int64) reply {
	return reply{start: start, residue: start % q.modulus}
}

// What is left at the end is given back, but not to a database that may still act on a request.
func TestRemainder(t *testing.T) {
	for _, test := range []struct {
		name string
		last func(p *pool) // after a take
		want int
	}{
		{"all is answered", func(*pool) {}, 1},
		{"a request has no answer", func(p *pool) { p.begin(0, 0) }, 0},
		{"a request failed, which may mean that it arrives later", func(p *pool) { p.handle(p.begin(0, 0), reply{err: errSimTimeout}, 0) }, 0},
		{"and was answered the next time", func(p *pool) {
			p.handle(p.begin(0, 0), reply{err: errSimTimeout}, 0)
			q := p.begin(0, 0)
			p.handle(q, give(q, 11), 0)
		}, 1},
	} {
		p := testPool(1, Config{Step: 10})
		p.random = func(time.Duration) time.Duration { return 0 }
		q := p.begin(0, 0)
		p.handle(q, give(q, 1), 0)
		test.last(p)
		if got := p.close(); len(got) != test.want {
			t.Errorf("%s: gives back %+v, want %d remainders", test.name, got, test.want)
		}
	}
}

// Which database is asked, and when.
func TestSegmentTurns(t *testing.T) {
	p := testPool(3, Config{Step: 10})
	p.random = func(time.Duration) time.Duration { return 0 }
	ask := func(now time.Duration) (int, time.Duration) {
		t.Helper()
		q, ok, again := p.ask(now)
		if !ok {
			return -1, again
		}
		return q.counter, again
	}
	want := func(now time.Duration, counter int, again time.Duration) {
		t.Helper()
		if got, at := ask(now); got != counter || at != again {
			t.Fatalf("at %v: asked %d or again at %v, want %d and %v", now, got, at, counter, again)
		}
	}
	want(0, 0, 0)
	want(1, -1, hedgeAfter) // one is enough, as long as it may answer
	want(hedgeAfter, 1, 0)
	want(hedgeAfter, -1, 2*hedgeAfter)
	p.handle(request{counter: 1}, reply{err: errSimDown}, hedgeAfter)
	want(hedgeAfter, 2, 0)
	p.handle(request{counter: 2}, reply{err: errSimDown}, hedgeAfter)
	want(hedgeAfter, -1, hedgeAfter+firstRetry/2)
	if err := p.hopeless(); err != nil {
		t.Errorf("one may answer yet: %v", err)
	}
	q := request{counter: 0, count: 10, modulus: 3, least: 1, most: 1 << 40, contact: true}
	p.handle(q, reply{err: errSimDown}, hedgeAfter)
	if err := p.hopeless(); !errors.Is(err, ErrEmpty) || !errors.Is(err, errSimDown) {
		t.Errorf("all are down: got %v", err)
	}
	now := time.Second
	want(now, 0, 0) // the first of those whose turn it is
	p.handle(q, give(q, 30), now)
	if err := p.hopeless(); err != nil {
		t.Errorf("one is up: %v", err)
	}
	for i := range 3 { // they wait longer and longer
		c := &p.counters[1]
		p.handle(request{counter: 1}, reply{err: errSimDown}, now)
		if got, want := c.retry-now, firstRetry<<(i+1)/2; got != want {
			t.Errorf("after %d failures: again after %v, want %v", i+2, got, want)
		}
	}
	p.step = 5 // half of what is there
	if got, again := ask(now); got != -1 || again != 0 {
		t.Errorf("with enough at hand: asked %d or again at %v", got, again)
	}
	p.wanted = 11
	want(now, 2, 0)
}

// A reply that can't be true is not accepted.
func TestSegmentAnswersThatDoNotFit(t *testing.T) {
	for name, r := range map[string]reply{
		"below what was given": {start: 28, residue: 0},
		"above the last":       {start: 96, residue: 0},
		"another residue":      {start: 31, residue: 1},
		"wrong residue": {
			start: 31, residue: 0,
		},
		"zero":     {start: 0, residue: 0},
		"negative": {start: -2, residue: 0},
	} {
		p := testPool(2, Config{Step: 4, Last: 100})
		q := p.begin(0, 0)
		p.handle(q, give(q, 22), 0)
		before := p.left()
		q = p.begin(0, 0)
		p.handle(q, r, 0)
		if err := p.counters[0].err; !errors.Is(err, ErrMismatch) || p.left() != before {
			t.Errorf("%s: got %v and %d more numbers", name, err, p.left()-before)
		}
	}
}

// Nobody gets numbers of a row that went back, not even a caller that has loaded their block.
func TestSegmentDiscards(t *testing.T) {
	p := testPool(2, Config{Step: 4})
	p.handle(p.begin(0, 0), give(request{modulus: 2}, 2), 0)
	p.handle(p.begin(1, 0), give(request{modulus: 2}, 3), 0)
	p.handle(p.begin(0, 0), give(request{modulus: 2}, 10), 0)
	b := p.current.Load()
	if b.counter != 0 || p.left() != 12 {
		t.Fatalf("got a block of %d and %d numbers, want 0 and 12", b.counter, p.left())
	}
	back := &RegressedError{Next: 5}
	for range 2 {
		if turn := p.handle(p.begin(0, 0), reply{err: back}, 0); p.counters[0].regressions != 1 || turn != wentBack && turn != noEvent {
			t.Errorf("got %+v and %v, want one regression", p.counters[0], turn)
		}
	}
	if i := b.reserved.Add(1) - 1; i < b.count || b.fill(make([]snow.ID, 1)) {
		t.Errorf("the block gives its number %d", i)
	}
	ids := make([]snow.ID, 4)
	if !p.fill(ids) || !slices.Equal(ids, []snow.ID{3, 5, 7, 9}) || p.left() != 0 {
		t.Errorf("got %d and %d more, want those of the other database", ids, p.left())
	}
}

// Callers take numbers while blocks are swapped, put back and cut under them. Every number is given once, none is
// left out, and each caller's ascend.
func TestSegmentsAtOnce(t *testing.T) {
	s := &Segments{tag: "t", changed: make(chan struct{}), wake: make(chan struct{}, 1)}
	c, err := Config{Tag: "t", Step: 3, MaxStep: 40, Target: time.Nanosecond}.complete()
	if err != nil {
		t.Fatal(err)
	}
	s.pool.open(1, c)
	done := make(chan struct{})
	var fed sync.WaitGroup
	fed.Go(func() {
		next := int64(1)
		for {
			select {
			case <-s.wake:
			case <-done:
				return
			}
			s.mu.Lock()
			for q, ok, _ := s.pool.ask(0); ok; q, ok, _ = s.pool.ask(0) {
				s.pool.handle(q, give(q, next), 0)
				next += q.count
				if next%3 == 0 {
					s.pool.step = max(s.pool.step/2, 3)
				}
			}
			close(s.changed)
			s.changed = make(chan struct{})
			s.mu.Unlock()
		}
	})
	const callers, each = 8, 20_000
	all := make([][]snow.ID, callers)
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for len(all[i]) < each {
				some := make([]snow.ID, 1+random.IntN(30)/10*random.IntN(40))
				var err error
				if len(some) == 1 {
					some[0], err = s.Next(t.Context())
				} else {
					err = s.Fill(t.Context(), some)
				}
				if err != nil {
					t.Error(err)
					return
				}
				all[i] = append(all[i], some...)
			}
		})
	}
	wait.Wait()
	close(done)
	fed.Wait()
	for i, ids := range all {
		if !slices.IsSorted(ids) {
			t.Errorf("caller %d: ids do not ascend", i)
		}
	}
	ids := slices.Concat(all...)
	slices.Sort(ids)
	for i, id := range ids {
		if id != snow.ID(i+1) {
			t.Fatalf("id %d is %d", i+1, id)
		}
	}
	if stats := s.Stats(); stats.Issued != uint64(len(ids)) {
		t.Errorf("Stats: got %+v, want %d issued", stats, len(ids))
	}
}

func TestSegmentsOfNoDatabase(t *testing.T) {
	var s Segments
	ids := []snow.ID{1}
	_, err := s.Next(t.Context())
	for _, err := range []error{err, s.Fill(t.Context(), ids), s.Close(t.Context())} {
		if !errors.Is(err, errNotOpened) {
			t.Errorf("got %v, want %v", err, errNotOpened)
		}
	}
	if got := s.Stats(); ids[0] != 0 || got.Left != 0 || got.Databases != nil {
		t.Errorf("got %v and %+v", ids, got)
	}
}

// A database where other statements are in the way for long counts as one that gives no numbers.
func TestSegmentsThatAreBlocked(t *testing.T) {
	p := testPool(1, Config{})
	answer := func(now time.Duration, r reply) (event, error) {
		return p.handle(p.begin(0, now), r, now), p.hopeless()
	}
	blocked := reply{err: errSimDown, busy: true}
	start := time.Second
	for now := start; now < start+takeTimeout; now += firstRetry {
		if turn, err := answer(now, blocked); turn != noEvent || err != nil {
			t.Fatalf("after %v: got %v and %v, want another try", now-start, turn, err)
		}
	}
	for i, want := range []event{wentDown, noEvent} {
		if turn, err := answer(start+takeTimeout, blocked); turn != want || !errors.Is(err, errSimDown) {
			t.Errorf("after %v, %d: got %v and %v, want it down", takeTimeout, i, turn, err)
		}
	}
	q := p.begin(0, time.Minute)
	if turn, err := answer(time.Minute, give(q, 1)); turn != cameUp || err != nil {
		t.Errorf("with numbers: got %v and %v, want it up", turn, err)
	}
	if turn, err := answer(time.Hour, blocked); turn != noEvent || err != nil {
		t.Errorf("in the way again: got %v and %v, want another try", turn, err)
	}
}

// If the context of a Close ends, another Close can wait for the end of the work. No Close waits for another one.
// If the context has ended before, Close waits for 5 s.
func TestSegmentsCloseTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Segments{tag: "t", changed: make(chan struct{}), ended: make(chan struct{}), cancel: func() {}}
		s.pool.open(1, Config{Step: 1})
		var first sync.WaitGroup
		first.Go(func() {
			if err := s.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := s.Close(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("while it ends: got %v, want %v", err, context.Canceled)
		}
		begun := time.Now()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 5*time.Second {
			t.Errorf("with a context that has ended: got %v after %v", err, time.Since(begun))
		}
		time.AfterFunc(time.Second, func() { close(s.ended) })
		for range 2 {
			if err := s.Close(ctx); err != nil {
				t.Errorf("until its end: got %v", err)
			}
		}
		first.Wait()
	})
}

// One of three databases has numbers, one hangs and one has lost its row: the start waits for neither.
func TestSegmentsOpenBesideOneThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dbs []*sql.DB
		var looks int64
		for _, answer := range []fakedb.Answer{
			func(_ context.Context, query string) ([]driver.Value, error) {
				switch {
				case strings.HasPrefix(query, "VALUES"):
					return []driver.Value{time.Now().UnixMicro(), ""}, nil
				case strings.HasPrefix(query, "UPDATE"):
					return []driver.Value{int64(33), int64(0), "space"}, nil
				case strings.Contains(query, ".snow_segments "):
					return []driver.Value{"space", int64(3), int64(0), int64(stateOpen), int64(33)}, nil
				}
				return []driver.Value{int64(1), "f", "on", "", "f", "public", "f", ""}, nil
			},
			func(ctx context.Context, _ string) ([]driver.Value, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			func(_ context.Context, query string) ([]driver.Value, error) {
				switch {
				case strings.HasPrefix(query, "VALUES"):
					looks++
					return []driver.Value{looks, ""}, nil
				case strings.Contains(query, ".snow_segments "):
					return nil, nil
				}
				return []driver.Value{int64(1), "f", "on", "", "f", "public", "f", ""}, nil
			},
		} {
			db := fakedb.Open(answer, fakedb.Unexpected)
			defer db.Close()
			dbs = append(dbs, db)
		}
		begin := time.Now()
		s, err := Open(context.Background(), dbs, sqlsnow.Postgres, Config{Tag: "t", Step: 10, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if id, err := s.Next(t.Context()); id != 3 || err != nil {
			t.Errorf("got %d and %v, want 3", id, err)
		}
		if took := time.Since(begin); took != 2*takeTimeout {
			t.Errorf("the start took %v, want %v for the first numbers and as much for the row", took, takeTimeout)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A row that others change each time is asked for at least MaxTries times, also by a machine that needs seconds for
// each.
func TestSegmentsOpenOnSlowMachine(t *testing.T) {
	for _, test := range []struct {
		moves int // before a statement finds the row as it was read
		opens bool
	}{{retry.MaxTries, true}, {1 << 30, false}} {
		synctest.Test(t, func(t *testing.T) {
			moves := 0
			db := fakedb.Open(func(_ context.Context, query string) ([]driver.Value, error) {
				switch {
				case strings.HasPrefix(query, "UPDATE"):
					time.Sleep(takeTimeout / 2)
					if moves++; moves <= test.moves {
						return nil, nil
					}
					return []driver.Value{int64(11), int64(0), "space"}, nil
				case strings.Contains(query, ".snow_segments "):
					return []driver.Value{"space", int64(1), int64(0), int64(stateOpen), int64(1)}, nil
				case strings.HasPrefix(query, "VALUES"):
					return []driver.Value{time.Now().UnixMicro(), ""}, nil
				}
				return []driver.Value{int64(1), "f", "on", "", "f", "public", "f", ""}, nil
			}, fakedb.Unexpected)
			defer db.Close()
			s, err := Open(context.Background(), []*sql.DB{db}, sqlsnow.Postgres, Config{Tag: "t", Step: 10, MaxStep: 10, Logger: slog.New(slog.DiscardHandler)})
			if test.opens && err != nil || !test.opens && !errors.Is(err, errMoved) {
				t.Errorf("after %d tries: got %v", moves, err)
			}
			if s != nil {
				if err := s.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
