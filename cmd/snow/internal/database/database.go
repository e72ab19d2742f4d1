// Package database opens the databases of the command. No error of it shows a
// DSN, because a DSN holds a password, except the path of a SQLite file.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// An Access says what a command may do to a database.
type Access int

// The ways to open a database.
const (
	ReadOnly Access = iota // the database itself refuses to write; transactions begin with BeginTx, not with a statement
	Existing               // makes no file of SQLite, so that a mistyped path is an error
	Create                 // makes a file of SQLite that does not exist
)

// Open opens the database of a flag's value and checks within timeout that it
// answers. The value is env:NAME, @FILE, or the file of a SQLite database; see [Resolve]. dialect is
// mysql, postgres or sqlite, or empty if the DSN shows it.
func Open(ctx context.Context, flag, value, dialect string, access Access, timeout time.Duration) (*sql.DB, sqlsnow.Dialect, error) {
	db, d, err := Connect(flag, value, dialect, access)
	if err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		if d == sqlsnow.SQLite {
			err = withPath(err, flag, value, dialect)
		}
		return nil, 0, errors.Join(fmt.Errorf("the database does not answer: %w", err), db.Close())
	}
	return db, d, nil
}

// withPath names the file of SQLite, unless it may be the DSN of a server by mistake.
func withPath(err error, flag, value, dialect string) error {
	dsn, again := Resolve(flag, value, dialect)
	if path := sqlitePath(dsn); again == nil && !strings.Contains(path, "@") {
		return fmt.Errorf("%q: %w", path, err)
	}
	return errors.New("the file can't be opened")
}

// Connect is Open for a database that need not answer now.
func Connect(flag, value, dialect string, access Access) (*sql.DB, sqlsnow.Dialect, error) {
	dsn, err := Resolve(flag, value, dialect)
	if err != nil {
		return nil, 0, err
	}
	d, err := dialectOf(dsn, dialect)
	if err != nil {
		return nil, 0, err
	}
	c, err := connector(d, dsn, access)
	if err != nil {
		return nil, 0, err
	}
	switch {
	case access == ReadOnly && d == sqlsnow.SQLite:
		c = queryOnly{c}
	case access == ReadOnly:
		c = readOnly{c}
	}
	return sql.OpenDB(c), d, nil
}

// dialectOf returns the dialect of a flag's value, or the one that the DSN shows.
func dialectOf(dsn, name string) (sqlsnow.Dialect, error) {
	switch name {
	case "mysql":
		return sqlsnow.MySQL, nil
	case "postgres":
		return sqlsnow.Postgres, nil
	case "sqlite":
		return sqlsnow.SQLite, nil
	case "":
	default:
		return 0, errors.New("--dialect: want mysql (also MariaDB), postgres or sqlite")
	}
	switch {
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		return sqlsnow.Postgres, nil
	case isSQLite(dsn):
		return sqlsnow.SQLite, nil
	}
	return 0, errors.New("--dialect is missing, and the DSN does not show it: want mysql (also MariaDB), postgres or sqlite")
}
