package merge

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow/merge/report"
)

// A pauser stops a run while its file exists, or while it is paused.
type pauser struct {
	file   string
	paused atomic.Bool
}

func (p *pauser) on() bool {
	if p.paused.Load() {
		return true
	}
	if p.file == "" {
		return false
	}
	_, err := os.Stat(p.file)
	return err == nil
}

// wait returns when the pause is over, or with an error when ctx ends.
func (p *pauser) wait(ctx context.Context, tell func(report.Event)) error {
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
