package sqlsnow

import (
	"database/sql"
	"strconv"
	"sync"
)

var sqliteEngine = sync.OnceValue(func() *engine {
	const now = "(CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000)"
	return newEngine(engine{
		name:     "SQLite",
		now:      now,
		div:      "/",
		greatest: "MAX",
		least:    "MIN",
		guard:    "(SELECT synchronous FROM pragma_synchronous) >= 2 AND", // FULL; it is a connection's own
		stamp:    now,
		told:     "RETURNING " + now,
		facts:    "SELECT " + now + ", (SELECT COUNT(*) FROM sqlite_master WHERE name IN ('snow_namespaces', 'snow_workers')), (SELECT synchronous FROM pragma_synchronous)",
		number:   func(n int) string { return "?" + strconv.Itoa(n) },
		facing: func(v []sql.NullString) facts {
			f := facts{unmigrated: v[1].String != "2"}
			if v[2].String != "2" && v[2].String != "3" {
				f.weak("PRAGMA synchronous", v[2].String, forgetsAll)
			}
			return f
		},
		classify: func(code string) class {
			n, err := strconv.Atoi(code)
			if err != nil {
				return other
			}
			switch n & 0xff { // the rest tells more
			case 5, 6: // SQLITE_BUSY, SQLITE_LOCKED
				return busy
			case 8: // SQLITE_READONLY
				return readOnly
			}
			return other
		},
	})
})
