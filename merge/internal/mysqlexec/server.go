package mysqlexec

import (
	"context"
	"database/sql"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/sqlsnow"
)

// onTarget returns how the session of the target names the tables of a source, if it
// reads that very database: both are on one MySQL server. Else it returns nil. It asks
// once.
func onTarget(ctx context.Context, c *chunk.Conns, source string) (*dialect.Dialect, error) {
	if c.Engine.Kind != sqlsnow.MySQL {
		return nil, nil
	}
	if named, known := c.OnTarget[source]; known {
		return named, nil
	}
	s, err := c.Source(ctx, source)
	if err != nil {
		return nil, err
	}
	named, err := sameServer(ctx, s, c.Target)
	if err != nil { // the server has no such locks, or none for this account
		named = nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c.OnTarget[source] = named
	return named, nil
}

// sameServer returns how tables of the source are named if both sessions are on
// one server, in different databases, and sets up the target's for statements that
// read both.
func sameServer(ctx context.Context, source, target *chunk.Session) (*dialect.Dialect, error) {
	var name, own sql.NullString
	if err := source.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&name); err != nil {
		return nil, err
	}
	several := len(source.Engine.Databases()) > 0 // which are not the target's, as was looked at before
	var logs, longest int
	var format string
	err := target.QueryRowContext(ctx, "SELECT DATABASE(), @@log_bin, @@binlog_format, @@max_allowed_packet").Scan(&own, &logs, &format, &longest)
	// Replicas are sent rows, for they may not have the source. Functions return NULL for texts that are longer.
	if err != nil || !several && (!name.Valid || name == own) || logs != 0 && format == "STATEMENT" || longest < 1<<20 {
		return nil, err
	}
	if same, _, err := chunk.SeesLock(ctx, source, target); err != nil || !same {
		return nil, err
	}
	for _, text := range []string{
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE", // nothing in the source is locked
		"SET SESSION group_concat_max_len = 1073741824",                      // a list that is cut off is worse than one that is too long
	} {
		if _, err := target.ExecContext(ctx, text); err != nil {
			return nil, err
		}
	}
	if several {
		return source.Engine, nil
	}
	return source.Engine.In(map[string]string{"": name.String}), nil
}
