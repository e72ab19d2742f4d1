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

// Table is called after triggers of a table were made. MariaDB (10.11 was measured) does not notice a new trigger in a
// statement that was prepared before, if the table had triggers or foreign keys then. The statement fails in the trigger
// with error 1146: its tables are not open. A new definition is noticed, so the comment changes and changes back, which
// copies nothing. MySQL notices triggers.
func Table(ctx context.Context, s Session, table string) error {
	var comment, version, mode string
	err := s.QueryRowContext(ctx, "SELECT TABLE_COMMENT, VERSION(), @@sql_mode FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", table).Scan(&comment, &version, &mode)
	if err != nil {
		return fmt.Errorf("mysql: comment of %q: %w", table, err)
	}
	if !strings.Contains(version, "MariaDB") {
		return nil
	}
	other := "snow convert"
	if comment == other {
		other = ""
	}
	for _, text := range []string{other, comment} {
		if _, err := s.ExecContext(ctx, "ALTER TABLE "+sqldialect.MySQL.Quote(table)+" COMMENT "+literal(text, mode)+", ALGORITHM=INSTANT"); err != nil {
			return fmt.Errorf("mysql: change the comment of %q: %w", table, err)
		}
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
