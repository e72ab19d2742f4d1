package route

import "errors"

// Errors that callers branch on. An [*Error] wraps one of them: use errors.Is.
var (
	// ErrUnrouted says that nothing in the statement tells its shard.
	ErrUnrouted = errors.New("the shard is unknown")

	// ErrSpread says that the statement concerns several shards, and can't be sent to all of them.
	ErrSpread = errors.New("several shards")

	// ErrCrossShard says that the statement belongs to another shard than its transaction, or than its database.
	ErrCrossShard = errors.New("another shard")

	// ErrMoves says that an update would give a row a key or a field that belongs to another shard.
	ErrMoves = errors.New("the row would change its shard")

	// ErrMismatch says that a row or a statement names two shards.
	ErrMismatch = errors.New("two shards at once")

	// ErrReplica says that a session of [Replica] does more than read.
	ErrReplica = errors.New("a write beside a replica")
)

// An Error says why a statement was refused. It was not sent to any database.
type Error struct {
	Op     string // create, query, update, delete, row or raw
	Model  string // Go type of the model, for example "shop.Order", or empty
	Reason string // what is wrong and what to do about it
	Err    error  // one of the errors above
}

// Error returns the operation, the model, the kind of error and the reason.
func (e *Error) Error() string {
	at := e.Op
	if e.Model != "" {
		at += " " + e.Model
	}
	return "route: " + at + ": " + e.Err.Error() + ": " + e.Reason
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) is(err error) bool { return e != nil && errors.Is(e.Err, err) }
