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
	if err != nil { // the server has no such locks, or none for this account
		name = ""
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	c.OnTarget[source] = name
	return name, nil
}

// sameServer returns the name of the source's database if both sessions are on
// one server, in different databases, and sets up the target's for statements that
// read both.
func sameServer(ctx context.Context, source, target *chunk.Session) (string, error) {
	var name, own sql.NullString
	if err := source.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&name); err != nil {
		return "", err
	}
	var logs, longest int
	var format string
	err := target.QueryRowContext(ctx, "SELECT DATABASE(), @@log_bin, @@binlog_format, @@max_allowed_packet").Scan(&own, &logs, &format, &longest)
	// Replicas are sent rows, for they may not have the source. Functions return NULL for texts that are longer.
	if err != nil || !name.Valid || name == own || logs != 0 && format == "STATEMENT" || longest < 1<<20 {
		return "", err
	}
	if same, _, err := chunk.SeesLock(ctx, source, target); err != nil || !same {
		return "", err
	}
	for _, text := range []string{
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE", // nothing in the source is locked
		"SET SESSION group_concat_max_len = 1073741824",                      // a list that is cut off is worse than one that is too long
	} {
		if _, err := target.ExecContext(ctx, text); err != nil {
			return "", err
		}
	}
	return name.String, nil
}
