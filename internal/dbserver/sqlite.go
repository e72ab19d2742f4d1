package dbserver

import (
	"context"
	"database/sql"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/sqldialect"
)

func sqliteEngine() *Engine {
	const now = "(CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000)"
	return &Engine{
		Dialect:  sqldialect.SQLite,
		Now:      now,
		div:      "/",
		greatest: "MAX",
		least:    "MIN",
		// FULL is enough unless a commit is the deletion of a file. Both settings belong to a connection.
		guard: "((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off')" +
			" OR (SELECT synchronous FROM pragma_synchronous) = 2" +
			" AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND",
		checkSession: checkSQLite,
		schema:       "main", // before it, SQLite looks for a table among the temporary ones
		changed:      "0",
		stored: "(SELECT CASE WHEN type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' THEN '' WHEN type = 'table' THEN 'virtual' ELSE 'a ' || type END" +
			" FROM main.sqlite_master WHERE name = '{table}' AND type IN ('table', 'view'))",
		info: now + ", (SELECT COUNT(*) FROM main.sqlite_master WHERE name IN ('snow_namespaces', 'snow_workers')), (SELECT synchronous FROM pragma_synchronous), (SELECT journal_mode FROM pragma_journal_mode)",
		readInfo: func(v []sql.NullString) Info {
			info := Info{Unmigrated: v[1].String != "2"}
			switch sync, mode := v[2].String, v[3].String; {
			case mode == "memory" || mode == "off":
				info.weaken("PRAGMA journal_mode", mode, Forever)
			case sync != "3" && (sync != "2" || mode == "delete"):
				info.weaken("PRAGMA synchronous", sync+", with journal_mode "+mode+",", Forever)
			}
			return info
		},
	}
}

func checkSQLite(ctx context.Context, s *Session) error {
	if _, err := s.ExecContext(ctx, "BEGIN"); err != nil {
		if sqldialect.Code(err) == "1" {
			err = dberrors.ErrInTransaction
		}
		return err
	}
	if _, err := s.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); err != nil {
		Discard(s.Conn)
		return err
	}
	return nil
}
