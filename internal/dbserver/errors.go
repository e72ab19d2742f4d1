package dbserver

import (
	"errors"
	"fmt"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// errNoInsertID is the error of a write whose reply lacks the insert id, so that its time or its first number is
// unknown.
var errNoInsertID = fmt.Errorf("%w: it has no insert id; the table has a trigger, or the server was read-only for a moment", dberrors.ErrBadReply)

// errStopped says that SET timestamp has stopped the clock of a session of MySQL or MariaDB.
var errStopped = fmt.Errorf("%w: SET timestamp has stopped the session's clock", dberrors.ErrRefused)

// IsInTransaction reports whether err says that the connection was left in a transaction. Nothing was written in
// that case.
func (e *Engine) IsInTransaction(err error) bool {
	return errors.Is(err, dberrors.ErrInTransaction) || err != nil && e.Dialect.Classify(err) == sqldialect.InTransaction
}

// IsBusy reports whether err says that another statement, or too many connections, were in the way.
func (e *Engine) IsBusy(err error) bool {
	if err == nil {
		return false
	}
	class := e.Dialect.Classify(err)
	return class == sqldialect.Busy || class == sqldialect.TooManyConnections
}

// IsDenied reports whether err says that the account lacks a right, so that another attempt fails as well.
func (e *Engine) IsDenied(err error) bool {
	return err != nil && e.Dialect.Classify(err) == sqldialect.Denied
}

// Explain adds the meaning of a driver's error to failed, which wraps that error: a sentinel, or what to do about it.
func (e *Engine) Explain(failed error) error {
	switch e.Dialect.Classify(failed) {
	case sqldialect.NoTable:
		return fmt.Errorf("%w (%w)", dberrors.ErrNotMigrated, failed)
	case sqldialect.ReadOnly:
		return fmt.Errorf("%w (%w)", dberrors.ErrReadOnly, failed)
	case sqldialect.InTransaction:
		return fmt.Errorf("%w (%w)", dberrors.ErrInTransaction, failed)
	case sqldialect.Denied:
		return fmt.Errorf("%w: docs/databases.md has the rights that the account needs", failed)
	case sqldialect.NoQuorum:
		return fmt.Errorf("%w: the node is not in the primary component of its Galera cluster", failed)
	case sqldialect.StatementMismatch:
		return fmt.Errorf("%w: behind a pooler in transaction mode connect with default_query_exec_mode=cache_describe, exec or simple_protocol,"+
			" or let it keep prepared statements, as PgBouncer does from 1.21 on with max_prepared_statements", failed)
	}
	return failed
}
