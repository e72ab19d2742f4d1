//go:build unix

package job

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// A run waits for as long as a replica lags, a server is busy, or the pause file is there, and says why.
func TestThrottle(t *testing.T) {
	each(t, func(t *testing.T, d sqldialect.Dialect, dsn string) {
		db := open(t, d, dsn)
		for _, text := range []string{"CREATE TABLE delays (seconds INT)", "INSERT INTO delays VALUES (9)"} {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(t.TempDir(), "pause")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		off := Throttle{MostLag: -1, MostBusy: -1, Every: time.Millisecond}
		lag, paused := off, off
		lag.MostLag, lag.LagQuery, lag.Replicas = time.Second, "SELECT seconds FROM delays", []*sql.DB{db}
		paused.PauseFile = file
		for _, test := range []struct {
			name string
			Throttle
			says string
			end  func() error
		}{
			{"lag", lag, "replica 1 lags: 9s, and 1s may be", func() error {
				_, err := db.ExecContext(t.Context(), "UPDATE delays SET seconds = 1")
				return err
			}},
			{"pause", paused, "the pause file is there", func() error { return os.Remove(file) }},
		} {
			g := &gauge{Throttle: test.Throttle, dialect: d, db: db, e: engineFor(t, d)}
			var kinds []report.Kind
			err := g.wait(t.Context(), func(e report.Event) {
				kinds = append(kinds, e.Kind)
				if e.Kind == report.Waits {
					if !strings.HasPrefix(e.Why, test.says) {
						t.Errorf("%s: it says %q", test.name, e.Why)
					}
					if err := test.end(); err != nil {
						t.Error(err)
					}
				}
			})
			if err != nil || len(kinds) != 2 || kinds[0] != report.Waits || kinds[1] != report.GoesOn {
				t.Errorf("%s: %v, %v", test.name, kinds, err)
			}
		}
	})
}

func engineFor(t *testing.T, d sqldialect.Dialect) engine {
	t.Helper()
	e, err := engineOf(d)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A server is asked for its load, and its replicas for their lag. What is no replica makes the run wait.
func TestGauges(t *testing.T) {
	each(t, func(t *testing.T, d sqldialect.Dialect, dsn string) {
		db := open(t, d, dsn)
		g := &gauge{Throttle: Throttle{MostLag: time.Second, MostBusy: 1000}, dialect: d, db: db, e: engineFor(t, d)}
		if why, err := g.reason(t.Context()); why != "" || err != nil {
			t.Errorf("nothing is against it: %q, %v", why, err)
		}
		if n, err := g.busy(t.Context()); err != nil || n < 0 || n > 1000 {
			t.Errorf("%d sessions work, %v", n, err)
		}
		g.Replicas = []*sql.DB{db}
		if why, err := g.reason(t.Context()); !strings.HasPrefix(why, "replica 1 does not say how far it is") || err != nil {
			t.Errorf("a primary is taken for a replica: %q, %v", why, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.wait(ctx, func(report.Event) {}); err == nil {
			t.Error("the context has ended, and it goes on")
		}
	})
}

// A real replica says how far it is.
func TestReplica(t *testing.T) {
	primary := dbtest.MariaDB(t, "log_bin=primary", "server_id=1")
	replica := primary.Replica(t)
	g := &gauge{Throttle: Throttle{MostLag: time.Hour, MostBusy: -1, Replicas: []*sql.DB{open(t, sqldialect.MySQL, replica.DSN(""))}}, dialect: sqldialect.MySQL}
	for deadline := time.Now().Add(5 * time.Minute); ; { // it may still connect
		why, err := g.reason(t.Context())
		if why == "" && err == nil {
			return
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%q, %v", why, err)
		}
	}
}
