package sqlsnow

import (
	"errors"
	"fmt"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// database makes err, which a driver returned, a *DatabaseError, with the
// sentinel of its class where there is one.
func (e *engine) database(op string, err error) error {
	code := codeOf(err)
	failed := &DatabaseError{Op: op, Code: code, Err: err}
	switch e.dialect.Classify(err) {
	case sqldialect.NoTable:
		return fmt.Errorf("%w (%w)", ErrNotMigrated, failed)
	case sqldialect.ReadOnly:
		return fmt.Errorf("%w (%w)", ErrReadOnly, failed)
	case sqldialect.InTransaction:
		return fmt.Errorf("%w (%w)", ErrInTransaction, failed)
	case sqldialect.NoQuorum:
		return fmt.Errorf("%w: the node is not in the primary component of its Galera cluster", failed)
	case sqldialect.StatementMismatch:
		return fmt.Errorf("%w: behind a pooler in transaction mode connect with default_query_exec_mode=cache_describe, exec or simple_protocol,"+
			" or let it keep prepared statements, as PgBouncer does from 1.21 on with max_prepared_statements", failed)
	}
	return failed
}

// named makes err a *DatabaseError, as database does, unless it is one of this package's already.
func (e *engine) named(op string, err error) error {
	var failed *DatabaseError
	var back *RegressedError
	if err == nil || errors.As(err, &failed) || errors.As(err, &back) {
		return err
	}
	for _, own := range []error{ErrNotMigrated, ErrNoNamespace, ErrNamespaceMismatch, ErrNotDurable, ErrReadOnly, ErrInTransaction, ErrSegmentsMismatch, errRefused} {
		if errors.Is(err, own) {
			return err
		}
	}
	return e.database(op, err)
}

// isBusy reports whether err is one of another statement in the way.
func (e *engine) isBusy(err error) bool {
	var failed *DatabaseError
	if !errors.As(err, &failed) {
		return false
	}
	switch e.dialect.Classify(failed) {
	case sqldialect.Busy, sqldialect.TooManyConnections:
		return true
	}
	return false
}

// codeOf returns the code that a driver gave its error, or "".
func codeOf(err error) string { return sqldialect.Code(err) }
