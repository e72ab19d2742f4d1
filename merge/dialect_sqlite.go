package merge

import (
	"strconv"
	"sync"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

var sqliteEngine = sync.OnceValue(func() *engine {
	const now = "(CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000)"
	return &engine{
		dialect:    sqlsnow.SQLite,
		quotation:  `"`,
		number:     func(n int) string { return "?" + strconv.Itoa(n) },
		now:        now,
		maxParams:  32766,
		writers:    1,
		rowValues:  true,
		valuesInIn: true,
		// An expression has no declared type, by which drivers would make times and booleans.
		read:    func(column string, _ *plan.Column) string { return "+" + column },
		carrier: func(*plan.Column) carrier { return carryNative },
		held:    "SELECT fence FROM snow_merge_lease WHERE id = 1 AND fence = ?1",
		begin:   "BEGIN IMMEDIATE",
		source:  []string{"PRAGMA busy_timeout = 10000", "PRAGMA query_only = ON"},
		target:  []string{"PRAGMA busy_timeout = 10000", "PRAGMA query_only = OFF", "PRAGMA foreign_keys = ON"},
		// A connection is not ended, for it may be the only one of a database in memory.
		settings:  []string{"query_only", "foreign_keys", "busy_timeout"},
		unchecked: "PRAGMA foreign_keys = OFF",
		absent:    func(code string) bool { return code == "1" },
		busy: func(code string) bool {
			n, err := strconv.Atoi(code)
			return err == nil && (n&0xff == 5 || n&0xff == 6) // SQLITE_BUSY, SQLITE_LOCKED
		},
		ifMissing: "IF NOT EXISTS",
		types:     map[string]string{"name": "TEXT", "code": "TEXT", "text": "TEXT", "list": "TEXT", "end": "", "clustered": "WITHOUT ROWID"},
	}
})
