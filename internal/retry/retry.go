// Package retry has the waits between tries, and the context of a Close.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// MaxTries is how often a statement is tried again after other statements were in the way.
const MaxTries = 30

// Pause waits for a random time below most, or until ctx ends.
func Pause(ctx context.Context, most time.Duration) error { return Sleep(ctx, rand.N(most)) }

// Sleep waits for a time, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ToClose returns the context of a Close that was called with ctx: ctx itself, or 5 s if it has ended. A deferred
// Close often has the context that a signal has ended, and would give nothing back.
func ToClose(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}
