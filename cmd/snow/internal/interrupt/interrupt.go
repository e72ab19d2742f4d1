// Package interrupt ends waits for files that nobody writes to: terminals, pipes, FIFOs.
package interrupt

import (
	"context"
	"io"
)

// Call returns what f returns, or the error of ctx as soon as it ends. Then f goes on by itself, and what it
// returns is dropped.
func Call[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	var none T
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case r := <-done:
		if ctx.Err() != nil { // both happened: the end counts
			return none, ctx.Err()
		}
		return r.value, r.err
	}
}

// Reader returns a reader that reads from r until ctx ends. What r gives to a Read that ctx has ended is dropped.
func Reader(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	var end error // which comes with the last bytes
	b, err := Call(r.ctx, func() ([]byte, error) {
		own := make([]byte, len(p)) // p belongs to the caller again when ctx ends
		n, err := r.r.Read(own)
		end = err
		return own[:n], nil
	})
	if err != nil {
		return 0, err
	}
	return copy(p, b), end
}
