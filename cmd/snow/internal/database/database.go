// Package database opens the databases of the command. No error of it shows a
// DSN, because a DSN holds a password, except the path of a SQLite file.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// An Access says what a command may do to a database.
type Access int

// The ways to open a database.
const (
	// the database itself refuses to write; transactions begin with BeginTx, not with a statement
	ReadOnly Access = iota
	Existing        // makes no file of SQLite, so that a mistyped path is an error
	Create          // makes a file of SQLite that does not exist
)

// A Location is where a database is, and what it speaks. It does not show its DSN.
type Location struct {
	Dialect sqlsnow.Dialect
	Cluster *Cluster // nil for a database; a cluster has no Dialect
	Warning string   // what is wrong with the way that the DSN was given; often empty
	dsn     string
	path    string // of a file of SQLite, for errors; empty if it could be a secret
}

// Open opens the database of a flag's value and checks within timeout that it
// answers. The value is env:NAME, @FILE, or the file of a SQLite database; see [Resolve]. dialect is
// a name of [ParseDialect], or empty if the DSN shows it.
func Open(ctx context.Context, flag, value, dialect string, access Access, timeout time.Duration) (*sql.DB, sqlsnow.Dialect, error) {
	at, err := Resolve(ctx, flag, value, dialect)
	if err != nil {
		return nil, 0, err
	}
	db, err := at.Open(ctx, access, timeout)
	return db, at.Dialect, err
}

// Open opens the database and checks within timeout that it answers.
func (l *Location) Open(ctx context.Context, access Access, timeout time.Duration) (*sql.DB, error) {
	db, err := l.Connect(access)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		switch {
		case l.path != "":
			err = fmt.Errorf("%q: %w", l.path, err)
		case l.Dialect == sqlsnow.SQLite:
			err = errors.New("the file can't be opened")
		}
		return nil, errors.Join(fmt.Errorf("the database does not answer: %w", err), db.Close())
	}
	return db, nil
}

// Connect is Open for a database that need not answer now.
func (l *Location) Connect(access Access) (*sql.DB, error) {
	if l.Cluster != nil {
		return nil, fmt.Errorf("the DSN is of %s, which has worker numbers only: this needs an SQL database", l.Cluster.Scheme)
	}
	c, err := connector(l.Dialect, l.dsn, access)
	if err != nil {
		return nil, err
	}
	if access == ReadOnly && l.Dialect != sqlsnow.SQLite {
		c = readOnly{c}
	}
	return sql.OpenDB(c), nil
}
