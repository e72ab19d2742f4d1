package segments

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/internal/fakedb"
)

// Segments have a connection of the pool from Open to Close. If it dies, they have another one within a minute,
// without a take.
func TestSegmentsKeepConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pings atomic.Int64
		var dies atomic.Bool
		db := fakedb.Open(func(_ context.Context, query string) ([]driver.Value, error) {
			switch {
			case query == fakedb.Ping:
				pings.Add(1)
				if dies.CompareAndSwap(true, false) {
					return nil, driver.ErrBadConn
				}
				return nil, nil
			case strings.HasPrefix(query, "UPDATE"):
				return []driver.Value{int64(11), int64(0), "space"}, nil
			case strings.HasPrefix(query, "VALUES"):
				return []driver.Value{time.Now().UnixMicro(), ""}, nil
			case strings.Contains(query, ".snow_segments "): // others have taken numbers
				return nil, nil
			}
			return []driver.Value{int64(1), "f", "on", "", "f", "public", "f", ""}, nil
		}, fakedb.Unexpected)
		defer db.Close()
		db.SetMaxOpenConns(2)
		s, err := Open(context.Background(), []*sql.DB{db}, sqlsnow.Postgres, Config{Tag: "t", Step: 10, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		for minute, want := range []struct {
			pings int64
			dies  bool
		}{{0, false}, {1, true}, {3, false}, {4, false}} {
			if pings.Load() != want.pings || db.Stats().InUse != 1 {
				t.Errorf("after %d minutes: got %d pings and %d connections in use, want %d and 1", minute, pings.Load(), db.Stats().InUse, want.pings)
			}
			dies.Store(want.dies)
			time.Sleep(reviveEvery)
			synctest.Wait()
		}
		if err := s.Close(t.Context()); err != nil || db.Stats().InUse != 0 {
			t.Errorf("Close: got %v and %d connections in use, want none", err, db.Stats().InUse)
		}
	})
}
