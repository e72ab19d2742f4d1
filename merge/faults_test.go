//go:build unix

package merge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/merge/report"
)

// Ranges that the ledger has lost are not copied, and Verify says so.
func TestLostRanges(t *testing.T) {
	for _, minted := range []bool{true, false} {
		for _, seq := range []int{1, 3, 10} {
			t.Run(fmt.Sprint(minted, seq), func(t *testing.T) {
				f := newFixture(t, "", []string{"CREATE TABLE orders (id INT PRIMARY KEY, v INT)"}, []string{"INSERT INTO orders (id) SELECT seq FROM seq_1_to_1000"})
				if !minted {
					f.plan.Tables[0].NewIDs = nil
				}
				f.tables()
				f.config.Events = func(e report.Event) {
					if e.Kind == report.EventPhase && e.Phase == "copy" {
						f.exec(f.target, fmt.Sprintf("DELETE FROM snow_merge_chunks WHERE phase = 'mint' AND seq = %d", seq))
					}
				}
				// What comes after the last range is found as rows that are new.
				var failed *report.VerifyError
				var changed *report.ChangedError
				if err := f.run(); !errors.As(err, &failed) && !errors.As(err, &changed) {
					t.Errorf("got %v, want a VerifyError or a ChangedError", err)
				}
			})
		}
	}
}

// A run takes no more connections than pools have, whatever Writers is.
func TestSmallPools(t *testing.T) {
	for _, open := range [][2]int{{2, 1}, {3, 2}, {4, 2}} {
		t.Run(fmt.Sprint(open), func(t *testing.T) {
			f := newFixture(t, "", players, somePlayers("a", 300), somePlayers("b", 200))
			f.tables()
			f.target.SetMaxOpenConns(open[0])
			for _, s := range f.sources {
				s.DB.SetMaxOpenConns(open[1])
			}
			f.config.Writers, f.config.ChunkRows = 16, 20
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
			defer stop()
			if _, err := f.merge().Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// Others who want the lease, and whoever is told of the run, keep it neither
// from going on nor from renewing.
func TestRivals(t *testing.T) {
	testscale.NeedLong(t)
	f := newFixture(t, "", []string{"CREATE TABLE orders (id INT PRIMARY KEY, v INT)"}, []string{"INSERT INTO orders SELECT seq, seq FROM seq_1_to_2000"})
	f.tables()
	f.config.ChunkRows, f.config.Writers, f.config.Lease = 1, 4, time.Second
	rival := f.merge()
	begun, held := make(chan struct{}), atomic.Int64{}
	f.config.Events = func(e report.Event) {
		if e.Kind == report.EventChunk && e.Phase == "mint" && e.Rows == 500 {
			close(begun)
			<-time.After(3 * f.config.Lease)
		}
	}
	done := make(chan error, 1)
	go func() { _, err := f.merge().Run(t.Context()); done <- err }()
	<-begun
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			if held.Load() == 0 {
				t.Error("no rival was refused")
			}
			return
		default:
		}
		if _, err := rival.Run(t.Context()); errors.As(err, new(*report.RunningError)) {
			held.Add(1)
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A ledger that somebody has deleted from stops the next run, by name.
func TestDamagedLedger(t *testing.T) {
	f := newFixture(t, "", players, somePlayers("a", 300))
	f.tables()
	f.config.Events = func(e report.Event) {
		if e.Kind == report.EventPhase && e.Phase == "copy" {
			f.exec(f.sources[0].DB, "DELETE FROM items WHERE id = 7") // so that the run ends here
		}
	}
	if err := f.run(); err == nil {
		t.Fatal("the run did not end")
	}
	f.config.Events = nil
	f.exec(f.target, "DELETE FROM snow_merge_source_tables WHERE tbl = 'items'")
	if err := f.run(); err == nil || !strings.Contains(err.Error(), `damaged: nothing of table "items"`) {
		t.Errorf("got %v, want an error of the ledger", err)
	}
	if _, err := f.merge().Verify(t.Context()); err == nil {
		t.Error("Verify goes by a ledger without a table")
	}
}
