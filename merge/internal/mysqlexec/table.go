package mysqlexec

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/sqlsnow"
)

// A storedTable is what a server says of a table.
type storedTable struct {
	primary []string
	ordered bool // rows come by ascending primary keys, even if nobody says so
	columns map[string]storedColumn
	rows    int // about
	bytes   int // of a row, about
}

type storedColumn struct {
	typ, charset string
	nullable     bool
}

// readStoredTable returns a table of the plan, or nil if it is no ordinary one. Its
// place is that of a dialect.
func readStoredTable(ctx context.Context, s *chunk.Session, in *dialect.Dialect, table string) (*storedTable, error) {
	schema := "DATABASE()"
	database, table := in.Locate(table)
	if database != "" {
		schema = sqldialect.MySQL.Literal(database)
	}
	t := &storedTable{columns: map[string]storedColumn{}}
	where := " WHERE TABLE_SCHEMA = " + schema + " AND TABLE_NAME = ?"
	var kind, form string
	err := s.QueryRowContext(ctx, `SELECT TABLE_TYPE, COALESCE(ENGINE, ''), COALESCE(TABLE_ROWS, 0), COALESCE(AVG_ROW_LENGTH, 0), COALESCE(CREATE_OPTIONS, '') NOT LIKE '%partitioned%'
		FROM information_schema.TABLES`+where, table).Scan(&kind, &form, &t.rows, &t.bytes, &t.ordered)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (kind != "BASE TABLE" || form != "InnoDB") {
		return nil, nil
	}
	if err == nil {
		const columns = "SELECT COLUMN_NAME, LOWER(COLUMN_TYPE), COALESCE(CHARACTER_SET_NAME, ''), IS_NULLABLE <> 'NO' FROM information_schema.COLUMNS"
		err = chunk.Visit(ctx, s, columns+where, []any{table}, func(rows *sql.Rows) error {
			var name string
			var c storedColumn
			err := rows.Scan(&name, &c.typ, &c.charset, &c.nullable)
			t.columns[name] = c
			return err
		})
	}
	if err == nil {
		const primary = "SELECT COLUMN_NAME, COALESCE(COLLATION, '') = 'A' FROM information_schema.STATISTICS"
		err = chunk.Visit(ctx, s, primary+where+" AND INDEX_NAME = 'PRIMARY' AND SUB_PART IS NULL ORDER BY SEQ_IN_INDEX", []any{table}, func(rows *sql.Rows) error {
			var name string
			var ascends bool
			err := rows.Scan(&name, &ascends)
			t.primary, t.ordered = append(t.primary, name), t.ordered && ascends
			return err
		})
	}
	return t, s.Engine.Failed("look at table "+strconv.Quote(table), err)
}

// rowBytes returns about how many bytes a row has, or many if that can't be
// read. What the server says may be of a time before the rows came.
func (t *storedTable) rowBytes(ctx context.Context, s *chunk.Session, name string) int {
	var lengths []string
	for _, column := range slices.Sorted(maps.Keys(t.columns)) {
		if kind := sqltype.Of(sqlsnow.MySQL, t.columns[column].typ).Kind; kind != sqltype.Integer {
			lengths = append(lengths, "COALESCE(LENGTH(s."+s.Engine.Quote(column)+"), 0)")
		}
	}
	most := t.bytes
	for _, order := range []string{"", " DESC"} {
		if len(lengths) == 0 {
			break
		}
		var bytes sql.NullFloat64
		err := s.QueryRowContext(ctx, "SELECT AVG(n) FROM (SELECT "+strings.Join(lengths, " + ")+" AS n FROM "+name+" AS s FORCE INDEX (PRIMARY) ORDER BY "+
			s.Engine.QuoteAll(t.primary[:1])+order+" LIMIT 100) AS rows_").Scan(&bytes)
		if err != nil {
			return chunk.MostBytes
		}
		most = max(most, int(bytes.Float64)+8*len(t.columns))
	}
	return most
}

// within returns the condition that a row, s, is above lo and up to hi in its
// primary key, and false if those are no integers. Nil is no bound.
func within(e *dialect.Dialect, primary []string, lo, hi []any) (string, bool) {
	conditions := []string{"TRUE"}
	for _, bound := range []struct {
		key    []any
		before string
		last   string
	}{{lo, " > ", " > "}, {hi, " < ", " <= "}} {
		text := ""
		for i, v := range slices.Backward(bound.key) {
			id, ok := v.(int64)
			if !ok {
				return "", false
			}
			name, number := "s."+e.Quote(primary[i]), strconv.FormatInt(id, 10)
			if text == "" {
				text = name + bound.last + number
			} else {
				text = "(" + name + bound.before + number + " OR " + name + " = " + number + " AND " + text + ")"
			}
		}
		if text != "" {
			conditions = append(conditions, text)
		}
	}
	return strings.Join(conditions, " AND "), true
}

// readable reports whether the target's account, which may be another one than the
// source's, can do a query.
func readable(ctx context.Context, target *chunk.Session, query string) (bool, error) {
	_, err := target.ExecContext(ctx, query+" LIMIT 0")
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err == nil, nil
}

// countable reports whether a type has integers only, all of which are int64.
func countable(typ string) bool {
	s := sqltype.Of(sqlsnow.MySQL, typ)
	return s.Kind == sqltype.Integer && !(s.Unsigned && s.Bits == 64)
}

// exactly returns what to make of two values so that they are equal if each
// byte is, with % for the value, and whether a column holds all values of the
// other one as they are.
func exactly(is, becomes storedColumn) (string, bool) {
	if is.typ != becomes.typ || is.charset != becomes.charset {
		from, to := sqltype.Of(sqlsnow.MySQL, is.typ), sqltype.Of(sqlsnow.MySQL, becomes.typ)
		wider := from.Unsigned == to.Unsigned && from.Bits <= to.Bits || from.Unsigned && !to.Unsigned && from.Bits < to.Bits
		return "%", from.Kind == sqltype.Integer && to.Kind == sqltype.Integer && wider
	}
	switch name := sqltype.Word(is.typ); name {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "date", "datetime", "timestamp", "time", "year", "bit",
		"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return "%", true
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set":
		return "CAST(% AS BINARY)", true
	case "json":
		return "CAST(CAST(% AS CHAR) AS BINARY)", true
	}
	return "", false
}

// textual returns the parts of a text that no other value, %, of the types is,
// and that does not begin another one with a comma or semicolon after it. It
// returns false for types whose values are not written in full, or may be too long
// for functions, which return NULL then.
func textual(is, becomes storedColumn, nullable bool) (string, bool) {
	text := ""
	switch sqltype.Word(is.typ) {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "bit":
		if text = "%"; strings.Contains(is.typ+becomes.typ, "zerofill") || strings.HasPrefix(is.typ, "bit") {
			text = "% + 0"
		}
	case "decimal", "date", "datetime", "timestamp", "time", "year":
		text = "%"
	case "binary", "varbinary", "tinyblob", "blob", "char", "varchar", "tinytext", "text", "enum", "set":
		text = "LENGTH(%), ':', CAST(% AS BINARY)"
	default:
		return "", false
	}
	if nullable || is.nullable || becomes.nullable {
		text = "IFNULL(CONCAT(" + text + "), '-')"
	}
	return text, true
}
