package work

import (
	"context"
	"slices"
	"time"
)

// A Feed gives out work, one batch after another.
type Feed[B any] interface {
	// Next reads the next batch. It returns false if there is none.
	Next(ctx context.Context) (batch B, more bool, err error)

	// Done is told how many bytes the rows of a batch have, and how long reading it and working on it took.
	Done(ctx context.Context, batch B, bytes int, took time.Duration) error
}

// Loop works on all batches of a feed. do returns about how many bytes the rows of a batch have. Between two batches,
// Loop waits while the run is paused. A feed begins after what is done, so a loop that ended may begin again.
func Loop[B any](ctx context.Context, j *Job, feed Feed[B], do func(ctx context.Context, batch B) (bytes int, err error)) error {
	for {
		if err := j.Pause(ctx); err != nil {
			return err
		}
		start := time.Now()
		batch, more, err := feed.Next(ctx)
		if err != nil || !more {
			return err
		}
		bytes, err := do(ctx, batch)
		if err != nil {
			return err
		}
		if err := feed.Done(ctx, batch, bytes, time.Since(start)); err != nil {
			return err
		}
	}
}

// Parts is a feed of the elements of a slice, at most Most at a time. Parts that are done twice must do no harm.
type Parts[T any] struct {
	All  []T
	Most int
}

// Next returns the next elements.
func (p *Parts[T]) Next(context.Context) ([]T, bool, error) {
	n := min(len(p.All), p.Most)
	part := slices.Clone(p.All[:n])
	p.All = p.All[n:]
	return part, n > 0, nil
}

// Done does nothing.
func (p *Parts[T]) Done(context.Context, []T, int, time.Duration) error { return nil }
