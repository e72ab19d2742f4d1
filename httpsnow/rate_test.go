package httpsnow

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

// In every interval, at most burst + rate × its length tokens are taken; and what the bucket says about the wait is
// true.
func TestBucket(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	start := time.Unix(1_700_000_000, 0)
	for range 200 {
		rate, burst := 1+999*r.Float64(), 10+990*r.Float64()
		b := newBucket(rate, burst, start)
		now := start
		type taking struct {
			at time.Time
			n  float64
		}
		var all []taking
		for range 200 {
			now = now.Add(time.Duration(r.Int64N(int64(time.Second / 2))))
			n := 1 + (burst-1)*r.Float64()
			wait := b.take(n, now)
			if wait > 0 {
				if b.take(n, now.Add(wait-wait/100-1)) == 0 && wait > time.Microsecond {
					t.Fatalf("rate %v: %v tokens were there before %v had passed", rate, n, wait)
				}
				if now = now.Add(wait + time.Microsecond); b.take(n, now) != 0 {
					t.Fatalf("rate %v: %v tokens are not there after %v", rate, n, wait)
				}
			}
			all = append(all, taking{now, n})
		}
		for i := range all {
			sum := 0.0
			for _, later := range all[i:] {
				sum += later.n
				if most := burst + rate*later.at.Sub(all[i].at).Seconds() + 0.001; sum > most {
					t.Fatalf("rate %v, burst %v: %v tokens within %v", rate, burst, sum, later.at.Sub(all[i].at))
				}
			}
		}
	}
}

// A clock that goes back neither blocks nor gives tokens twice.
func TestBucketWithAClockThatGoesBack(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	b := newBucket(1, 2, start)
	if b.take(2, start) != 0 || b.take(1, start.Add(-time.Hour)) == 0 || b.take(1, start.Add(time.Second)) != 0 || b.take(1, start.Add(time.Second)) == 0 {
		t.Error("the bucket does not follow the latest time")
	}
}

func TestRate(t *testing.T) {
	h := newHandler(t, &counter{}, Config{Rate: 0.001, MaxIDs: 10})
	if w := ask(h, "POST", "/v1/ids?count=10"); w.Code != 200 {
		t.Fatalf("a burst of MaxIDs: %d: %s", w.Code, w.Body)
	}
	w := ask(h, "POST", "/v1/ids")
	after, err := strconv.Atoi(w.Header().Get("Retry-After"))
	if w.Code != 429 || err != nil || after < 500 || after > 1000 || !strings.Contains(w.Body.String(), "0.001 ids a second") {
		t.Errorf("one more: %d, Retry-After %q: %s", w.Code, w.Header().Get("Retry-After"), w.Body)
	}
}
