package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	sqlite "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow/sqlsnow"
)

// patience is how long to wait for a database that does not answer.
const patience = 10 * time.Second

// dialects are the values of -dialect.
var dialects = map[string]sqlsnow.Dialect{"sqlite": sqlsnow.SQLite, "mysql": sqlsnow.MySQL, "postgres": sqlsnow.Postgres}

// An access says what a program may do to a database.
type access int

const (
	readWrite access = iota // creates a file of SQLite that does not exist
	existing                // creates no file, so that a mistyped path is an error
	readOnly                // the same for sources; the database itself refuses to write
)

// open opens a database and checks that it answers. No error shows the DSN,
// because it holds a password, except the path of a SQLite file.
func open(ctx context.Context, d sqlsnow.Dialect, dsn string, a access) (*sql.DB, error) {
	c, err := connector(d, dsn, a)
	if err != nil {
		return nil, err
	}
	if a == readOnly {
		c = onConnect{c, map[sqlsnow.Dialect]string{
			sqlsnow.SQLite:   "PRAGMA query_only = on",
			sqlsnow.MySQL:    "SET SESSION TRANSACTION READ ONLY",
			sqlsnow.Postgres: "SET default_transaction_read_only = on",
		}[d]}
	}
	db := sql.OpenDB(c)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		if d == sqlsnow.SQLite {
			path, _, _ := strings.Cut(dsn, "?") // parameters can contain a key
			err = fmt.Errorf("%q: %w", path, err)
		}
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func connector(d sqlsnow.Dialect, dsn string, a access) (driver.Connector, error) {
	switch d {
	case sqlsnow.MySQL:
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil { // which can quote the password
			return nil, errors.New("want user:password@tcp(host:port)/database")
		}
		cfg.Logger = &mysql.NopLogger{} // errors are returned as well
		return mysql.NewConnector(cfg)
	case sqlsnow.Postgres:
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, errors.New("want postgres://user:password@host:port/database")
		}
		return stdlib.GetConnector(*cfg), nil
	case sqlsnow.SQLite:
		return (&sqlite.SQLite{}).OpenConnector(sqliteDSN(dsn, a))
	}
	return nil, fmt.Errorf("dialect %v is unknown", d)
}

// sqliteDSN takes the path of a file, or a URI, and adds what a merge needs.
func sqliteDSN(dsn string, a access) string {
	if !strings.HasPrefix(dsn, "file:") {
		dsn = (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(dsn)}).String()
	}
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	_, query, _ := strings.Cut(dsn, "?")
	if a != readWrite && !strings.Contains("&"+query, "&mode=ro") { // which makes no file either, and can't become rw
		dsn, separator = dsn+separator+"mode=rw", "&"
	}
	// A transaction that becomes a writer halfway can't wait for its turn. What is confirmed must be on disk in any mode
	// of the journal.
	return dsn + separator + "_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=foreign_keys(on)&_pragma=synchronous(extra)"
}

// onConnect sends a statement on each new connection.
type onConnect struct {
	driver.Connector
	statement string
}

func (c onConnect) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the driver can't execute statements"), conn.Close())
	}
	if _, err := execer.ExecContext(ctx, c.statement, nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
