package sqlsnowtest

import (
	"database/sql"
	"fmt"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

func segmentsGiveBack(s *segmentSuite) {
	databases := s.databases(2)
	one := []*sql.DB{s.open()}
	end := func(got *segments.Segments) {
		s.T.Helper()
		if err := got.Close(s.T.Context()); err != nil {
			s.T.Errorf("Close: %v", err)
		}
	}
	var all ids
	next := func(from *segments.Segments) (id snow.ID) {
		s.T.Helper()
		id = s.next(from)
		all.add(s.T, id)
		return id
	}
	// The numbers of one process after another leave nothing out.
	want := snow.ID(1)
	for _, n := range []int{0, 3, 8, 37, 1} {
		got := s.start(one, segments.Config{})
		if n == 37 {
			some := make([]snow.ID, n)
			if err := got.Fill(s.T.Context(), some); err != nil || some[0] != want {
				s.T.Fatalf("Fill: got %d and %v, want %d first", some[0], err, want)
			}
			all.add(s.T, some...)
			want += snow.ID(n)
			n = 0
		}
		for range n {
			if id := next(got); id != want {
				s.T.Fatalf("got %d, want %d", id, want)
			}
			want++
		}
		// no take is under way
		s.await("numbers ahead", func() bool { return got.Stats().Left > 10 || got.Stats().Issued < 5 })
		end(got)
		end(got)
	}
	s.wantRow("0 mod 1, state 1, next 50")

	// Not if another process took numbers since. The other one can.
	first, second := s.start(one, segments.Config{}), s.start(one, segments.Config{})
	next(first)
	next(second)
	end(first)
	s.wantRow("0 mod 1, state 1, next 70")
	end(second)
	s.wantRow("0 mod 1, state 1, next 61")

	// Nor if somebody changed the row.
	got := s.start(one, segments.Config{})
	next(got)
	s.exec("UPDATE snow_segments SET takes = takes + 1")
	end(got)
	s.wantRow("0 mod 1, state 1, next 71")

	// Nor if the database forgot the take and another process has the numbers.
	got = s.start(one, segments.Config{})
	next(got)
	s.exec("UPDATE snow_segments SET next_id = 71, takes = takes - 1048576")
	second = s.start(one, segments.Config{})
	end(got)
	s.wantRow("0 mod 1, state 1, next 81")
	end(second)
	s.wantRow("0 mod 1, state 1, next 71")

	// Each of several databases gets its own.
	s.exec("DELETE FROM snow_segments")
	dbs := handles(databases)
	got = s.start(dbs, segments.Config{})
	lows := map[snow.ID]snow.ID{0: 2, 1: 1}
	for range 3 {
		id := s.next(got)
		lows[id%2] = id + 2
	}
	end(got)
	for residue, one := range databases {
		if want, row := lows[snow.ID(residue)], one.rowText(); row != fmt.Sprintf("%d mod 2, state 1, next %d", residue, want) {
			s.T.Errorf("row %d: got %q, want it at %d", residue, row, want)
		}
	}
}
