package sqlsnow

import (
	"database/sql"
	"sync"
)

var sqliteEngine = sync.OnceValue(func() *engine {
	const now = "(CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000)"
	return newEngine(engine{
		dialect:  SQLite,
		now:      now,
		div:      "/",
		greatest: "MAX",
		least:    "MIN",
		// FULL is enough but where a commit is the deletion of a file. Both are a connection's own.
		guard: "((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off')" +
			" OR (SELECT synchronous FROM pragma_synchronous) = 2" +
			" AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND",
		segments: "SELECT COUNT(*) FROM sqlite_master WHERE name = 'snow_segments'",
		one:      "1",
		oneNext:  "1",
		look:     lookSQLite,
		told:     "RETURNING " + now,
		facts:    "SELECT " + now + ", (SELECT COUNT(*) FROM sqlite_master WHERE name IN ('snow_namespaces', 'snow_workers')), (SELECT synchronous FROM pragma_synchronous), (SELECT journal_mode FROM pragma_journal_mode)",
		facing: func(v []sql.NullString) facts {
			f := facts{unmigrated: v[1].String != "2"}
			switch sync, mode := v[2].String, v[3].String; {
			case mode == "memory" || mode == "off":
				f.weak("PRAGMA journal_mode", mode, forgetsAll)
			case sync != "3" && (sync != "2" || mode == "delete"):
				f.weak("PRAGMA synchronous", sync+", with journal_mode "+mode+",", forgetsAll)
			}
			return f
		},
	})
})
