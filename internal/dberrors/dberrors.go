// Package dberrors has the errors that the packages of sqlsnow share. Package sqlsnow exports and documents some of
// them; the others reach its users as fields of a DatabaseError.
package dberrors

import "errors"

// Errors that package sqlsnow exports.
var (
	ErrNotMigrated       = errors.New("the tables of sqlsnow do not exist: call sqlsnow.Migrate")
	ErrNoNamespace       = errors.New("the namespace does not exist: call sqlsnow.Init")
	ErrNamespaceMismatch = errors.New("the namespace differs")
	ErrNotDurable        = errors.New("the database does not sync what it confirms")
	ErrReadOnly          = errors.New("the database is read-only")
)

var (
	// ErrInTransaction says that somebody left the connection in a transaction. Nothing was written.
	ErrInTransaction = errors.New("the connection was left in a transaction")

	// ErrElsewhere says that a statement on the connection would reach other tables. Nothing was written.
	ErrElsewhere = errors.New("the connection leads to other tables: give sqlsnow a *sql.DB of its own, with the schema in its DSN")

	// ErrBadReply says that a reply of the database can't be true. The statement may have been done.
	ErrBadReply = errors.New("the database's reply can't be true")

	// ErrRefused says that nothing was written, because the session is not fit to write.
	ErrRefused = errors.New("the database changed nothing, because its session is not fit to write")
)

// IsVerdict reports whether err is a finding of sqlsnow itself about a database, and not an error of a driver.
func IsVerdict(err error) bool {
	for _, verdict := range []error{ErrNotMigrated, ErrNoNamespace, ErrNamespaceMismatch, ErrNotDurable, ErrReadOnly, ErrRefused} {
		if errors.Is(err, verdict) {
			return true
		}
	}
	return false
}
