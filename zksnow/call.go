package zksnow

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

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
	if !answered(err) {
		e.State, e.Server = s.conn.State(), s.conn.Server()
	}
	return e
}

// answered reports whether err is ZooKeeper's answer to a request that had no effect.
func answered(err error) bool {
	for _, answer := range []error{
		zk.ErrNoNode, zk.ErrNodeExists, zk.ErrBadVersion, zk.ErrNoAuth, zk.ErrInvalidACL, zk.ErrNotEmpty,
		zk.ErrNoChildrenForEphemerals, zk.ErrBadArguments, zk.ErrInvalidPath,
	} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}

// A StoreError is an error of ZooKeeper or its client. ZooKeeper may have carried out the request all the same, or may do
// so later, unless Err is an answer such as [zk.ErrNoAuth].
type StoreError struct {
	Op   string // what was asked: "set", "get" and so on
	Path string // the znode
	Err  error  // the client's error, or the error of the context

	// State and Server are the session's state and the member that the client tries or has, if there was no answer.
	State  zk.State
	Server string
}

func (e *StoreError) Error() string {
	text := fmt.Sprintf("%s %q: %v", e.Op, e.Path, e.Err)
	switch {
	case errors.Is(e.Err, zk.ErrNoAuth):
		return text + "; call AddAuth of the connection with an account that may read, write, create and delete there"
	case errors.Is(e.Err, zk.ErrInvalidACL):
		return text + "; the ACL of the Tree is not one that ZooKeeper accepts, or needs AddAuth of the connection"
	case e.Server == "":
		return text
	case e.State == zk.StateHasSession:
		return text + fmt.Sprintf("; the session with %s has no answer", e.Server)
	}
	return text + fmt.Sprintf("; there is no session: %v at %s; check the addresses, and that a majority of the members runs", e.State, e.Server)
}

// Unwrap returns Err.
func (e *StoreError) Unwrap() error { return e.Err }
