package zksnow

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/leases"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/versioned"
	"github.com/shardsnow/snow/lease"
)

// Errors that callers branch on. They arrive wrapped: use errors.Is.
var (
	// ErrNoNamespace is returned for a namespace that [Init] was not called for.
	ErrNoNamespace = dberrors.ErrNoNamespace

	// ErrNamespaceMismatch is returned by [Init] if the namespace exists with another layout or other constants, and by
	// all functions if a newer version of this package made it.
	ErrNamespaceMismatch = dberrors.ErrNamespaceMismatch

	// ErrElsewhere says that ZooKeeper has another namespace of this name than at the beginning: somebody deleted it
	// and made it again, or the addresses lead to another ensemble. Nothing was written. A lease goes on, and tries
	// again.
	ErrElsewhere = versioned.ErrElsewhere

	// ErrClosed is what [Lease.Err] returns after Close.
	ErrClosed = lease.ErrClosed
)

type (
	// A ClockError says that the leader's clock can't be trusted.
	ClockError = lease.ClockError

	// A HeldError says who holds a worker number that was asked for.
	HeldError = lease.HeldError

	// A NoWorkerError says that no worker number of a namespace is free.
	NoWorkerError = lease.NoWorkerError

	// A LostError says why a lease had to give up its worker number.
	LostError = lease.LostError
)

// A DamagedError says that a znode of a namespace is gone, or has a value that this package does not write: somebody
// wrote it by hand, or another version of this package did. Nobody gets a number with such a row, and nobody renews
// it. Put the former value back. Or delete the znode with its child and call [Init], which makes the row again so
// that nobody can lease its number before the longest window is over.
type DamagedError = versioned.DamagedError

// A StoreError is an error of ZooKeeper or its client. ZooKeeper may have carried out the request all the same, or
// may do so later, unless Err is an answer such as [zk.ErrNoAuth].
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
	case errors.Is(e.Err, zk.ErrNoAuth), errors.Is(e.Err, zk.ErrAuthFailed):
		return text + "; call AddAuth of the connection with an account that may do everything in the tree"
	case errors.Is(e.Err, zk.ErrInvalidACL):
		return text + "; the ACL of the root can't be given to other znodes: it needs AddAuth of the connection, or another ACL"
	case e.Server == "":
		return text
	case e.State == zk.StateHasSession:
		return text + "; the session has no answer from " + e.Server
	}
	return text + fmt.Sprintf("; there is no session, the last try was at %s: check the addresses, and that a majority of the members runs", e.Server)
}

// Unwrap returns Err.
func (e *StoreError) Unwrap() error { return e.Err }

// isAnswer reports whether an error is ZooKeeper's answer to a request that had no effect.
func isAnswer(err error) bool {
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

// exported returns the error that users see for an error of op: a typed error of this package.
func exported(op string, err error) error {
	if err == nil || errors.As(err, new(*snow.FieldError)) || isVerdict(err) {
		return err
	}
	if own := leases.Typed(err); own != nil {
		return own
	}
	if !errors.As(err, new(*StoreError)) {
		err = &StoreError{Op: op, Err: err} // of the reply
	}
	return fmt.Errorf("%s: %w", op, err)
}

// isVerdict reports whether err is a finding of this package, and not an error of ZooKeeper.
func isVerdict(err error) bool {
	return errors.Is(err, ErrElsewhere) || errors.Is(err, versioned.ErrBusy) || errors.Is(err, versioned.ErrUnsupported) ||
		errors.As(err, new(*DamagedError)) || dberrors.IsVerdict(err)
}

// isBusy reports whether an exported error says that others were in the way.
func isBusy(err error) bool { return errors.Is(err, versioned.ErrBusy) }

// failureOf says whether another attempt may succeed after an exported error.
func failureOf(err error) protocol.Failure {
	var failed *StoreError
	switch {
	case isBusy(err):
		return protocol.Busy
	case !errors.As(err, &failed), failed.Path == "", isAnswer(err):
		return protocol.Lasting
	}
	return protocol.Unclear
}
