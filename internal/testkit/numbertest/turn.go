//go:build unix

package numbertest

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

// RunTurn checks what happens at the turn of the year of the database, which is not the one of this machine. Then the
// database's clock goes back, as after a failover.
func RunTurn(t *testing.T, g Target, server *dbtest.Server) {
	zone, err := time.LoadLocation(invoices.Zone)
	if err != nil {
		t.Fatal(err)
	}
	newYear := time.Date(2031, 1, 1, 0, 0, 0, 0, zone)
	server.SetClock(t, time.Until(newYear)-3*time.Minute) // which restarts it; MySQL stands still if it sees a long jump
	db, _ := g.open(t)
	fastConfig := numbers.FastConfig{Config: invoices, Step: 50}
	fastConfig.Series = "fast"
	var gapFree []*numbers.GapFree
	var fast []*numbers.Fast
	for range 2 { // processes
		gapFree = append(gapFree, g.openGapFree(t, db, invoices))
		f, err := numbers.OpenFast(t.Context(), db, g.Dialect, fastConfig)
		if err != nil {
			t.Fatal(err)
		}
		fast = append(fast, f)
	}
	var mu sync.Mutex
	seen := map[string][]int64{}
	texts := map[string]bool{}
	take := func(year string, enough int64) {
		t.Helper()
		var count atomic.Int64
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for count.Load() < enough {
					if err := g.store(t.Context(), db, gapFree[i%2], "a", commit); err != nil && !g.isBusy(err) {
						t.Error(err)
						return
					}
					text, err := fast[i%2].Next(t.Context(), "a")
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if texts[text] {
						t.Errorf("%s is there twice", text)
					}
					texts[text] = true
					add(t, seen, fast[0].Pattern(), text)
					mu.Unlock()
					if text[2:6] == year {
						count.Add(1)
					}
				}
			})
		}
		all.Wait()
	}
	server.SetClock(t, time.Until(newYear)-2*time.Second)
	take("2031", 100)
	years := []string{"2030[a]", "2031[a]"}
	wantDense(t, db, gapFree[0].Pattern())
	if got := slices.Sorted(maps.Keys(stored(t, db, gapFree[0].Pattern()))); !slices.Equal(got, years) {
		t.Errorf("gap-free: got %q, want %q", got, years)
	}
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, years) {
		t.Errorf("fast: got %q, want %q", got, years)
	}
	highest := len(stored(t, db, gapFree[0].Pattern())["2030[a]"])
	server.Kill(t)
	server.SetClock(t, time.Until(newYear)-time.Hour)
	server.Restart(t)
	for i := range fast { // at most a minute later, they would read the date themselves
		if fast[i], err = numbers.OpenFast(t.Context(), db, g.Dialect, fastConfig); err != nil {
			t.Fatal(err)
		}
	}
	take("2030", 20)
	wantDense(t, db, gapFree[0].Pattern())
	if got := len(stored(t, db, gapFree[0].Pattern())["2030[a]"]); got < highest+20 {
		t.Errorf("after the clock went back: got %d numbers of 2030, want at least %d", got, highest+20)
	}
}
