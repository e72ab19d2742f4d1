package versioned

import (
	"errors"
	"fmt"

	"github.com/shardsnow/snow/internal/dberrors"
)

var (
	// ErrBusy says that other processes wrote the same key again and again meanwhile. Nothing was written.
	ErrBusy = errors.New("other processes wrote the same keys at the same time")

	// ErrElsewhere says that the store has another namespace of this name: somebody made it again, or the endpoints
	// lead to another store. Nothing was written.
	ErrElsewhere = errors.New("the store has another namespace of this name: it was made again, or the endpoints lead to another store")

	// ErrUnsupported says that a request belongs to a namespace with a LossWindow.
	ErrUnsupported = errors.New("the request needs a LossWindow, which this store does not have")

	errMissing = errors.New("it does not exist")

	errKey = errors.New("the key has no name or number that this package makes")
)

// A DamagedError says that a key of a namespace is gone, or has a value that this package does not write: somebody wrote
// it by hand, or another version of this package did. Nobody gets a number with such a row, and nobody renews it. Put the
// former value back. Or delete the key and call Init, which makes the row again so that nobody can lease its number
// before the longest window is over.
type DamagedError struct {
	Key string // without the prefix of the store
	Err error  // what is wrong with it
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the key %q can't be used: %v; put its former value back, or delete it and call Init", e.Key, e.Err)
}

// Unwrap returns Err.
func (e *DamagedError) Unwrap() error { return e.Err }

// errNoNamespace is dberrors.ErrNoNamespace for stores that have no tables.
type errNoNamespace struct{}

func (errNoNamespace) Error() string { return "the namespace does not exist: call Init" }

func (errNoNamespace) Is(target error) bool { return target == dberrors.ErrNoNamespace }
