package dbserver

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
