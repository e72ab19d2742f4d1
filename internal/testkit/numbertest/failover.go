//go:build unix

package numbertest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

// lossWindow is more than what the test loses, also on a busy machine.
const lossWindow = 10 * time.Second

// RunFailover kills a primary whose replica lags behind by less than a loss window, and promotes the replica, while
// processes take numbers. start starts a server without databases. If a machine is so busy that more is lost, that
// proves nothing, and the test begins again.
func RunFailover(t *testing.T, g Target, start func(*testing.T) *dbtest.Server) {
	testscale.NeedLong(t)
	for range 3 {
		f := &failover{Target: g, primary: start(t), given: map[string]bool{}}
		if lost := f.run(t); lost <= lossWindow {
			t.Logf("%v of history were lost: %d numbers were given out, %d of %d unprotected ones twice",
				lost.Round(time.Millisecond), len(f.given), f.repeated, f.repeated+f.unprotected)
			return
		}
	}
	t.Error("the machine was too busy for the test")
}

// A failover is one run of the test. It is the connector of all pools: connections lead to the present primary.
type failover struct {
	Target
	primary, replica *dbtest.Server
	driver           driver.Driver
	dsn              atomic.Pointer[string]
	cancel           context.CancelFunc

	mu                    sync.Mutex
	given                 map[string]bool
	twice                 []string
	back                  error // of a counter that went back below a number that was given out
	unprotected, repeated int
}

func (f *failover) Driver() driver.Driver { return f.driver }

func (f *failover) Connect(context.Context) (driver.Conn, error) { return f.driver.Open(*f.dsn.Load()) }

func (f *failover) open(t *testing.T) *sql.DB {
	t.Helper()
	db := sql.OpenDB(f)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (f *failover) openFast(t *testing.T, series string, loss time.Duration) *numbers.Fast {
	t.Helper()
	cfg := numbers.FastConfig{Config: numbers.Config{Series: series, Pattern: "{tenant}/{000000000}"}, Step: 20, LossWindow: loss}
	s, err := numbers.OpenFast(t.Context(), f.open(t), f.Dialect, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const pace = 5 * time.Millisecond // between two numbers of a taker, or two tries

// take takes numbers until ctx ends, and counts them.
func (f *failover) take(ctx context.Context, s *numbers.Fast, tenant string, count *atomic.Int64) {
	for ctx.Err() == nil {
		text, err := s.Next(ctx, tenant)
		switch {
		case errors.As(err, new(*numbers.RegressedError)):
			f.mu.Lock()
			f.back = err
			f.mu.Unlock()
			f.cancel()
		case err == nil:
			f.mu.Lock()
			if f.given[text] {
				f.twice = append(f.twice, text)
			}
			f.given[text] = true
			f.mu.Unlock()
			count.Add(1)
		}
		wait(ctx, pace)
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// await waits until all counters are above what they were.
func await(ctx context.Context, counts []atomic.Int64) {
	for i := range counts {
		for before := counts[i].Load(); counts[i].Load() == before && ctx.Err() == nil; {
			wait(ctx, pace)
		}
	}
}

// run returns how much history was lost.
func (f *failover) run(t *testing.T) time.Duration {
	f.replica = f.primary.Replica(t)
	name := f.primary.CreateDatabase(t)
	dsn := f.primary.DSN(name)
	f.dsn.Store(&dsn)
	opened, err := sql.Open(f.Target.Driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	f.driver = opened.Driver()
	_ = opened.Close()
	db := f.open(t)
	if err := sqlsnow.Migrate(t.Context(), db, f.Dialect); err != nil {
		t.Fatal(err)
	}
	execute(t, db, "CREATE TABLE invoices (number VARCHAR(100) NOT NULL PRIMARY KEY)")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.cancel = cancel
	var all sync.WaitGroup
	const processes, tenants = 2, 4
	var fast []*numbers.Fast
	counts := make([]atomic.Int64, processes*tenants)
	for p := range processes {
		s := f.openFast(t, "protected", lossWindow)
		fast = append(fast, s)
		for i := range tenants {
			all.Go(func() { f.take(ctx, s, fmt.Sprint("t", i), &counts[p*tenants+i]) })
		}
	}
	gapFree := make([]*numbers.GapFree, processes)
	stored := make([]atomic.Int64, processes)
	for p := range processes {
		pool := f.open(t)
		gapFree[p] = f.openGapFree(t, pool, invoices)
		all.Go(func() {
			for ctx.Err() == nil {
				if err := f.store(ctx, pool, gapFree[p], "a", commit); err == nil {
					stored[p].Add(1)
				}
				wait(ctx, pace)
			}
		})
	}
	await(ctx, counts)

	// What is committed from here on will be lost.
	f.replica.CatchUp(t, f.primary)
	begin := time.Now()
	f.replica.Unfollow(t)
	fresh := make([]atomic.Int64, processes*tenants)
	for p := range processes { // counters whose first claims are lost
		for i := range tenants {
			all.Go(func() { f.take(ctx, fast[p], fmt.Sprint("fresh", i), &fresh[p*tenants+i]) })
		}
	}
	before := f.openFast(t, "unprotected", 0)
	lostNumbers := map[string]bool{}
	for range 100 {
		text, err := before.Next(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		lostNumbers[text] = true
	}
	for claims := 0; claims < tenants && ctx.Err() == nil; wait(ctx, pace) {
		query := "SELECT COUNT(*) FROM snow_numbers WHERE scope LIKE 'fresh%' AND last_number > 20" // of both processes
		if err := db.QueryRowContext(t.Context(), query).Scan(&claims); err != nil {
			t.Fatal(err)
		}
	}
	await(ctx, stored)
	for time.Since(begin) < lossWindow/2 && ctx.Err() == nil { // of the other counters, some claim
		wait(ctx, pace)
	}
	f.primary.Kill(t)
	lost := time.Since(begin)
	f.replica.Promote(t)
	dsn = f.replica.DSN(name)
	f.dsn.Store(&dsn)

	after := f.openFast(t, "unprotected", 0)
	for range 100 {
		text, err := after.Next(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if f.unprotected++; lostNumbers[text] {
			f.unprotected--
			f.repeated++
		}
	}
	third := f.openFast(t, "protected", lossWindow)
	thirds := make([]atomic.Int64, 2*tenants)
	for i := range tenants {
		all.Go(func() { f.take(ctx, third, fmt.Sprint("t", i), &thirds[i]) })
		all.Go(func() { f.take(ctx, third, fmt.Sprint("fresh", i), &thirds[tenants+i]) })
	}
	await(ctx, thirds)
	await(ctx, counts)
	await(ctx, fresh)
	await(ctx, stored)
	cancel()
	all.Wait()
	if f.repeated == 0 {
		t.Error("no unprotected number was given out twice: nothing was lost")
	}
	if len(f.twice) > 0 && lost <= lossWindow {
		t.Errorf("%d numbers were given out twice, %v of history were lost: %q", len(f.twice), lost, f.twice[:min(len(f.twice), 10)])
	}
	if f.back != nil && lost <= lossWindow {
		t.Error(f.back)
	}
	if rows := wantDense(t, f.open(t), gapFree[0].Pattern()); rows == 0 {
		t.Error("no row is left")
	}
	return lost
}
