package segments

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/internal/fakedb"
)

// Segments have a connection of the pool from Open to Close. If it dies, they have another one within a minute, without a take.
func TestSegmentsKeepConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pings, dies := 0, false
		db := fakedb.Open(func(_ context.Context, query string) ([]driver.Value, error) {
			switch {
			case query == fakedb.Ping:
				if pings++; dies {
					dies = false
					return nil, driver.ErrBadConn
				}
				return nil, nil
			case strings.HasPrefix(query, "UPDATE"):
				return []driver.Value{int64(11), int64(0), "space"}, nil
			}
			return []driver.Value{time.Now().UnixMicro(), ""}, nil
		}, fakedb.Unexpected)
		defer db.Close()
		db.SetMaxOpenConns(2)
		s, err := Open(context.Background(), []*sql.DB{db}, sqlsnow.Postgres, Config{Tag: "t", Step: 10, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		for minute, want := range []struct {
			pings int
			dies  bool
		}{{0, false}, {1, true}, {3, false}, {4, false}} {
			if pings != want.pings || db.Stats().InUse != 1 {
				t.Errorf("after %d minutes: got %d pings and %d connections in use, want %d and 1", minute, pings, db.Stats().InUse, want.pings)
			}
			dies = want.dies
			time.Sleep(reviveEvery)
			synctest.Wait()
		}
		if err := s.Close(t.Context()); err != nil || db.Stats().InUse != 0 {
			t.Errorf("Close: got %v and %d connections in use, want none", err, db.Stats().InUse)
		}
	})
}
