package sqlsnowtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

func segmentsResidues(s *segmentSuite) {
	databases := s.databases(3)
	got := s.start(handles(databases), segments.Config{Step: 2})
	var all ids
	counts := map[snow.ID]int{}
	for range 60 {
		id := s.next(got)
		all.add(s.T, id)
		counts[id%3]++
	}
	if counts[0] < 12 || counts[1] < 12 || counts[2] < 12 {
		s.T.Errorf("ids by residue: got %v, want as many of each", counts)
	}
	for i, one := range databases {
		if want := fmt.Sprintf("%d mod 3, state 1, ", i); !strings.HasPrefix(one.rowText(), want) {
			s.T.Errorf("row %d: got %q, want %q", i, one.rowText(), want)
		}
	}
	dbs := handles(databases)
	dbs[0], dbs[2] = dbs[2], dbs[0]
	other := s.start(dbs, segments.Config{Step: 2})
	for range 60 {
		all.add(s.T, s.next(other), s.next(got))
	}
	for i, d := range other.Stats().Databases {
		if d.Residue != int64(2-i) || !d.Up || d.Err != nil {
			s.T.Errorf("Stats of database %d: got %+v", i, d)
		}
	}
}

func segmentsFirstNeedsAll(s *segmentSuite) {
	databases := s.databases(2)
	var board switchboard
	dbs := []*sql.DB{s.open(), databases[1].wire(board.intercept)}
	board.cut.Store(true)
	_, err := s.try(dbs, segments.Config{})
	s.wantIs("without the second", err, errLine)
	// The same with the row of the first there, but not compared.
	s.exec("INSERT INTO snow_segments VALUES ('orders', 'space', 2, 0, 0, 2, 0)")
	_, err = s.try(dbs, segments.Config{})
	s.wantIs("without the second", err, errLine)
	s.wantRow("0 mod 2, state 0, next 2")
	board.cut.Store(false)
	var all ids
	all.add(s.T, s.next(s.start(dbs, segments.Config{})))
	s.wantRow("0 mod 2, state 1, next 22")
	databases[1].wantRow("1 mod 2, state 1, next 21")
	// A process may have ended when it had opened one of them.
	databases[1].exec("UPDATE snow_segments SET state = 0")
	all.add(s.T, s.next(s.start(dbs, segments.Config{})))
	databases[1].wantRow("1 mod 2, state 1, next 41")
}

func segmentsOneDown(s *segmentSuite) {
	databases := s.databases(3)
	var boards [3]switchboard
	dbs := make([]*sql.DB, 3)
	for i := range dbs {
		dbs[i] = databases[i].wire(boards[i].intercept)
	}
	var all ids
	s.start(dbs, segments.Config{})
	var j journal
	running := s.start(dbs, segments.Config{Step: 4, Logger: slog.New(&j)})
	for _, down := range [][]int{{1}, {0, 2}} {
		for _, i := range down {
			boards[i].cut.Store(true)
		}
		late := s.start(dbs, segments.Config{Step: 4})
		for _, got := range []*segments.Segments{running, late} {
			for range 100 {
				all.add(s.T, s.next(got))
			}
			stats := got.Stats()
			for _, i := range down {
				if d := stats.Databases[i]; d.Up || !errors.Is(d.Err, errLine) {
					s.T.Errorf("database %d is down: got %+v", i, d)
				}
			}
		}
		for _, i := range down {
			boards[i].cut.Store(false)
		}
		for _, got := range []*segments.Segments{running, late} {
			s.await("all databases", func() bool {
				all.add(s.T, s.next(got))
				up := true
				for _, d := range got.Stats().Databases {
					up = up && d.Up
				}
				return up
			})
		}
	}
	s.awaitEvent(&j, "gives no numbers", 3)
	s.awaitEvent(&j, "gives numbers again", 3)
	for i := range boards {
		boards[i].cut.Store(true)
	}
	for {
		id, err := running.Next(s.T.Context())
		if err != nil {
			s.wantIs("with none", err, segments.ErrEmpty)
			s.wantIs("with none", err, errLine)
			break
		}
		all.add(s.T, id)
	}
	boards[2].cut.Store(false)
	s.await("ids", func() bool {
		id, err := running.Next(s.T.Context())
		if err == nil {
			all.add(s.T, id)
		}
		return err == nil
	})
}

func segmentsMismatch(s *segmentSuite) {
	databases := s.databases(2)
	mismatch := func(what string, dbs []*sql.DB) {
		s.T.Helper()
		_, err := s.try(dbs, segments.Config{})
		s.wantIs(what, err, segments.ErrMismatch)
	}
	// The same database, before there are rows, and after.
	for range 2 {
		mismatch("the same twice", []*sql.DB{s.open(), s.open()})
		if got := s.rowText(); !strings.HasPrefix(got, "0 mod 2, state 0") {
			s.T.Errorf("row: got %q, want one that is not open", got)
		}
	}
	s.exec("DELETE FROM snow_segments")
	s.start(handles(databases), segments.Config{})
	mismatch("the same twice, in use", []*sql.DB{s.open(), s.open()})
	mismatch("another number", []*sql.DB{s.open()})
	mismatch("another number", append(handles(databases), databases[1].open()))
	for name, edit := range map[string][2]string{
		"residues overlap":     {"residue = 0, next_id = 200", "residue = 1, next_id = 201"},
		"another modulus":      {"modulus = 3, residue = 2, next_id = 302", "modulus = 2, residue = 1, next_id = 301"},
		"not of the residue":   {"next_id = next_id + 1", "next_id = next_id - 1"},
		"of another space":     {"space_uuid = 'other'", "space_uuid = (SELECT s FROM (SELECT MAX(space_uuid) AS s FROM kept) AS k)"},
		"residue beyond":       {"residue = 2, next_id = 402", "residue = 1, next_id = 401"},
		"negative":             {"next_id = -1", "next_id = 501"},
		"modulus of less than": {"modulus = -2", "modulus = 2"},
	} {
		_, _ = databases[1].db.ExecContext(s.T.Context(), "DROP TABLE kept")
		databases[1].exec("CREATE TABLE kept AS SELECT space_uuid FROM snow_segments")
		for _, state := range []string{"1", "0"} {
			if name == "negative" && state == "1" {
				continue // that is a regression
			}
			databases[1].exec("UPDATE snow_segments SET state = " + state + ", " + edit[0])
			before := databases[1].rowText()
			mismatch(name+" in state "+state, handles(databases))
			if after := databases[1].rowText(); after != before && name != "residues overlap" && name != "of another space" {
				// the statement sees it
				s.T.Errorf("%s in state %s: the row was %q and is %q", name, state, before, after)
			}
			databases[1].exec("UPDATE snow_segments SET state = 1, " + edit[1])
			if state == "1" {
				s.start(handles(databases), segments.Config{}) // it was that
			}
		}
	}
	// A database that comes later is compared as well.
	var board switchboard
	board.cut.Store(true)
	got := s.start([]*sql.DB{s.open(), databases[1].wire(board.intercept)}, segments.Config{})
	databases[1].exec("UPDATE snow_segments SET residue = 0, next_id = 1000")
	board.cut.Store(false)
	var all ids
	s.await("comparison", func() bool {
		id := s.next(got)
		all.add(s.T, id)
		if id%2 != 0 {
			s.T.Fatalf("got %d of the other database", id)
		}
		return errors.Is(got.Stats().Databases[1].Err, segments.ErrMismatch)
	})
	for range 50 {
		all.add(s.T, s.next(got))
	}
	for id := range all.seen {
		if id >= 1000 && id < 1020 {
			s.T.Errorf("got %d, of a row that does not fit", id)
		}
	}
}

func segmentsGone(s *segmentSuite) {
	databases := s.databases(2)
	dbs := handles(databases)
	s.start(dbs, segments.Config{})
	running := s.start(dbs, segments.Config{})
	databases[1].exec("DELETE FROM snow_segments")
	late := s.start(dbs, segments.Config{})
	var all ids
	for _, got := range []*segments.Segments{running, late} {
		for range 100 {
			all.add(s.T, s.next(got))
		}
		if d := got.Stats().Databases[1]; d.Up || !errors.Is(d.Err, segments.ErrMismatch) {
			s.T.Errorf("Stats of the database without a row: got %+v", d)
		}
	}
	if got := databases[1].rowText(); !strings.Contains(got, "no rows") {
		s.T.Errorf("row: got %q, want none", got)
	}
}

func segmentsRegressed(s *segmentSuite) {
	databases := s.databases(2)
	dbs := handles(databases)
	var j journal
	got := s.start(dbs, segments.Config{Logger: slog.New(&j)})
	var all ids
	for range 100 {
		all.add(s.T, s.next(got))
	}
	databases[0].exec("UPDATE snow_segments SET next_id = 42")
	s.await("regression", func() bool {
		all.add(s.T, s.next(got))
		return got.Stats().Regressions == 1
	})
	s.awaitEvent(&j, "went back", 1)
	back := wantAs[*segments.RegressedError](s.suite, "Stats", got.Stats().Databases[0].Err)
	if back.Database != 0 || back.Next != 42 || back.Least <= 42 {
		s.T.Errorf("got %+v, want database 0 at 42", back)
	}
	if d := got.Stats().Databases[0]; d.Up || d.Left != 0 {
		s.T.Errorf("Stats: got %+v, want it down with none left", d)
	}
	for range 50 {
		id := s.next(got)
		if all.add(s.T, id); id%2 == 0 {
			s.T.Fatalf("got %d of the row that went back", id)
		}
	}
	s.wantRow("0 mod 2, state 2, next 42")
	late := s.start(dbs, segments.Config{}) // it has not seen higher numbers
	back = wantAs[*segments.RegressedError](s.suite, "Stats of another", late.Stats().Databases[0].Err)
	if back.Next != 42 || back.Least != 0 {
		s.T.Errorf("another: got %+v, want 42", back)
	}
	// If the row is raised too little, a process that has seen higher numbers notices it.
	if err := segments.Raise(s.T.Context(), s.db, s.dialect, "orders", 43); err != nil {
		s.T.Fatal(err)
	}
	s.wantRow("0 mod 2, state 1, next 44")
	s.await("fence again", func() bool {
		all.add(s.T, s.next(got))
		return strings.Contains(s.rowText(), "state 2")
	})
	for range 2 {
		if err := segments.Raise(s.T.Context(), s.db, s.dialect, "orders", 100_000); err != nil {
			s.T.Fatal(err)
		}
	}
	if row := s.rowText(); !strings.HasPrefix(row, "0 mod 2, state 1, next 1000") {
		s.T.Errorf("row: got %q, want it open from 100002", row)
	}
	s.await("numbers of both", func() bool {
		all.add(s.T, s.next(got), s.next(late))
		return got.Stats().Databases[0].Up && late.Stats().Databases[0].Up
	})
	// Alone, it is an error at once.
	s.exec("UPDATE snow_segments SET tag = 'alone', modulus = 1, residue = 0")
	alone := s.start(dbs[:1], segments.Config{Tag: "alone"})
	s.exec("UPDATE snow_segments SET next_id = 7")
	for {
		if _, err := alone.Next(s.T.Context()); err != nil {
			_ = wantAs[*segments.RegressedError](s.suite, "Next", err)
			break
		}
	}
	_, err := s.try(dbs[:1], segments.Config{Tag: "alone"})
	_ = wantAs[*segments.RegressedError](s.suite, "Open", err)
}

func segmentsTables(s *segmentSuite) {
	databases := s.databases(2)
	for _, name := range []string{"things", "others"} {
		s.exec("CREATE TABLE " + name + " (id BIGINT PRIMARY KEY)")
	}
	s.exec("INSERT INTO others VALUES (41), (70)")
	tables := []segments.Table{{DB: s.db, Name: "things", Column: "id"}, {DB: s.db, Name: "others", Column: "id"}}
	got := s.start(handles(databases), segments.Config{Tables: tables})
	var all ids
	for range 100 {
		id := s.next(got)
		if all.add(s.T, id); id <= 70 {
			s.T.Fatalf("got %d, want more than 70", id)
		}
	}
	// Each row is compared with the ids of its own residue: one may be far behind the other.
	s.exec("INSERT INTO things VALUES (1001), (60)")
	databases[1].exec("UPDATE snow_segments SET next_id = 1003")
	late := s.start(handles(databases), segments.Config{Tables: tables})
	for range 30 {
		all.add(s.T, s.next(late))
	}
	if d := late.Stats().Databases; !d[0].Up || !d[1].Up {
		s.T.Errorf("Stats: got %+v, want both up", d)
	}
	for _, running := range []*segments.Segments{got, late} { // otherwise these would notice it first
		if err := running.Close(s.T.Context()); err != nil {
			s.T.Fatal(err)
		}
	}
	databases[1].exec("UPDATE snow_segments SET next_id = 1001")
	after := s.start(handles(databases), segments.Config{Tables: tables})
	back := wantAs[*segments.RegressedError](s.suite, "Stats", after.Stats().Databases[1].Err)
	if back.Next != 1001 || back.Least != 1002 || back.Database != 1 {
		s.T.Errorf("got %+v, want 1001, at least 1002", back)
	}
	databases[1].wantRow("1 mod 2, state 2, next 1001")
	s.exec("UPDATE snow_segments SET next_id = 50")
	_, err := s.try(handles(databases), segments.Config{Tables: tables})
	_ = wantAs[*segments.RegressedError](s.suite, "Open", err)
	// After the highest id of all there is none left, with or without a row.
	s.exec("INSERT INTO things VALUES (9223372036854775807)")
	s.exec("UPDATE snow_segments SET tag = 'alone', modulus = 1, residue = 0, state = 1")
	one, alone := []*sql.DB{s.open()}, segments.Config{Tag: "alone", Tables: tables}
	_, err = s.try(one, alone)
	_ = wantAs[*segments.RegressedError](s.suite, "behind the highest id of all", err)
	alone.Tag = "new"
	_, err = s.try(one, alone)
	s.wantIs("behind the highest id of all, without a row", err, segments.ErrExhausted)
	_, err = s.try(handles(databases), segments.Config{Tag: "bad", Tables: []segments.Table{{DB: s.db, Name: "no such", Column: `i"d`}}})
	_ = wantAs[*sqlsnow.DatabaseError](s.suite, "no such table", err)
}

func segmentsUnknown(s *segmentSuite) {
	databases := s.databases(2)
	var all ids
	honest := s.start(handles(databases), segments.Config{})
	var fault atomic.Int64
	wires := make([]*sql.DB, 2)
	for i := range wires {
		wires[i] = databases[i].wire(func(_ context.Context, statement string, send func() error) error {
			if !isWrite(statement) {
				return send()
			}
			switch fault.Add(1) % 4 {
			case 0: // lost after it was done
				return errors.Join(send(), errLine)
			case 1: // done twice, answered once
				return errors.Join(send(), send())
			case 2: // lost before
				return errLine
			}
			return send()
		})
	}
	var got *segments.Segments
	for got == nil {
		got, _ = s.try(wires, segments.Config{})
	}
	for range 500 {
		all.add(s.T, s.next(honest))
		id, err := got.Next(s.T.Context())
		if err == nil {
			all.add(s.T, id)
		} else {
			s.wantIs("Next", err, errLine)
		}
	}
	if n := got.Stats().Databases; n[0].Failures+n[1].Failures == 0 {
		s.T.Error("no take failed")
	}
}
