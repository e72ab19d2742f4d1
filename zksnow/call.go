package zksnow

import "context"

// inFlight is how many requests of a store wait for replies at the same time, including those whose callers gave up.
const inFlight = 32

// call sends a request and waits for the reply, or until ctx ends. The client has no way to take a request back: it may
// be carried out later, also in another session. Its goroutine ends with the reply, or when the client gives up its
// connection.
func call[T any](ctx context.Context, s *store, op, path string, send func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, s.failed(op, path, err)
	}
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return none, s.failed(op, path, ctx.Err())
	}
	type reply struct {
		value T
		err   error
	}
	replies := make(chan reply, 1)
	go func() {
		value, err := send()
		<-s.slots
		replies <- reply{value, err}
	}()
	select {
	case r := <-replies:
		return r.value, s.failed(op, path, r.err)
	case <-ctx.Done():
		return none, s.failed(op, path, ctx.Err())
	}
}

// failed returns err as a *StoreError, or nil.
func (s *store) failed(op, path string, err error) error {
	if err == nil {
		return nil
	}
	e := &StoreError{Op: op, Path: path, Err: err}
	if !isAnswer(err) {
		e.State, e.Server = s.conn.State(), s.conn.Server()
	}
	return e
}
