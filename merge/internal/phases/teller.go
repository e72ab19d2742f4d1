package phases

import (
	"sync"

	"github.com/shardsnow/snow/merge/report"
)

// A Teller passes events on, one at a time.
type Teller struct {
	mu sync.Mutex
	To func(report.Event)
}

func (t *Teller) tell(e report.Event) {
	if t.To == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.To(e)
}
