package sqlsnow

import (
	"database/sql"
	"sync"
	"time"
)

// postgresBegun is when the session's transaction began. A statement outside of one begins its own.
const postgresBegun = "CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT)"

var postgresEngine = sync.OnceValue(func() *engine {
	const now = "CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT)"
	return newEngine(engine{
		dialect:  Postgres,
		now:      now,
		div:      "/",
		greatest: "GREATEST",
		least:    "LEAST",
		bound:    postgresBegun + " <> :mark AND",
		look:     lookPostgres,
		apart:    apartPostgres,
		settle:   settlePostgres,
		// Sessions may turn synchronous_commit off. Here it is on for the statement's own transaction.
		guard: "durable.mode <> '' AND",
		from: "FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')" +
			" WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable",
		durable: "current_setting('fsync') = 'on' AND",
		one:     "1",
		oneNext: "1",
		told:    "RETURNING " + now,
		facts: "SELECT " + now + ", pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', current_setting('fsync')," +
			" current_setting('synchronous_standby_names'), pg_has_role('pg_read_all_stats', 'USAGE')",
		facing: func(v []sql.NullString) facts {
			f := facts{readOnly: v[1].String != "false" && v[1].String != "f"}
			switch {
			case v[2].String != "on":
				f.weak("fsync", v[2].String, forgetsAll)
			case v[3].String != "" && v[4].String != "true" && v[4].String != "t":
				f.weak("synchronous_standby_names", v[3].String+", and whether they have a commit is hidden from the account, which needs GRANT pg_read_all_stats,", time.Millisecond)
			}
			return f
		},
	})
})
