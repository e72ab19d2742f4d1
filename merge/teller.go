package merge

import "sync"

// A teller passes events on, one at a time.
type teller struct {
	mu sync.Mutex
	to func(Event)
}

func (t *teller) tell(e Event) {
	if t.to == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.to(e)
}
