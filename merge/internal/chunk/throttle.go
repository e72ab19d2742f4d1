package chunk

import (
	"context"
	"sync"
	"time"
)

// A Throttle bounds how many rows are read in a second, on average over each read. A nil Throttle bounds nothing.
// It is safe for concurrent use.
type Throttle struct {
	rows int // a second

	mu     sync.Mutex
	next   time.Time // when the rows that were read are due
	waited time.Duration
}

// NewThrottle returns one for so many rows a second, or nil for 0.
func NewThrottle(rows int) *Throttle {
	if rows == 0 {
		return nil
	}
	return &Throttle{rows: rows}
}

// Most returns how many rows one read should have at most, given how many it would have: the rows of a quarter of a
// second.
func (t *Throttle) Most(rows int) int {
	if t == nil {
		return rows
	}
	return max(1, min(rows, t.rows/4))
}

// Wait waits until rows are due that were read since an instant. Time that a read took longer than that is not made
// up for.
func (t *Throttle) Wait(ctx context.Context, rows int, since time.Time) error {
	if t == nil {
		return nil
	}
	left := time.Until(t.due(rows, since))
	if left <= 0 {
		return ctx.Err()
	}
	begun := time.Now()
	timer := time.NewTimer(left)
	defer timer.Stop()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.waited += time.Since(begun)
	}()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Throttle) due(rows int, since time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next.Before(since) {
		t.next = since
	}
	t.next = t.next.Add(time.Duration(float64(rows) / float64(t.rows) * float64(time.Second)))
	return t.next
}

// Waited returns how long Wait has waited.
func (t *Throttle) Waited() time.Duration {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waited
}
