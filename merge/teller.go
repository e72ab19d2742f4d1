package merge

import (
	"sync"

	"github.com/shardsnow/snow/merge/report"
)

// A teller passes events on, one at a time.
type teller struct {
	mu sync.Mutex
	to func(report.Event)
}

func (t *teller) tell(e report.Event) {
	if t.to == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.to(e)
}
