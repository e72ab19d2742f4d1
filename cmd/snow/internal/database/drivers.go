package database

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
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
		// The driver's error can quote the password, and so can a server's about the user or the database, and the
		// system's about the network.
		if err != nil || strings.Contains(dsn, "://") || strings.Contains(cfg.DBName, "@") || strings.Contains(cfg.User, "=") || !slices.Contains(networks(), cfg.Net) {
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
			return nil, errors.New(malformedPostgres)
		}
		for name := range cfg.RuntimeParams { // the server quotes one that it does not know
			if !parameter.MatchString(name) {
				return nil, errors.New(malformedPostgres)
			}
		}
		return stdlib.GetConnector(*cfg), nil
	case sqlsnow.SQLite:
		if access == ReadOnly {
			return newReadable(dsn)
		}
		return (&sqlite.SQLite{}).OpenConnector(sqliteDSN(dsn, access))
	}
	return nil, fmt.Errorf("dialect %v is unknown", d)
}

// networks returns the networks of MySQL.
func networks() []string { return []string{"tcp", "tcp4", "tcp6", "unix"} }

const malformedPostgres = "the DSN is malformed: want postgres://user:password@host:port/database, with the password percent-encoded"

// parameter matches the names of settings in PostgreSQL.
var parameter = regexp.MustCompile(`^[A-Za-z_][\w.]*$`)

// encoded refuses a URL where a character of the password may end the password early. The rest would be taken for a
// host, which is looked up in the DNS, or for a database, which errors show.
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
