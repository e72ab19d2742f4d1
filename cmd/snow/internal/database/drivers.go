package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	sqlite "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow/sqlsnow"
)

func connector(d sqlsnow.Dialect, dsn string, access Access) (driver.Connector, error) {
	switch d {
	case sqlsnow.MySQL:
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil || strings.Contains(cfg.DBName, "@") { // the error can quote the password, and so can the database
			return nil, errors.New("the DSN is malformed: want user:password@tcp(host:port)/database")
		}
		cfg.Logger = &mysql.NopLogger{} // errors are returned as well
		return mysql.NewConnector(cfg)
	case sqlsnow.Postgres:
		if err := encoded(dsn); err != nil {
			return nil, err
		}
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil { // which can quote the password
			return nil, errors.New("the DSN is malformed: want postgres://user:password@host:port/database, with the password percent-encoded")
		}
		return stdlib.GetConnector(*cfg), nil
	case sqlsnow.SQLite:
		return (&sqlite.SQLite{}).OpenConnector(sqliteDSN(dsn, access))
	}
	return nil, fmt.Errorf("dialect %v is unknown", d)
}

// encoded refuses a URL in which a character of the password may end the password early. The rest of it would be taken for a host,
// which is asked of the DNS, or for a database, which errors show.
func encoded(dsn string) error {
	_, rest, isURL := strings.Cut(dsn, "://")
	if !isURL || !strings.HasPrefix(dsn, "postgres") {
		return nil
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 && strings.ContainsAny(rest[i:], "@#") {
		return errors.New("the DSN is malformed: percent-encode @ / ? # and % in the user and the password, and @ and # after the host: " +
			"%40 %2F %3F %23 %25")
	}
	return nil
}

// sqliteDSN takes the path of a file, or a URI, and adds what leases need.
func sqliteDSN(dsn string, access Access) string {
	if !strings.HasPrefix(dsn, "file:") {
		dsn = (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(dsn)}).String()
	}
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	_, query, _ := strings.Cut(dsn, "?")
	if access != Create && !strings.Contains("&"+query, "&mode=ro") { // which makes no file either, and can't become rw
		dsn, separator = dsn+separator+"mode=rw", "&"
	}
	// A transaction that becomes a writer halfway can't wait for its turn. What is confirmed must be on disk in any mode
	// of the journal.
	return dsn + separator + "_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=foreign_keys(on)&_pragma=synchronous(extra)"
}

// queryOnly makes the connections to a file of SQLite refuse to write. They are nobody else's.
type queryOnly struct{ driver.Connector }

func (c queryOnly) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the driver can't execute statements"), conn.Close())
	}
	if _, err := execer.ExecContext(ctx, "PRAGMA query_only = on", nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
