package merge

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow/merge/report"
)

// A throttle says how many rows the next transaction should have: more as long
// as they take less than the time that is aimed at, twice as many at first, and
// half as many if one took twice that. It is safe for concurrent use.
type throttle struct {
	mu     sync.Mutex
	rows   int
	most   int
	aim    time.Duration
	bytes  int  // of a row, lately
	steady bool // the time was near to the aim once
}

// mostBytes is about how much the rows of one transaction have in memory.
const mostBytes = 8 << 20

func newThrottle(most int, aim time.Duration) *throttle {
	return &throttle{rows: min(most, 2*rangeRows), most: most, aim: aim}
}

// size returns how many rows to take.
func (t *throttle) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes > 0 {
		return max(1, min(t.rows, mostBytes/t.bytes))
	}
	return t.rows
}

// observe is told of a transaction.
func (t *throttle) observe(rows, bytes int, took time.Duration) {
	if rows == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = max(bytes/rows, t.bytes/2)
	switch {
	case took > 2*t.aim:
		t.rows, t.steady = t.rows/2, true
	case took > t.aim:
		t.rows, t.steady = t.rows-t.rows/8, true
	case rows < t.rows/2: // tells nothing of a larger one
	case took < t.aim/2 && !t.steady:
		t.rows *= 2
	default:
		t.rows += max(t.rows/8, rangeRows/4)
		t.steady = true
	}
	t.rows = max(min(t.rows, t.most), min(t.most, rangeRows/4))
}

// A brake stops a run while its file exists, or while it is pulled.
type brake struct {
	file   string
	pulled atomic.Bool
}

func (b *brake) on() bool {
	if b.pulled.Load() {
		return true
	}
	if b.file == "" {
		return false
	}
	_, err := os.Stat(b.file)
	return err == nil
}

// wait returns when the brake is off, or with an error when ctx ends.
func (b *brake) wait(ctx context.Context, tell func(report.Event)) error {
	if !b.on() {
		return ctx.Err()
	}
	tell(report.Event{Kind: report.EventPause})
	ticks := time.NewTicker(200 * time.Millisecond)
	defer ticks.Stop()
	for b.on() {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	tell(report.Event{Kind: report.EventResume})
	return nil
}
