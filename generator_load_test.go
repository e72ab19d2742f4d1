package snow

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// A pressedTime is a fake machine on which many goroutines sleep. Each waits until
// its time has come, and the waits make time pass.
type pressedTime struct{ *fakeTime }

func (f pressedTime) sleep(ctx context.Context, d time.Duration) error {
	until := f.running.Load() + int64(d)
	for now := f.running.Load(); now < until; now = f.running.Load() {
		f.running.CompareAndSwap(now, until)
	}
	runtime.Gosched() // a sleeper does not come back at once
	return ctx.Err()
}

// 100 million ids from 64 goroutines, while time passes unevenly and the wall
// clock is stepped forward and back.
func TestHundredMillionIDs(t *testing.T) {
	hundredMillion(t, DefaultLayout(), 100, func(id ID) uint64 { return uint64(id)>>22<<12 | uint64(id)&4095 })
}

// The same with 64 lanes. Fills are fewer, because each id of them uses 64 positions.
func TestHundredMillionIDsInLanes(t *testing.T) {
	hundredMillion(t, Clustered(), 6400, func(id ID) uint64 {
		bits := uint64(id)
		return (bits>>42<<20|bits>>16&(1<<20-1))<<13 | bits&127<<6 | bits>>36&63
	})
}

// hundredMillion makes ids, one of fillEvery calls by Fill. Ids have different
// positions, close to each other.
func hundredMillion(t *testing.T, l Layout, fillEvery int, position func(ID) uint64) {
	total := testscale.Of(3_000_000, 100_000_000)
	const goroutines = 64
	time0 := newFakeTime(noon)
	grant, err := newFixed(l, 0, 1, pressedTime{time0})
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(fakeWorker{grant}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	mustNext(t, g)

	// One bit for each position from here on, with room for the steps forward.
	base := grant.last()
	seen := make([]atomic.Uint64, (4*total+200*20*int(grant.sequenceMask+1))/64)
	var duplicates, steps, made atomic.Int64
	mark := func(id ID) {
		at := position(id) - base
		if bit := uint64(1) << (at % 64); seen[at/64].Or(bit)&bit != 0 {
			duplicates.Add(1)
		}
	}
	var group sync.WaitGroup
	for i := range goroutines {
		group.Go(func() {
			r := rand.New(rand.NewPCG(13, uint64(i)))
			var last [64]ID // of each lane
			batch := make([]ID, 300)
			for n := 0; n < total/goroutines; {
				ids := batch[:1]
				var err error
				if r.IntN(fillEvery) == 0 {
					ids = batch[:1+r.IntN(len(batch))]
					err = g.Fill(t.Context(), ids)
				} else {
					ids[0], err = g.Next(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
				for _, id := range ids {
					lane := position(id) & grant.laneMask
					if id <= last[lane] {
						t.Errorf("goroutine %d: id %d after %d", i, id, last[lane])
						return
					}
					last[lane] = id
					mark(id)
				}
				n += len(ids)
				made.Add(int64(len(ids)))
				switch r.IntN(100_000) {
				case 0:
					time0.step(time.Duration(r.IntN(3_600_000)) * -time.Millisecond)
					steps.Add(1)
				case 1:
					wall, mono := time0.wall() // to a little ahead of where running time is
					running := grant.clock.offset.Load() + int64(mono) + grant.layout.epoch
					time0.step(time.Duration(running-wall) + time.Duration(r.IntN(20))*time.Millisecond)
					steps.Add(1)
				case 2:
					time0.pass(time.Duration(r.IntN(3_000_000)))
				}
			}
		})
	}
	group.Wait()
	if n := duplicates.Load(); n != 0 {
		t.Errorf("%d of %d ids are duplicates", n, made.Load())
	}
	if steps.Load() == 0 || g.Stats().Waits == 0 {
		t.Errorf("%d steps of the wall clock and %d waits: the test does not press", steps.Load(), g.Stats().Waits)
	}
	if got := g.Stats().Issued; got != uint64(made.Load())+1 {
		t.Errorf("Stats().Issued = %d, want %d", got, made.Load()+1)
	}
}

// Stats.Issued is exact also while every id starts a tick and so skips positions.
func TestIssuedIsExact(t *testing.T) {
	g, f := newTest(t, DefaultLayout(), Config{})
	const ids = 200_000
	var made atomic.Uint64
	made.Store(g.Stats().Issued)
	var group sync.WaitGroup
	group.Go(func() {
		for range ids {
			f.pass(time.Millisecond)
			if _, err := g.Next(t.Context()); err != nil {
				t.Error(err)
			}
			made.Add(1)
		}
	})
	for made.Load() < ids {
		least := made.Load()
		issued := g.Stats().Issued
		if most := made.Load() + 1; issued < least || issued > most {
			t.Errorf("Stats().Issued = %d, want %d to %d", issued, least, most)
			break
		}
	}
	group.Wait()
}

// Ids made at a low rate are spread evenly over n tables by id % n, for every
// n. The seeds are fixed; each of the 8 × 3 tests of a layout has a significance
// of 0.001.
func TestLowRateIDsAreEven(t *testing.T) {
	for _, l := range []Layout{DefaultLayout(), Clustered()} {
		lowRateIsEven(t, l)
	}
}

func lowRateIsEven(t *testing.T, l Layout) {
	t.Helper()
	critical := map[int]float64{2: 10.83, 3: 13.82, 4: 16.27, 7: 22.46, 8: 24.32, 16: 37.70, 64: 103.44, 100: 148.23}
	for _, seed := range []uint64{1, 2, 3} {
		g, f := newTest(t, l, Config{})
		g.grant.seed = seed
		counts := make(map[int][]int)
		for n := range critical {
			counts[n] = make([]int, n)
		}
		for range 10_000 {
			f.pass(2 * time.Millisecond)
			id := mustNext(t, g)
			for n := range critical {
				counts[n][int64(id)%int64(n)]++
			}
		}
		for n, limit := range critical {
			if x := chiSquare(counts[n]); x > limit {
				t.Errorf("%v, seed %d: ids modulo %d have chi-square %.1f, want at most %.1f: %v", l, seed, n, x, limit, counts[n])
			}
		}
	}
}

// Shard bits that nobody set are even too, at a low rate and in bursts.
func TestUnsetShardsAreEven(t *testing.T) {
	for name, tt := range map[string]struct {
		layout Layout
		pause  time.Duration
	}{
		"low rate":          {sharded(t, 4), 2 * time.Millisecond},
		"burst":             {sharded(t, 4), 0},
		"low rate in lanes": {ClusteredShards(), 2 * time.Millisecond},
		"burst in lanes":    {ClusteredShards(), 0},
	} {
		g, f := newTest(t, tt.layout, Config{})
		g.grant.seed = 1
		counts := make([]int, 16)
		ids := make([]ID, 5)
		for range 2000 {
			f.pass(tt.pause)
			counts[g.Layout().Shard(mustNext(t, g))]++
			if err := g.Fill(t.Context(), ids); err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				counts[g.Layout().Shard(id)]++
			}
		}
		if x := chiSquare(counts); x > 37.70 { // 15 degrees of freedom, p = 0.001
			t.Errorf("%s: shards %v have chi-square %.1f", name, counts, x)
		}
	}
}
