package etcdsnow

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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

	// ErrElsewhere says that the cluster has another namespace of this name than at the beginning: somebody deleted it and
	// made it again, or the endpoints lead to another cluster. Nothing was written. A lease goes on, and tries again.
	ErrElsewhere = versioned.ErrElsewhere

	// ErrClosed is what [Lease.Err] returns after Close.
	ErrClosed = lease.ErrClosed
)

// A ClockError says that this process's clock can't be trusted.
type ClockError = lease.ClockError

// A HeldError says who holds a worker number that was asked for.
type HeldError = lease.HeldError

// A NoWorkerError says that no worker number of a namespace is free.
type NoWorkerError = lease.NoWorkerError

// A LostError says why a lease had to give up its worker number.
type LostError = lease.LostError

// A DamagedError says that a key of a namespace is gone, or has a value that this package does not write: somebody wrote
// it by hand, or another version of this package did. Nobody gets a number with such a row, and nobody renews it. Put
// the former value back. Or delete the key and call [Init], which makes the row again so that nobody can lease its
// number before the longest window is over.
type DamagedError = versioned.DamagedError

// A ClusterError is an error of etcd or its client. The cluster may have done what it was asked all the same.
type ClusterError struct {
	Op   string     // the operation: "acquire", "renew" and so on
	Code codes.Code // of the gRPC status
	Err  error      // the client's error
	Do   string     // what may help; empty if nothing is known
}

func (e *ClusterError) Error() string {
	text := e.Op + ": " + e.Code.String() + ": " + e.Err.Error()
	if e.Do != "" {
		text += ": " + e.Do
	}
	return text
}

// Unwrap returns Err.
func (e *ClusterError) Unwrap() error { return e.Err }

const (
	reach   = "check the endpoints and the TLS configuration of the client, and that a majority of the members is up"
	signIn  = "check the user and the password of the client, and that the user exists"
	allowed = "give the client's user the permission to read and write the keys with the prefix"
)

// advice says what may help.
func advice(err error, code codes.Code) string {
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return "the cluster has an alarm NOSPACE: compact its history, defragment its members, and disarm the alarm"
	case errors.Is(err, rpctypes.ErrCorrupt):
		return "the cluster has an alarm CORRUPT: find the member that differs from the others, and replace it"
	case errors.Is(err, rpctypes.ErrTooManyOps):
		return "start the members with --max-txn-ops=128 or more"
	case errors.Is(err, rpctypes.ErrUserEmpty), errors.Is(err, rpctypes.ErrAuthFailed), errors.Is(err, rpctypes.ErrInvalidAuthToken):
		return signIn
	}
	switch code {
	case codes.PermissionDenied:
		return allowed
	case codes.Unauthenticated:
		return signIn
	case codes.Unavailable, codes.DeadlineExceeded:
		return reach
	}
	return ""
}

// codeOf returns the gRPC code of an error of the client.
func codeOf(err error) codes.Code {
	var failed rpctypes.EtcdError
	switch {
	case errors.As(err, &failed):
		return failed.Code()
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	}
	return status.Code(err)
}

// exported returns the error that users see for an error of op: a typed error of this package, or else a *ClusterError.
func exported(op string, err error) error {
	if err == nil || errors.As(err, new(*ClusterError)) || errors.As(err, new(*snow.FieldError)) || isVerdict(err) {
		return err
	}
	if own := leases.Typed(err); own != nil {
		return own
	}
	code := codeOf(err)
	return &ClusterError{Op: op, Code: code, Err: err, Do: advice(err, code)}
}

// isVerdict reports whether err is a finding of this package, and not an error of the client.
func isVerdict(err error) bool {
	return errors.Is(err, ErrElsewhere) || errors.Is(err, versioned.ErrBusy) || errors.Is(err, versioned.ErrUnsupported) ||
		errors.As(err, new(*DamagedError)) || dberrors.IsVerdict(err)
}

// isBusy reports whether an exported error says that others were in the way, or that the members had to elect a leader.
func isBusy(err error) bool {
	for _, busy := range []error{
		versioned.ErrBusy, rpctypes.ErrTooManyRequests, rpctypes.ErrTimeout, rpctypes.ErrTimeoutDueToLeaderFail, rpctypes.ErrLeaderChanged,
	} {
		if errors.Is(err, busy) {
			return true
		}
	}
	return false
}

// failureOf says whether another attempt may succeed after an exported error.
func failureOf(err error) protocol.Failure {
	var failed *ClusterError
	switch {
	case isBusy(err):
		return protocol.Busy
	case !errors.As(err, &failed), failed.Code == codes.PermissionDenied, failed.Code == codes.Unauthenticated, failed.Code == codes.InvalidArgument:
		return protocol.Lasting
	}
	return protocol.Unclear
}
