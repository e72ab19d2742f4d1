package chunk

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow/merge/report"
)

// A Pace says how many rows the next transaction should have: more as long
// as transactions take less than the time aimed at, twice as many at first, and
// half as many after one that took twice that time. It is safe for concurrent use.
type Pace struct {
	mu     sync.Mutex
	rows   int
	most   int
	aim    time.Duration
	bytes  int  // of a row, lately
	steady bool // the time was near to the aim once

	mostBytes int // of the rows of one transaction
}

// Rows is how many rows the chunks have that rows are counted in.
const Rows = 500

// MostBytes is about how much the rows of one transaction have in memory.
const MostBytes = 8 << 20

// NewPace returns one for transactions of at most so many rows that take about so long.
func NewPace(most int, aim time.Duration) *Pace {
	return &Pace{rows: min(most, 2*Rows), most: most, aim: aim, mostBytes: MostBytes}
}

// NewPaceOfBytes returns one for reads that each go through a whole table, so that few of them take least: it aims
// at no time, and returns as many rows as have four times [MostBytes], at most twenty times as many as other
// transactions have.
func NewPaceOfBytes(most int) *Pace {
	return &Pace{rows: min(20*most, 2*Rows), most: 20 * most, mostBytes: 4 * MostBytes}
}

// Size returns how many rows the next transaction should have.
func (p *Pace) Size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes > 0 {
		return max(1, min(p.rows, p.mostBytes/p.bytes))
	}
	return p.rows
}

// Observe is told of a transaction.
func (p *Pace) Observe(rows, bytes int, took time.Duration) {
	if rows == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes = max(bytes/rows, p.bytes/2)
	switch {
	case p.aim == 0:
		p.rows = p.most
	case took > 2*p.aim:
		p.rows, p.steady = p.rows/2, true
	case took > p.aim:
		p.rows, p.steady = p.rows-p.rows/8, true
	case rows < p.rows/2: // tells nothing of a larger one
	case took < p.aim/2 && !p.steady:
		p.rows *= 2
	default:
		p.rows += max(p.rows/8, Rows/4)
		p.steady = true
	}
	p.rows = max(min(p.rows, p.most), min(p.most, Rows/4))
}

// A Pauser stops a run while its file exists, or while it is paused.
type Pauser struct {
	File   string
	Paused atomic.Bool
}

func (p *Pauser) on() bool {
	if p.Paused.Load() {
		return true
	}
	if p.File == "" {
		return false
	}
	_, err := os.Stat(p.File)
	return err == nil
}

// Wait returns when the pause is over, or with an error when ctx ends.
func (p *Pauser) Wait(ctx context.Context, tell func(report.Event)) error {
	if !p.on() {
		return ctx.Err()
	}
	tell(report.Event{Kind: report.EventPause})
	ticks := time.NewTicker(200 * time.Millisecond)
	defer ticks.Stop()
	for p.on() {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	tell(report.Event{Kind: report.EventResume})
	return nil
}
