package database

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/shardsnow/snow/sqlsnow"
)

// DialectVariable is the environment variable with the dialect of DSNs that do not show theirs.
const DialectVariable = "SNOW_DIALECT"

// Dialects returns the names of dialects.
func Dialects() []string { return []string{"mysql", "mariadb", "postgres", "postgresql", "sqlite"} }

// ParseDialect returns the dialect of a name.
func ParseDialect(name string) (sqlsnow.Dialect, error) {
	switch name {
	case "mysql", "mariadb":
		return sqlsnow.MySQL, nil
	case "postgres", "postgresql":
		return sqlsnow.Postgres, nil
	case "sqlite":
		return sqlsnow.SQLite, nil
	}
	return 0, errors.New("want mysql, mariadb, postgres or sqlite")
}

var (
	// mysqlForm matches user:password@tcp(host:port)/database, mysqlShort the same without a host.
	mysqlForm  = regexp.MustCompile(`(?s)(^|@)(tcp|tcp4|tcp6|unix)(\(.*\))?/[^/]*$`)
	mysqlShort = regexp.MustCompile(`(?s)@(\([^@]*\))?/[^/]*$`)
	// keywords matches host=… user=… password=….
	keywords = regexp.MustCompile(`^\s*[a-z_]+\s*=`)
)

// shown returns the dialect that a DSN shows, or 0, and whether it can be of no other.
func shown(dsn string) (d sqlsnow.Dialect, sure bool) {
	switch {
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		return sqlsnow.Postgres, true
	case strings.HasPrefix(dsn, "mysql://"), strings.HasPrefix(dsn, "mariadb://"):
		return sqlsnow.MySQL, true // the driver has another form, and so says the error
	case strings.HasPrefix(dsn, "file:"):
		return sqlsnow.SQLite, true
	case mysqlForm.MatchString(dsn):
		return sqlsnow.MySQL, true
	case keywords.MatchString(dsn):
		return sqlsnow.Postgres, true
	case isSQLite(dsn):
		return sqlsnow.SQLite, false
	case mysqlShort.MatchString(dsn):
		return sqlsnow.MySQL, false
	}
	return 0, false
}

// dialectOf returns the dialect of a name, or the one that the DSN shows, or the environment's. The errors say
// nothing of the DSN but its form.
func dialectOf(dsn, name string, otherwise ...string) (sqlsnow.Dialect, error) {
	found, sure := shown(dsn)
	if name != "" {
		d, err := ParseDialect(name)
		if err == nil && sure && d != found {
			err = fmt.Errorf("it is %v, and the DSN has the form of %v", d, found)
		}
		if before, _, at := strings.Cut(dsn, "@"); err == nil && d == sqlsnow.SQLite && !sure && at && strings.Contains(before, ":") {
			err = errors.New("it is SQLite, and the DSN could have a password before the @: want file: before such a path")
		}
		if err != nil {
			return 0, fmt.Errorf("--dialect: %w", err)
		}
		return d, nil
	}
	if found != 0 {
		return found, nil
	}
	if name = cmp.Or(append(otherwise, os.Getenv(DialectVariable))...); name != "" {
		d, err := ParseDialect(name)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", DialectVariable, err)
		}
		return d, nil
	}
	return 0, errors.New("--dialect is missing, and the DSN does not show it: want mysql, mariadb, postgres or sqlite")
}

// isSQLite reports whether a DSN is the path of a file with a usual ending. A path with a parenthesis or ://, or with
// a colon before an @, could be the DSN of a server.
func isSQLite(dsn string) bool {
	path := sqlitePath(dsn)
	before, _, at := strings.Cut(path, "@")
	if strings.Contains(path, "(") || strings.Contains(path, "://") || at && strings.Contains(before, ":") {
		return false
	}
	return strings.HasSuffix(path, ".db") || strings.HasSuffix(path, ".sqlite") || strings.HasSuffix(path, ".sqlite3")
}

// sqlitePath returns a DSN of SQLite without its parameters, which can contain a key.
func sqlitePath(dsn string) string {
	path, _, _ := strings.Cut(dsn, "?")
	return path
}
