package segments

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/internal/fakedb"
)

func TestSegmentStatsJSON(t *testing.T) {
	s := Stats{Issued: 1, Left: 2, Step: 3, Refills: 4, Waits: 5, Regressions: 6, Databases: []Database{
		{Up: true, Residue: 1, Left: 7, Takes: 8, Failures: 9}, {Err: errors.New("no route"), Residue: -1},
	}}
	const want = `{"issued":1,"left":2,"step":3,"refills":4,"waits":5,"regressions":6,"databases":[` +
		`{"up":true,"residue":1,"left":7,"takes":8,"failures":9},{"up":false,"residue":-1,"left":0,"takes":0,"failures":0,"error":"no route"}]}`
	if got, err := json.Marshal(s); string(got) != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

// A call that waits for numbers counts once, and calls that find some do not.
func TestSegmentsCountWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next, release := int64(1), make(chan struct{})
		db := fakedb.Open(func(_ context.Context, query string) ([]driver.Value, error) {
			switch {
			case query == fakedb.Ping:
				return nil, nil
			case strings.HasPrefix(query, "UPDATE"):
				if next > 1 {
					<-release
				}
				next += 10
				return []driver.Value{next, int64(0), "space"}, nil
			case strings.HasPrefix(query, "VALUES"):
				return []driver.Value{time.Now().UnixMicro(), ""}, nil
			case strings.Contains(query, ".snow_segments "):
				return nil, nil
			}
			return []driver.Value{int64(1), "f", "on", "", "f", "public", "f", ""}, nil
		}, fakedb.Unexpected)
		defer db.Close()
		s, err := Open(t.Context(), []*sql.DB{db}, sqlsnow.Postgres, Config{Tag: "t", Step: 10, MaxStep: 10, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		take := func(want int) {
			if id, err := s.Next(t.Context()); int(id) != want || err != nil {
				t.Errorf("got %d and %v, want %d", id, err, want)
			}
		}
		for i := range 10 {
			take(i + 1)
		}
		if got := s.Stats(); got.Waits != 0 || got.Issued != 10 || got.Left != 0 {
			t.Errorf("before: %+v", got)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			take(11)
		}()
		synctest.Wait()
		if got := s.Stats().Waits; got != 1 {
			t.Errorf("%d calls wait, want 1", got)
		}
		close(release)
		<-done
		if got := s.Stats(); got.Waits != 1 || got.Refills == 0 || got.Issued != 11 {
			t.Errorf("after: %+v", got)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
