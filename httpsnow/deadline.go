package httpsnow

import (
	"context"
	"sync"
	"time"
)

// A deadline is a context like context.WithTimeout's, but it costs a timer only once somebody waits for its end: a
// request rarely waits for ids, and the timer would take a good part of its time.
type deadline struct {
	context.Context // of the request
	until           time.Time

	mu     sync.Mutex
	timed  context.Context // nil as long as nobody waits
	cancel context.CancelFunc
	over   bool
}

func withTimeout(ctx context.Context, d time.Duration) *deadline {
	return &deadline{Context: ctx, until: time.Now().Add(d)}
}

// stop ends the context, as the cancel function of context.WithTimeout does.
func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	if d.cancel != nil {
		d.cancel()
	}
}

// started returns the context with the timer.
func (d *deadline) started() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.timed, d.cancel = context.WithDeadline(d.Context, d.until)
		if d.over { // somebody has kept the context
			d.cancel()
		}
	}
	return d.timed
}

// Deadline is when the context ends, unless it is ended before.
func (d *deadline) Deadline() (time.Time, bool) {
	if until, ok := d.Context.Deadline(); ok && until.Before(d.until) {
		return until, true
	}
	return d.until, true
}

func (d *deadline) Done() <-chan struct{} { return d.started().Done() }

func (d *deadline) Err() error {
	d.mu.Lock()
	free := d.timed == nil && !d.over && time.Now().Before(d.until)
	d.mu.Unlock()
	if free {
		return d.Context.Err()
	}
	return d.started().Err()
}
