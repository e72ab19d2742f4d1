package ids

import (
	"math"
	"math/bits"
	"time"
)

// A histogram counts durations in buckets, 32 for each doubling, so that a
// bucket is at most 1/32 of its durations wide. Adding allocates nothing.
type histogram struct {
	counts [59 * 32]uint64
	max    time.Duration
}

func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0))
	e := max(bits.Len64(v)-6, 0)
	return e<<5 + int(v>>e)
}

// upper returns the longest duration of a bucket.
func upper(bucket int) time.Duration {
	if bucket < 64 {
		return time.Duration(bucket)
	}
	e := bucket>>5 - 1
	return time.Duration(uint64(bucket-e<<5+1)<<e - 1)
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucketOf(d)]++
	h.max = max(h.max, d)
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.max = max(h.max, other.max)
}

func (h *histogram) calls() (n uint64) {
	for _, c := range h.counts {
		n += c
	}
	return n
}

// quantile returns the duration that a share q of the calls did not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	rank := uint64(math.Ceil(q * float64(h.calls())))
	var n uint64
	for i, c := range h.counts {
		if n += c; n >= rank && n > 0 {
			return min(upper(i), h.max)
		}
	}
	return 0
}

func (h *histogram) percentiles(goroutines int) Percentiles {
	return Percentiles{
		Goroutines: goroutines,
		Calls:      h.calls(),
		P50:        h.quantile(0.5),
		P99:        h.quantile(0.99),
		P999:       h.quantile(0.999),
		P9999:      h.quantile(0.9999),
		Max:        h.max,
	}
}
