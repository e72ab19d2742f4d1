package audit

import (
	"context"
	"database/sql"
	"regexp"

	"github.com/shardsnow/snow/internal/idcolumn"
)

// sqliteStatements copies the table, for SQLite changes no column: see https://www.sqlite.org/lang_altertable.html,
// section 7.
func (a *audit) sqliteStatements(ctx context.Context, c change) (statements []string, obstacle string, err error) {
	const copied = "snow_audit_copy"
	create, ok := c.table.create, true
	if c.stops() {
		create, ok = idcolumn.Uncounted(create)
	}
	if ok && isNarrow(c.column) {
		create, ok = retyped(create, c.column)
	}
	if ok {
		create, ok = renamed(create, a.dialect.Quote(copied))
	}
	if !ok {
		return nil, "CREATE TABLE is not written as usual", nil
	}
	var columns []string
	for _, column := range c.table.columns {
		columns = append(columns, column.Name)
	}
	var later []string
	err = a.each(ctx, "SELECT sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL AND tbl_name = "+a.dialect.Literal(c.table.name)+" COLLATE NOCASE ORDER BY type, name",
		func(rows *sql.Rows) error {
			var statement string
			err := rows.Scan(&statement)
			later = append(later, statement)
			return err
		})
	names := a.dialect.QuoteAll(columns)
	statements = []string{
		"PRAGMA foreign_keys = OFF", "PRAGMA legacy_alter_table = ON", "BEGIN IMMEDIATE", create,
		"INSERT INTO " + copied + " (" + names + ") SELECT " + names + " FROM " + a.from(c.table),
		"DROP TABLE " + a.from(c.table), "ALTER TABLE " + copied + " RENAME TO " + a.from(c.table),
	}
	return append(append(statements, later...), "COMMIT"), "", err
}

// created matches the beginning of a statement that makes a table, as SQLite keeps it, with the table's name.
var created = regexp.MustCompile("(?is)^CREATE\\s+TABLE\\s+(\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\\[[^]]*\\]|'(?:[^']|'')*'|[^\\s(]+)")

// renamed returns a statement that makes the same table with another name.
func renamed(create, name string) (string, bool) {
	m := created.FindStringSubmatchIndex(create)
	if m == nil {
		return create, false
	}
	return create[:m[2]] + name + create[m[3]:], true
}

// retyped returns a statement with the type BIGINT for a column.
func retyped(create string, c idcolumn.Column) (string, bool) {
	name := regexp.QuoteMeta(c.Name)
	declared := regexp.MustCompile(`(?is)[(,]\s*(?:"` + name + `"|\[` + name + "\\]|`" + name + "`|" + name + `)\s+(` + regexp.QuoteMeta(c.Type) + `)(?:\W|$)`)
	all := declared.FindAllStringSubmatchIndex(create, -1)
	if len(all) != 1 || c.Type == "" {
		return create, false
	}
	return create[:all[0][2]] + "BIGINT" + create[all[0][3]:], true
}
