package sqlsnow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// A Dialect is the SQL that a database speaks. Its String method returns
// "MySQL", "PostgreSQL" or "SQLite".
type Dialect = sqldialect.Dialect

// The dialects.
const (
	MySQL    = sqldialect.MySQL    // also MariaDB, Galera and TiDB
	Postgres = sqldialect.Postgres // PostgreSQL; not CockroachDB, which refuses the tables' collation
	SQLite   = sqldialect.SQLite   // 3.37 or later; never on a network file system
)

// checkDialect returns err, or a FieldError around it if the server speaks another dialect.
func checkDialect(ctx context.Context, q dbserver.Queryer, d Dialect, err error) error {
	var failed *DatabaseError
	if !errors.As(err, &failed) || failed.Code == "" { // the error is not a server's
		return err
	}
	found, version := SQLite, ""
	if q.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version) != nil {
		if q.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version) != nil {
			return err // the server may be any
		}
		found = MySQL
		if strings.Contains(version, "PostgreSQL") || strings.Contains(version, "CockroachDB") {
			found = Postgres
		}
	}
	if found == d {
		return err
	}
	if len(version) > 64 {
		version = version[:64]
	}
	field := &snow.FieldError{Field: "dialect", Value: d.String(), Bound: fmt.Sprintf("the server speaks %v's dialect, and its version is %q", found, version)}
	return fmt.Errorf("%w (%w)", field, err)
}
