package sqlsnow

import (
	"database/sql"
	"strconv"
	"sync"
	"time"
)

// What a session must be like, which is looked at before a write and not in it: see the session type. MySQL does not know
// @@in_transaction, and MariaDB alone reads what follows /*M!.
const (
	mysqlLone     = "@@autocommit = 1 /*M! AND @@in_transaction = 0 */"
	mysqlMigrates = "(@@autocommit = 0 /*M! OR @@in_transaction = 0 */ /*!50720 OR @@autocommit = 1 */)"

	// The rights of an administrator reach beyond read_only, which is a word or a number, and let a session keep its writes
	// from the replicas.
	mysqlWrites = "CAST(@@global.read_only AS CHAR) IN ('0', 'OFF')"
	mysqlLogged = "(@@global.log_bin = 0 OR @@sql_log_bin = 1)"

	mysqlDurable = "@@global.innodb_flush_log_at_trx_commit IN (1, 3) AND (@@global.log_bin = 0 OR @@global.sync_binlog = 1)" +
		" AND COALESCE(@@global.innodb_flush_method, '') NOT IN ('nosync', 'littlesync')"
)

var mysqlEngine = sync.OnceValue(func() *engine {
	// UTC_TIMESTAMP is the time at which the statement began. UNIX_TIMESTAMP(NOW(6))
	// would go through the server's time zone and repeat an hour once a year.
	const now = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
	return newEngine(engine{
		dialect:  MySQL,
		now:      now,
		div:      "DIV",
		greatest: "GREATEST",
		least:    "LEAST",
		bound:    "@snow = :mark AND",
		// Whatever is told, what is written is the same.
		one:     "1 + 0 * LAST_INSERT_ID(IF(" + mysqlWrites + ", {now}, 0))",
		oneNext: "1 + 0 * LAST_INSERT_ID(IF(" + mysqlWrites + ", next_id, 0))",
		look:    lookMySQL,
		facts: "SELECT " + now + ", @@global.read_only, @@autocommit, @@global.innodb_flush_log_at_trx_commit," +
			" @@global.log_bin, @@global.sync_binlog, @@global.innodb_flush_log_at_timeout, 0 /*M! + @@in_transaction */," +
			" @@sql_log_bin, @@global.innodb_flush_method",
		facing: func(v []sql.NullString) facts {
			f := facts{readOnly: v[1].String != "0" && v[1].String != "OFF", inTransaction: v[7].String == "1"}
			switch {
			case v[2].String != "1":
				f.weak("autocommit", v[2].String, forgetsAll)
			case v[4].String == "1" && v[8].String != "1":
				f.weak("sql_log_bin", v[8].String, forgetsAll)
			case v[9].String == "nosync" || v[9].String == "littlesync":
				f.weak("innodb_flush_method", v[9].String, forgetsAll)
			case v[4].String == "1" && v[5].String != "1":
				f.weak("sync_binlog", v[5].String, time.Minute)
			case v[3].String != "1" && v[3].String != "3": // 3 is MariaDB's, and as good
				every, err := strconv.Atoi(v[6].String)
				if err != nil {
					every = 2700 // the highest
				}
				f.weak("innodb_flush_log_at_trx_commit", v[3].String, max(5, time.Duration(3*every))*time.Second)
			}
			return f
		},
	})
})
