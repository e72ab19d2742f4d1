package chunk

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow/merge/report"
)

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
