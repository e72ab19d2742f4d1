package sqlsnowtest

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

func segmentsUnmigrated(s *segmentSuite) {
	_, err := s.try([]*sql.DB{s.open()}, segments.Config{})
	for call, err := range map[string]error{
		"Open":  err,
		"Raise": segments.Raise(s.T.Context(), s.db, s.dialect, "orders", 5),
	} {
		s.wantIs(call, err, sqlsnow.ErrNotMigrated)
	}
}

func segmentsBadFields(s *segmentSuite) {
	s.migrate()
	db := s.open()
	one := []*sql.DB{db}
	for name, test := range map[string]struct {
		dbs []*sql.DB
		cfg segments.Config
	}{
		"no databases":  {nil, segments.Config{}},
		"a nil":         {[]*sql.DB{db, nil}, segments.Config{}},
		"tag":           {one, segments.Config{Tag: "a b"}},
		"long tag":      {one, segments.Config{Tag: strings.Repeat("a", 65)}},
		"negative step": {one, segments.Config{Step: -1}},
		"huge step":     {one, segments.Config{Step: 1 << 60}},
		"max step":      {one, segments.Config{Step: 10, MaxStep: 9}},
		"target":        {one, segments.Config{Target: -1}},
		"last":          {one, segments.Config{Last: 1<<63 - 1}},
		"negative last": {one, segments.Config{Last: -1}},
		"table":         {one, segments.Config{Tables: []segments.Table{{DB: db, Name: "orders"}}}},
	} {
		_, err := s.try(test.dbs, test.cfg)
		var field *snow.FieldError
		if !errors.As(err, &field) {
			s.T.Errorf("%s: got %v, want a FieldError", name, err)
		}
	}
	_, err := segments.Open(s.T.Context(), one, s.dialect, segments.Config{})
	_ = wantAs[*snow.FieldError](s.suite, "no tag", err)
	_ = wantAs[*snow.FieldError](s.suite, "Raise", segments.Raise(s.T.Context(), s.db, s.dialect, "orders", -1))
	s.wantIs("RaiseSegments of no row", segments.Raise(s.T.Context(), s.db, s.dialect, "orders", 1), segments.ErrMismatch)
	var n int
	if err := s.db.QueryRowContext(s.T.Context(), "SELECT COUNT(*) FROM snow_segments").Scan(&n); err != nil || n != 0 {
		s.T.Errorf("got %d rows and %v, want none", n, err)
	}
	s.exec("INSERT INTO snow_segments VALUES ('orders', 'space', 0, 0, 1, 1, 0)")
	s.wantIs("RaiseSegments of modulus 0", segments.Raise(s.T.Context(), s.db, s.dialect, "orders", 1), segments.ErrMismatch)
}

func segmentsRefuse(s *segmentSuite) {
	s.migrate()
	for name, test := range map[string]struct {
		open func(s *segmentSuite) *sql.DB
		want error
	}{
		"read-only": {func(s *segmentSuite) *sql.DB {
			if s.database.ReadOnly == nil {
				return nil
			}
			return s.opened(s.database.ReadOnly)
		}, sqlsnow.ErrReadOnly},
		"not durable": {func(s *segmentSuite) *sql.DB {
			if s.database.NotDurable == nil {
				return nil
			}
			return s.opened(s.database.NotDurable)
		}, sqlsnow.ErrNotDurable},
	} {
		db := test.open(s)
		if db == nil {
			continue
		}
		for _, when := range []string{"without a row", "with a row"} {
			_, err := s.try([]*sql.DB{db}, segments.Config{})
			s.wantIs(name+" "+when, err, test.want)
			before := s.rowText()
			s.start([]*sql.DB{s.open()}, segments.Config{})
			if when == "with a row" && before == s.rowText() {
				s.T.Error("nothing was taken on a good session")
			}
		}
		s.wantIs("RaiseSegments "+name, segments.Raise(s.T.Context(), db, s.dialect, "orders", 5), test.want)
		s.exec("DELETE FROM snow_segments")
	}
}

func segmentsDense(s *segmentSuite) {
	s.migrate()
	for tag := "orders"; !s.isDense(tag); tag += "s" {
	}
	other := s.start([]*sql.DB{s.open()}, segments.Config{Tag: "Orders"})
	if id := s.next(other); id != 1 {
		s.T.Errorf("another tag: got %d, want 1", id)
	}
}

// isDense checks the ids of a tag. It returns false if the database answered so late that numbers were left out.
func (s *segmentSuite) isDense(tag string) bool {
	got := s.start([]*sql.DB{s.open()}, segments.Config{Tag: tag, Step: 7})
	want := snow.ID(1)
	for _, n := range []int{1, 1, 3, 2, 30, 0, 1, 500, 5} {
		some := make([]snow.ID, n+1)
		err := got.Fill(s.T.Context(), some[:n])
		if err == nil {
			some[n], err = got.Next(s.T.Context())
		}
		if errors.Is(err, context.DeadlineExceeded) && s.T.Context().Err() == nil {
			return false
		}
		if err != nil {
			s.T.Fatal(err)
		}
		for _, id := range some {
			if id != want {
				s.T.Fatalf("got %d, want %d", id, want)
			}
			want++
		}
	}
	if stats := got.Stats(); stats.Issued != uint64(want-1) || stats.Left < 0 || len(stats.Databases) != 1 || !stats.Databases[0].Up ||
		stats.Databases[0].Left != stats.Left || stats.Waits == 0 || stats.Step != 7 || stats.Refills != stats.Databases[0].Takes-1 {
		s.T.Errorf("Stats: got %+v after %d ids", stats, want-1)
	}
	return true
}

func segmentsStart(s *segmentSuite) {
	for _, n := range []int{1, 3} {
		databases := s.databases(n)
		s.start(handles(databases), segments.Config{Tag: "orders"})
		boards := make([]switchboard, n)
		dbs := make([]*sql.DB, n)
		for i, one := range databases {
			dbs[i] = one.wire(boards[i].intercept)
		}
		s.start(dbs, segments.Config{Tag: "orders"})
		reads := int64(0)
		if s.dialect != sqlsnow.SQLite { // the schema there is "main"
			reads++
		}
		if n > 1 && s.dialect == sqlsnow.MySQL {
			reads++
		}
		for i := range boards {
			if got := boards[i].all.Load(); got != 1+reads || boards[i].reads.Load() != reads {
				s.T.Errorf("database %d of %d: got %d statements, %d of them reads, want %d and %d", i, n, got, boards[i].reads.Load(), 1+reads, reads)
			}
		}
		s.exec("DELETE FROM snow_segments")
	}
}

func segmentsAhead(s *segmentSuite) {
	s.migrate()
	got := s.start([]*sql.DB{s.open()}, segments.Config{Step: 100})
	for range 51 { // half, and one
		s.next(got)
	}
	s.await("numbers ahead", func() bool { return got.Stats().Refills == 1 })
	if stats := got.Stats(); stats.Left != 149 || stats.Waits != 0 {
		s.T.Errorf("Stats: got %+v, want 149 left and no waits", stats)
	}
	s.wantRow("0 mod 1, state 1, next 201")
}

func segmentsAtOnce(s *segmentSuite) {
	databases := s.databases(2)
	var all ids
	var wait sync.WaitGroup
	dbs := [][]*sql.DB{handles(databases), handles(databases), handles(databases)}
	for _, db := range slices.Concat(dbs...) {
		db.SetMaxOpenConns(100) // each process keeps one
	}
	for i := range 100 {
		wait.Go(func() {
			got, err := s.try(dbs[i%3], segments.Config{})
			if err != nil {
				s.T.Error(err)
				return
			}
			some := make([]snow.ID, 20)
			for n := 0; n < 3; {
				err := got.Fill(s.T.Context(), some)
				if errors.Is(err, segments.ErrEmpty) {
					continue // the databases are slow under such a load
				}
				if err != nil {
					s.T.Error(err)
					return
				}
				if !slices.IsSorted(some) {
					s.T.Errorf("do not ascend: %d", some)
				}
				all.add(s.T, some...)
				n++
			}
		})
	}
	wait.Wait()
	if len(all.seen) != 100*60 && !s.T.Failed() {
		s.T.Errorf("got %d ids", len(all.seen))
	}
}

func segmentsExhausted(s *segmentSuite) {
	databases := s.databases(2)
	got := s.start(handles(databases), segments.Config{Step: 8, Last: 25})
	var all ids
	for {
		id, err := got.Next(s.T.Context())
		if err != nil {
			s.wantIs("Next", err, segments.ErrExhausted)
			s.wantIs("Next", err, segments.ErrEmpty)
			break
		}
		if all.add(s.T, id); id > 25 {
			s.T.Fatalf("got %d", id)
		}
	}
	if len(all.seen) != 25 {
		s.T.Errorf("got %d ids, want 25", len(all.seen))
	}
	_, err := s.try(handles(databases), segments.Config{Last: 25})
	s.wantIs("Open", err, segments.ErrExhausted)
	// At the end of 63 bits, the next number in the row can still be stored.
	s.exec("UPDATE snow_segments SET next_id = 9223372036854774000")
	var last []*sql.DB
	last = append(last, s.open(), databases[1].open())
	databases[1].exec("UPDATE snow_segments SET next_id = 9223372036854774001")
	far := s.start(last, segments.Config{Step: 100})
	var end []snow.ID
	for {
		id, err := far.Next(s.T.Context())
		if err != nil {
			s.wantIs("Next", err, segments.ErrExhausted)
			break
		}
		end = append(end, id)
	}
	if most := snow.ID(1<<63 - 1 - 1024); len(end) != 784 || slices.Max(end) != most || slices.Min(end) != 9223372036854774000 {
		s.T.Errorf("got %d ids from %d to %d, want 784 to %d", len(end), slices.Min(end), slices.Max(end), most)
	}
}

func segmentsEnd(s *segmentSuite) {
	s.migrate()
	var board switchboard
	got := s.start([]*sql.DB{s.wire(func(ctx context.Context, statement string, send func() error) error {
		if board.cut.Load() {
			<-ctx.Done()
			return ctx.Err()
		}
		return send()
	})}, segments.Config{Step: 4})
	if id := s.next(got); id != 1 {
		s.T.Fatalf("got %d, want 1", id)
	}
	board.cut.Store(true)
	ctx, cancel := context.WithCancel(s.T.Context())
	failed := make(chan error)
	some := make([]snow.ID, 9)
	go func() { failed <- got.Fill(ctx, some) }()
	s.await("wait", func() bool { return got.Stats().Waits == 1 })
	cancel()
	s.wantIs("Fill", <-failed, context.Canceled)
	if slices.Max(some) != 0 {
		s.T.Errorf("Fill that failed: got %d", some)
	}
	for want := snow.ID(2); want <= 4; want++ { // the failed call took none
		if id := s.next(got); id != want {
			s.T.Errorf("got %d, want %d", id, want)
		}
	}
	go func() {
		_, err := got.Next(s.T.Context())
		failed <- err
	}()
	s.await("wait", func() bool { return got.Stats().Waits == 2 })
	if err := got.Close(s.T.Context()); err != nil {
		s.T.Errorf("Close: %v", err)
	}
	s.wantIs("Next under way", <-failed, segments.ErrClosed)
	_, err := got.Next(s.T.Context())
	s.wantIs("Next", err, segments.ErrClosed)
	s.wantIs("Fill", got.Fill(s.T.Context(), some), segments.ErrClosed)
	full := s.start([]*sql.DB{s.open()}, segments.Config{})
	for range 2 {
		if err := full.Close(s.T.Context()); err != nil {
			s.T.Errorf("Close: %v", err)
		}
	}
	_, err = full.Next(s.T.Context())
	s.wantIs("Next with numbers left", err, segments.ErrClosed)
	s.wantIs("Fill with numbers left", full.Fill(s.T.Context(), some[:1]), segments.ErrClosed)
	if left := full.Stats().Left; left != 0 {
		s.T.Errorf("Stats after Close: %d numbers left", left)
	}
	ended, end := context.WithCancel(s.T.Context())
	end()
	_, err = segments.Open(ended, []*sql.DB{s.open()}, s.dialect, segments.Config{Tag: "orders", Logger: silent})
	s.wantIs("Open", err, context.Canceled)
	board.cut.Store(false)
}

func segmentsSessions(s *segmentSuite) {
	s.migrate()
	var all ids
	want := snow.ID(1)
	for name, open := range s.database.Sessions {
		db := s.opened(open)
		got := s.start([]*sql.DB{db}, segments.Config{})
		for range 35 {
			id := s.next(got)
			all.add(s.T, id)
			if id < want {
				s.T.Errorf("%s: got %d, want %d or more", name, id, want)
			}
			want = id
		}
		if err := got.Close(s.T.Context()); err != nil {
			s.T.Error(err)
		}
		if err := segments.Raise(s.T.Context(), db, s.dialect, "orders", 2*want); err != nil {
			s.T.Errorf("%s: RaiseSegments: %v", name, err)
		}
		want = 2*want + 1
		two := s.another()
		two.migrate()
		pair := s.start([]*sql.DB{db, two.opened(two.database.Sessions[name])}, segments.Config{Tag: name})
		var some ids
		for range 50 {
			some.add(s.T, s.next(pair))
		}
	}
}
