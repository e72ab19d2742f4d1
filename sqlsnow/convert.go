package sqlsnow

import (
	"errors"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/leases"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// exported returns the error that users see for an error of the internal
// packages: a typed error of this package, the error itself if it needs no
// change, or else a *DatabaseError of op.
func exported(e *dbserver.Engine, op string, err error) error {
	if err == nil || errors.As(err, new(*DatabaseError)) || dberrors.IsVerdict(err) {
		return err
	}
	if own := leases.Typed(err); own != nil {
		return own
	}
	return databaseError(e, op, err)
}

// decided returns the error that users see for an error that the machine returned
// after the request op.
func decided(e *dbserver.Engine, op string, err error) error {
	if errors.Is(err, dberrors.ErrBadReply) {
		return exported(e, op, err)
	}
	if own := leases.Typed(err); own != nil {
		return own
	}
	return err
}

// databaseError returns err as a *DatabaseError, with the sentinel for its code,
// or with advice.
func databaseError(e *dbserver.Engine, op string, err error) error {
	return e.Explain(&DatabaseError{
		Op: op, Code: sqldialect.Code(err), Err: err,
		InTransaction: e.IsInTransaction(err), BadReply: errors.Is(err, dberrors.ErrBadReply),
		Elsewhere: errors.Is(err, dberrors.ErrElsewhere),
	})
}

// failureOf says whether another attempt may succeed after an exported error.
func failureOf(e *dbserver.Engine, err error) protocol.Failure {
	var failed *DatabaseError
	switch {
	case !errors.As(err, &failed), failed.InTransaction, failed.BadReply, failed.Elsewhere, errors.Is(err, ErrReadOnly), e.IsDenied(err):
		return protocol.Lasting
	case e.IsBusy(err):
		return protocol.Busy
	}
	return protocol.Unclear
}
