// Package restate lets the server prepare statements anew that programs have prepared for a table.
package restate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// A Session is a session that has locked the table, so that no statement comes between a trigger and Table.
type Session interface {
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// mark is behind the comment of a table whose triggers change, until [Table] has been called.
const mark = " (snow convert)"

// Begin is called before triggers of a table are made. If the program is killed before [Table], [Pending] finds the
// table.
func Begin(ctx context.Context, s Session, table string) error {
	t, err := read(ctx, s, table)
	if err != nil || !t.stale || t.begun {
		return err
	}
	return t.write(ctx, s, t.comment+mark)
}

// Table is called after triggers of a table were made. MariaDB (10.11 was measured) does not notice a new trigger in a
// statement that was prepared before, if the table had triggers or foreign keys then. The statement fails in the
// trigger with error 1146: its tables are not open. A new definition is noticed, so the comment changes and changes
// back, which copies nothing. MySQL notices triggers.
func Table(ctx context.Context, s Session, table string) error {
	t, err := read(ctx, s, table)
	if err != nil || !t.stale {
		return err
	}
	if !t.begun {
		if err := t.write(ctx, s, t.comment+mark); err != nil {
			return err
		}
	}
	return t.write(ctx, s, t.comment)
}

// End calls [Table] if [Begin] was called for it, and [Table] was not.
func End(ctx context.Context, s Session, table string) error {
	t, err := read(ctx, s, table)
	if err != nil || !t.begun {
		return err
	}
	return t.write(ctx, s, t.comment)
}

// Pending is the query for the tables that [Begin] was called for, and not [Table].
const Pending = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_COMMENT LIKE '%" + mark + "'"

// A commented table is one whose comment changes.
type commented struct {
	name, comment, mode string
	stale, begun        bool
}

func read(ctx context.Context, s Session, table string) (*commented, error) {
	t := &commented{name: table}
	var version string
	err := s.QueryRowContext(ctx, "SELECT TABLE_COMMENT, VERSION(), @@sql_mode FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", table).Scan(&t.comment, &version, &t.mode)
	if err != nil {
		return nil, fmt.Errorf("mysql: comment of %q: %w", table, err)
	}
	t.stale = strings.Contains(version, "MariaDB")
	t.comment, t.begun = strings.CutSuffix(t.comment, mark)
	return t, nil
}

func (t *commented) write(ctx context.Context, s Session, comment string) error {
	if _, err := s.ExecContext(ctx, "ALTER TABLE "+sqldialect.MySQL.Quote(t.name)+" COMMENT "+literal(comment, t.mode)+", ALGORITHM=INSTANT"); err != nil {
		return fmt.Errorf("mysql: change the comment of %q: %w", t.name, err)
	}
	return nil
}

// literal is a text as a session of this mode reads it.
func literal(text, mode string) string {
	if !strings.Contains(mode, "NO_BACKSLASH_ESCAPES") {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
