package mysqlexec

import (
	"context"
	"database/sql"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/sqlsnow"
)

// sourceDatabase returns the name of a source's database, if the session of the
// target reads that very database: both are on one MySQL server. Else it returns
// "". It asks once.
func sourceDatabase(ctx context.Context, c *chunk.Conns, source string) (string, error) {
	if c.Engine.Kind != sqlsnow.MySQL {
		return "", nil
	}
	if name, known := c.OnTarget[source]; known {
		return name, nil
	}
	s, err := c.Source(ctx, source)
	if err != nil {
		return "", err
	}
	name, err := sameServer(ctx, s, c.Target)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil { // the server has no such locks, or none for this account
		name = ""
	}
	c.OnTarget[source] = name
	return name, nil
}

// sameServer returns the name of the source's database if both sessions are on
// one server, in different databases.
func sameServer(ctx context.Context, source, target *chunk.Session) (string, error) {
	var name, own sql.NullString
	if err := source.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&name); err != nil {
		return "", err
	}
	if err := target.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&own); err != nil {
		return "", err
	}
	if same, _, err := chunk.SeesLock(ctx, source, target); err != nil || !same || !name.Valid || name == own {
		return "", err
	}
	// At this level nothing in the source is locked, and replicas are sent rows, for
	// they may not have the source.
	var logs, longest int
	var format string
	err := target.QueryRowContext(ctx, "SELECT @@log_bin, @@binlog_format, @@max_allowed_packet").Scan(&logs, &format, &longest)
	if err != nil || logs != 0 && format == "STATEMENT" || longest < 1<<20 { // functions return NULL for texts that are longer
		return "", err
	}
	_, err = target.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE")
	if err == nil { // a list that is cut off is worse than one that is too long
		_, err = target.ExecContext(ctx, "SET SESSION group_concat_max_len = 1073741824")
	}
	return name.String, err
}
