package httpsnow

import (
	"sync"
	"time"
)

// A bucket bounds a rate: it holds up to burst tokens, and gains rate of them each second.
type bucket struct {
	rate, burst float64

	mu     sync.Mutex
	tokens float64
	last   time.Time // when tokens was right
}

func newBucket(rate, burst float64, now time.Time) *bucket {
	return &bucket{rate: rate, burst: burst, tokens: burst, last: now}
}

// take takes n tokens and returns 0, or takes none and returns how long it would be until there are n. n is at most
// burst.
func (b *bucket) take(n float64, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := now.Sub(b.last); passed > 0 { // callers may come in another order than they read the clock
		b.tokens = min(b.burst, b.tokens+passed.Seconds()*b.rate)
		b.last = now
	}
	if b.tokens < n {
		return max(1, time.Duration((n-b.tokens)/b.rate*float64(time.Second)))
	}
	b.tokens -= n
	return 0
}
