package dbserver

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/retry"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// postgresBegun is the time at which the session's transaction began. A statement outside of a transaction begins
// its own.
const postgresBegun = "CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT)"

func postgresEngine() *Engine {
	const now = "CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT)"
	return &Engine{
		Dialect:          sqldialect.Postgres,
		Now:              now,
		div:              "/",
		greatest:         "GREATEST",
		least:            "LEAST",
		bound:            postgresBegun + " <> :mark AND",
		checkSession:     checkPostgres,
		checkTransaction: checkTransactionPostgres,
		waitDurable:      waitForStandbys,
		// A session may have synchronous_commit off. The guard turns it on for the statement's own transaction.
		guard: "durable.mode <> '' AND",
		from: "FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')" +
			" WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable",
		durable: "current_setting('fsync') = 'on' AND",
		// Where the session finds the table, or would make it. A temporary table hides no other one from a
		// statement that names the schema.
		current: "COALESCE((SELECT n.nspname FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, place)" +
			" JOIN pg_namespace AS n ON n.nspname = path.name JOIN pg_class AS c ON c.relnamespace = n.oid" +
			" WHERE c.relname = '{anchor}' AND c.relpersistence <> 't' ORDER BY path.place LIMIT 1), current_schema())::text",
		placed: " FROM (SELECT {schema}) AS placed (name)",
		// The default is what the DSN, the account and the database give. pg_settings has it as well, but takes ten
		// times as long. The second set_config ends what the first one did, in case somebody left the session in a
		// transaction. SET ROLE changes the schema that "$user" stands for.
		changed: "((SELECT CASE WHEN set_config('search_path', path.now, true) = path.now THEN path.now <> path.standard ELSE true END" +
			" FROM (SELECT before.now, set_config('search_path', NULL, true) AS standard" +
			" FROM (SELECT current_setting('search_path') AS now OFFSET 0) AS before OFFSET 0) AS path)" +
			" OR current_user <> session_user AND current_setting('search_path') LIKE '%$user%'" +
			" AND EXISTS (SELECT 1 FROM pg_namespace WHERE nspname IN (current_user, session_user)))",
		stored: "(SELECT CASE WHEN c.relpersistence = 'u' THEN 'UNLOGGED' WHEN c.relkind = 'r' THEN '' ELSE 'a relation of kind ' || c.relkind::text END" +
			" FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = {schema} AND c.relname = '{table}')",
		info: now + ", pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', current_setting('fsync')," +
			" current_setting('synchronous_standby_names'), pg_has_role('pg_read_all_stats', 'USAGE')",
		readInfo: func(v []sql.NullString) Info {
			info := Info{ReadOnly: v[1].String != "false" && v[1].String != "f"}
			switch {
			case v[2].String != "on":
				info.weaken("fsync", v[2].String, Forever)
			case v[3].String != "" && v[4].String != "true" && v[4].String != "t":
				info.weaken("synchronous_standby_names", v[3].String+", and the account can't see whether the standbys have a commit, because it lacks GRANT pg_read_all_stats,", time.Millisecond)
			}
			return info
		},
	}
}

// checkPostgres reads the mark with VALUES, because proxies send a SELECT to replicas.
func checkPostgres(ctx context.Context, s *Session) error {
	return s.QueryRowContext(ctx, "VALUES ("+postgresBegun+", current_setting('synchronous_standby_names'))").Scan(&s.mark, &s.standbys)
}

// waitForStandbys waits until the synchronous standbys, if there are any, have the write. The server waits for them
// before it confirms a commit. But if its wait is cancelled with pg_cancel_backend, it confirms the commit all the
// same, with a warning.
func waitForStandbys(ctx context.Context, s *Session) error {
	if s.standbys == "" || s.use == ForMigration || s.use == ForReading || s.use == ForLossyLease {
		return nil
	}
	var flushed string
	if err := s.QueryRowContext(ctx, "VALUES (CAST(pg_current_wal_flush_lsn() AS text))").Scan(&flushed); err != nil {
		return err
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		var have int
		err := s.QueryRowContext(ctx, "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum') AND flush_lsn >= CAST($1 AS pg_lsn)", flushed).Scan(&have)
		if err == nil && have < standbys(s.standbys) {
			err = retry.Pause(ctx, wait)
		} else {
			return err
		}
		if err != nil {
			return fmt.Errorf("%d of the %d standbys that synchronous_standby_names asks for have it: %w", have, standbys(s.standbys), err)
		}
	}
}

// standbys returns how many standbys synchronous_standby_names asks for, as in "FIRST 2 (a, b, c)", "ANY 1 (*)", "2
// (a, b)" and "a, b".
func standbys(names string) int {
	before, _, listed := strings.Cut(names, "(")
	words := strings.Fields(before)
	if n := len(words); listed && n > 0 {
		if count, err := strconv.Atoi(words[n-1]); err == nil {
			return max(count, 1)
		}
	}
	return 1
}

func checkTransactionPostgres(ctx context.Context, s *Session) error {
	before := s.mark
	if err := checkPostgres(ctx, s); err != nil {
		return err
	}
	if s.mark == before {
		return dberrors.ErrInTransaction
	}
	return nil
}
