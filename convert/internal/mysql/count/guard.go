package count

import (
	"context"
	"database/sql"
	"slices"
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

// tables returns the names of the tables that need a guard: the ones of the plan, and what the database has now.
func (g *guards) tables(ctx context.Context, conn *sql.Conn) ([]string, error) {
	rows, err := conn.QueryContext(ctx, "SELECT C.TABLE_NAME FROM information_schema.COLUMNS C JOIN information_schema.TABLES T USING (TABLE_SCHEMA, TABLE_NAME)"+
		" WHERE C.TABLE_SCHEMA = DATABASE() AND C.EXTRA LIKE '%auto_increment%' AND T.TABLE_TYPE = 'BASE TABLE' ORDER BY 1")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names := slices.Clone(g.others)
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		ours := strings.HasPrefix(name, "snow_convert_") || strings.HasPrefix(name, "_snow_")
		if !ours && !slices.Contains(g.counted, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, rows.Err()
}

// guards are the guards of a plan.
type guards struct {
	counted []string // tables with triggers of their own
	others  []string // that the plan names
}

// create creates the guards that are missing.
func (g *guards) create(ctx context.Context, r *job.Run) error {
	return withSession(ctx, r.DB, func(conn *sql.Conn) error {
		if err := execAll(ctx, r, conn, createLeft); err != nil {
			return err
		}
		return g.each(ctx, conn, func(database, name string) error {
			trigger, _ := guardNames(name)
			return patient(ctx, r, func() error {
				return execAll(ctx, r, conn, "DROP TRIGGER IF EXISTS "+trigger, createGuard(database, name))
			})
		})
	})
}

// verify looks whether all guards are there.
func (g *guards) verify(ctx context.Context, r *job.Run) error {
	return withSession(ctx, r.DB, func(conn *sql.Conn) error {
		return g.each(ctx, conn, func(_, name string) error {
			return &report.CountError{Table: name, Reason: "it has no guard against numbers that failed statements leave"}
		})
	})
}

// each calls do for tables without guard. A table that is gone needs none.
func (g *guards) each(ctx context.Context, conn *sql.Conn, do func(database, name string) error) error {
	names, err := g.tables(ctx, conn)
	if err != nil {
		return err
	}
	var converted string
	if err := conn.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&converted); err != nil {
		return err
	}
	for _, name := range names {
		database, table, ok := strings.Cut(name, ".")
		if !ok {
			database, table = converted, name
		}
		var tables, triggers int
		err = conn.QueryRowContext(ctx, "SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?),"+
			" (SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ? AND EVENT_OBJECT_TABLE = ? AND TRIGGER_NAME = ? AND ACTION_STATEMENT = ?)",
			database, table, database, table, guardTrigger(table), guardText(converted)).Scan(&tables, &triggers)
		if err != nil {
			return err
		}
		if tables == 1 && triggers == 0 {
			if err := do(converted, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop drops all guards.
func (g *guards) drop(ctx context.Context, r *job.Run) error {
	return withSession(ctx, r.DB, func(conn *sql.Conn) error {
		names, err := g.tables(ctx, conn)
		if err != nil {
			return err
		}
		for _, name := range names {
			trigger, _ := guardNames(name)
			if err := patient(ctx, r, func() error { return execAll(ctx, r, conn, "DROP TRIGGER IF EXISTS "+trigger) }); err != nil {
				return err
			}
		}
		return execAll(ctx, r, conn, "DROP TABLE IF EXISTS "+quote(leftTable))
	})
}
