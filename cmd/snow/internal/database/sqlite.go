package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	sqlite "github.com/ncruces/go-sqlite3/driver"
)

// sqliteDSN takes the path of a file, or a URI, and adds what leases need.
func sqliteDSN(dsn string, access Access) string {
	dsn = sqliteURI(dsn)
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	_, query, _ := strings.Cut(dsn, "?")
	if access != Create && !strings.Contains("&"+query, "&mode=ro") { // which makes no file either, and can't become rw
		dsn, separator = dsn+separator+"mode=rw", "&"
	}
	// A transaction that becomes a writer halfway can't wait for its turn. What is confirmed must be on disk in any
	// mode of the journal.
	return dsn + separator + "_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=foreign_keys(on)&_pragma=synchronous(extra)"
}

// sqliteURI writes the path of a file as a URI, if it is none.
func sqliteURI(dsn string) string {
	if strings.HasPrefix(dsn, "file:") {
		return dsn
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(dsn)}).String()
}

// readable opens a file of SQLite for reading. SQLite may have to write then, too: what another process left
// halfway when it was killed, or an index of the log. So a file that only can be read is opened in other ways.
type readable struct {
	ways  []driver.Connector
	aside string // the log of the file: what it has is not in the file yet
}

func newReadable(dsn string) (driver.Connector, error) {
	uri := sqliteURI(dsn)
	separator := "?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	u, err := url.Parse(uri)
	if err != nil {
		return nil, errors.New("the URI of the file is malformed")
	}
	path, err := url.PathUnescape(u.Opaque) // file:relative
	if err != nil || u.Path != "" {
		path = u.Path
	}
	r := &readable{aside: path + "-wal"}
	for _, way := range []string{sqliteDSN(dsn, ReadOnly), uri + separator + "mode=ro&_pragma=busy_timeout(10000)", uri + separator + "mode=ro&immutable=1"} {
		c, err := (&sqlite.SQLite{}).OpenConnector(way)
		if err != nil {
			return nil, err
		}
		r.ways = append(r.ways, queryOnly{c})
	}
	return r, nil
}

func (r *readable) Driver() driver.Driver { return r.ways[0].Driver() }

func (r *readable) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := r.ways[0].Connect(ctx)
	if err == nil {
		return conn, nil
	}
	if conn, err := r.ways[1].Connect(ctx); err == nil {
		return conn, nil
	}
	// A file in WAL mode that nobody has open is whole, and has no log.
	if info, logErr := os.Stat(r.aside); errors.Is(logErr, os.ErrNotExist) || logErr == nil && info.Size() == 0 {
		if conn, err := r.ways[2].Connect(ctx); err == nil {
			return conn, nil
		}
	}
	return nil, err
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
	// the second one reads the file
	for _, statement := range []string{"PRAGMA query_only = on", "SELECT 1 FROM sqlite_schema"} {
		if _, err := execer.ExecContext(ctx, statement, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}
