package numbers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardsnow/snow/internal/dbserver"
)

// A quietWorld is a database without failovers.
type quietWorld struct {
	*simWorld
	engine *dbserver.Engine
}

func openQuietWorld(t *testing.T, loss time.Duration) quietWorld {
	t.Helper()
	w, e, err := newSimWorld(1, simPlan{loss: loss})
	if err != nil {
		t.Fatal(err)
	}
	return quietWorld{w, e}
}

// openFast is OpenFast.
func (w quietWorld) openFast(t *testing.T, text string, restart Restart, step int64) *Fast {
	t.Helper()
	pattern, err := ParsePattern(text)
	if err != nil {
		t.Fatal(err)
	}
	db := w.open()
	t.Cleanup(func() { _ = db.Close() })
	loss := w.plan.loss
	f := newFast(&series{db: db, engine: w.engine, name: "s", pattern: pattern, restart: restart, zone: time.UTC, kind: fast, loss: loss}, step)
	f.wait = loss + eps
	if err := f.claimSeries(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// A process that goes on waits for nothing but statements: neither for a block, once blocks have grown to its pace, nor
// at the turn of a period.
func TestFastDoesNotWait(t *testing.T) {
	for _, test := range []struct {
		name  string
		step  int64
		every time.Duration
		grown int // numbers until blocks have grown
	}{
		{"blocks that last", 100, 200 * time.Millisecond, 1},
		{"blocks that grow", 3, 20 * time.Millisecond, 1500},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const loss = 5 * time.Second
				time.Sleep(24*time.Hour - 5*time.Minute)
				w := openQuietWorld(t, loss)
				f := w.openFast(t, "{yyMMdd}/{00000000}", Daily, test.step)
				days := map[string]int{}
				for i := range int(10 * time.Minute / test.every) {
					begin := time.Now()
					text, err := f.Next(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					days[text[:6]]++
					switch took := time.Since(begin); {
					case i == 0 && took < loss:
						t.Errorf("the first number came after %v", took)
					case i >= test.grown && took > time.Second:
						t.Fatalf("%s, number %d, came after %v", text, i, took)
					}
					time.Sleep(test.every)
				}
				if len(days) != 2 {
					t.Errorf("got numbers of %v", days)
				}
				if got := len(w.primary().rows[simKey{"s", "00-01-02"}].pending); got != 28 {
					t.Errorf("the row has %d bytes of claims, want the one that is ahead: %v", got, w.primary().rows)
				}
			})
		})
	}
}

// When its context ends, a call stops waiting. A later call goes on with the wait.
func TestFastWaitsInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const loss = 5 * time.Second
		f := openQuietWorld(t, loss).openFast(t, "{0}", Never, 4)
		for i := range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			text, err := f.Next(ctx)
			cancel()
			if isLast := i == 2; isLast && (err != nil || text != "1") || !isLast && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("after %d s: got %q, %v", 2*i+2, text, err)
			}
		}
		// What is left of the padding is taken, too.
		for i := range 8 {
			if text, err := f.Next(t.Context()); err != nil || text != string(rune('2'+i)) {
				t.Fatalf("got %q, %v, want %d", text, err, i+2)
			}
		}
		if text, err := f.Next(t.Context()); !errors.As(err, new(*OverflowError)) {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

// A row has room for 300 claims. The block of an older one is left out.
func TestClaimsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openQuietWorld(t, time.Second)
		f, other := w.openFast(t, "{000000}", Never, 10), w.openFast(t, "{000000}", Never, 10)
		if text, err := f.Next(t.Context()); err != nil || text != "000001" { // 11 to 20 are ahead
			t.Fatalf("got %q, %v", text, err)
		}
		for range 300 {
			if _, err := other.claim(t.Context(), window{begin: 0, end: 1 << 62}, "-", "", 10, 1, 0); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(w.primary().rows[simKey{"s", "-"}].pending); got != 8101 {
			t.Errorf("the row has %d bytes of claims, want 8101", got)
		}
		texts := make([]string, 10)
		if err := f.Fill(t.Context(), texts); err != nil || texts[8] != "000010" || texts[9] != "003021" {
			t.Errorf("got %q, %v, want 2 to 10, and a block after the others", texts, err)
		}
	})
}
