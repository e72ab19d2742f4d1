package count

import (
	"context"
	"database/sql"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/report"
)

// guardNames takes table or database.table apart, and returns the quoted names of the trigger and its table.
func guardNames(name string) (trigger, table string) {
	if database, other, ok := strings.Cut(name, "."); ok {
		return quote(database) + "." + quote(guardTrigger(other)), quote(database) + "." + quote(other)
	}
	return quote(guardTrigger(name)), quote(name)
}

// guardText is the trigger's text. Tables of other databases need the name of the database that is converted.
func guardText(database string) string {
	left := quote(leftTable)
	if database != "" {
		left = quote(database) + "." + left
	}
	return strings.ReplaceAll(strings.ReplaceAll(guard, "{drain}", drain), "{left}", left)
}

func createGuard(database, name string) string {
	trigger, table := guardNames(name)
	return "CREATE TRIGGER " + trigger + " BEFORE INSERT ON " + table + " FOR EACH ROW " + guardText(database)
}

func createGuards(ctx context.Context, r *job.Run, names []string) error {
	return withSession(ctx, r.DB, func(conn *sql.Conn) error {
		if err := execAll(ctx, r, conn, createLeft); err != nil {
			return err
		}
		for _, name := range names {
			database, is, err := isGuarded(ctx, conn, name)
			if err != nil {
				return err
			}
			if is {
				continue
			}
			trigger, _ := guardNames(name)
			err = patient(ctx, r, func() error {
				return execAll(ctx, r, conn, "DROP TRIGGER IF EXISTS "+trigger, createGuard(database, name))
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// isGuarded says whether a table has its guard, and returns the name of the database that is converted.
func isGuarded(ctx context.Context, conn *sql.Conn, name string) (converted string, is bool, err error) {
	if err := conn.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&converted); err != nil {
		return "", false, err
	}
	database, table, ok := strings.Cut(name, ".")
	if !ok {
		database, table = converted, name
	}
	var n int
	err = conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ? AND EVENT_OBJECT_TABLE = ?"+
		" AND TRIGGER_NAME = ? AND ACTION_STATEMENT = ?", database, table, guardTrigger(table), guardText(converted)).Scan(&n)
	return converted, n == 1, err
}

func verifyGuards(ctx context.Context, r *job.Run, names []string) error {
	return withSession(ctx, r.DB, func(conn *sql.Conn) error {
		for _, name := range names {
			if _, is, err := isGuarded(ctx, conn, name); err != nil {
				return err
			} else if !is {
				return &report.CountError{Table: name, Reason: "it has no guard against numbers that failed statements leave"}
			}
		}
		return nil
	})
}

func dropGuards(ctx context.Context, r *job.Run, names []string) error {
	return withSession(ctx, r.DB, func(conn *sql.Conn) error {
		for _, name := range names {
			trigger, _ := guardNames(name)
			if err := patient(ctx, r, func() error { return execAll(ctx, r, conn, "DROP TRIGGER IF EXISTS "+trigger) }); err != nil {
				return err
			}
		}
		return execAll(ctx, r, conn, "DROP TABLE IF EXISTS "+quote(leftTable))
	})
}
