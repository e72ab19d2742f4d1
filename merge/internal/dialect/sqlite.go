package dialect

import (
	"sync"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

var sqlite = sync.OnceValue(func() *Dialect {
	const now = "(CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000)"
	return &Dialect{
		Kind:       sqlsnow.SQLite,
		Now:        now,
		MaxParams:  32766,
		Writers:    1,
		RowValues:  true,
		ValuesInIn: true,
		// An expression has no declared type, by which drivers would make times and booleans.
		read:    func(column string, _ *plan.Column) string { return "+" + column },
		Carrier: func(*plan.Column) Carrier { return CarryNative },
		Held:    "SELECT fence FROM snow_merge_lease WHERE id = 1 AND fence = ?1",
		Begin:   "BEGIN IMMEDIATE",
		Source:  []string{"PRAGMA busy_timeout = 10000", "PRAGMA query_only = ON"},
		Target:  []string{"PRAGMA busy_timeout = 10000", "PRAGMA query_only = OFF", "PRAGMA foreign_keys = ON"},
		// A connection is not ended, for it may be the only one of a database in memory.
		Saved: "SELECT 'PRAGMA query_only = ' || query_only || ';PRAGMA foreign_keys = ' || foreign_keys || ';PRAGMA busy_timeout = ' || timeout" +
			" FROM pragma_query_only, pragma_foreign_keys, pragma_busy_timeout",
		Unchecked: "PRAGMA foreign_keys = OFF",
		IfMissing: "IF NOT EXISTS",
		types:     map[string]string{"name": "TEXT", "code": "TEXT", "text": "TEXT", "list": "TEXT", "end": "", "clustered": "WITHOUT ROWID"},
	}
})
