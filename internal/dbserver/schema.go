package dbserver

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/dberrors"
)

// tables are all tables of leases, segments and numbers, in Info's order.
var tables = [...]string{"snow_namespaces", "snow_workers", "snow_segments", "snow_numbers", "snow_migrations"}

// Qualify puts the engine's schema, if it has one, before the names of tables in a statement.
func (e *Engine) Qualify(text string) string {
	if e.schema == "" {
		return text
	}
	schema := e.Dialect.Quote(e.schema) + "."
	var b strings.Builder
	for text != "" {
		end := strings.IndexFunc(text, func(r rune) bool { return !inName(r) })
		switch {
		case end < 0:
			end = len(text)
		case end == 0:
			if end = strings.IndexFunc(text, inName); end < 0 {
				end = len(text)
			}
		}
		if slices.Contains(tables[:], text[:end]) {
			b.WriteString(schema)
		}
		b.WriteString(text[:end])
		text = text[end:]
	}
	return b.String()
}

// inName reports whether a rune may be in the name of a table.
func inName(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// question returns the query that Ask sends. If it names the schema in a literal, it does so without a parameter,
// because some drivers prepare a query that has one.
func (e *Engine) question() string {
	schema := strings.ReplaceAll(e.current, "{anchor}", e.tables[len(e.tables)-1])
	if e.schema != "" {
		schema = e.Dialect.Literal(e.schema)
	}
	from := strings.ReplaceAll(e.placed, "{schema}", schema)
	if from != "" {
		schema = "placed.name"
	}
	changed := e.changed
	if e.schema != "" { // nobody looks at it
		changed = "NULL"
	}
	columns := []string{e.info, schema, changed}
	for _, table := range e.listed {
		columns = append(columns, strings.NewReplacer("{table}", table, "{schema}", schema).Replace(e.stored))
	}
	return "SELECT " + strings.Join(columns, ", ") + from
}

// readTables reads the columns that question adds: the schema, whether it was changed, and how each table is stored.
func (e *Engine) readTables(info *Info, columns []sql.NullString) {
	info.Schema, info.changed = columns[0].String, columns[1]
	for i, table := range e.listed {
		how := columns[2+i]
		if !how.Valid {
			continue
		}
		info.Tables = append(info.Tables, table)
		if how.String != "" && info.unsafe == "" && slices.Contains(e.tables, table) {
			info.unsafe = table + " is " + how.String
		}
	}
}

// checkSchema returns an error unless the connection has the schema that its DSN or its account give it.
func (e *Engine) checkSchema(ctx context.Context, conn Queryer, info *Info) error {
	moved, err := isTrue(info.changed.String), error(nil)
	if !info.changed.Valid && e.hasMoved != nil {
		moved, err = e.hasMoved(ctx, conn)
	}
	switch {
	case err != nil:
		return err
	case moved:
		return fmt.Errorf("%w: its schema was changed, as USE, SET search_path and SET ROLE do", dberrors.ErrElsewhere)
	case info.Schema == "":
		return fmt.Errorf("%w: it has no schema", dberrors.ErrElsewhere)
	}
	return nil
}

// isTrue reports whether a driver's text of a boolean or a number is true.
func isTrue(text string) bool { return text != "" && text != "0" && text != "f" && text != "false" }
