package gormsnow

import (
	"database/sql"
	"regexp"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// autoincrement matches SQLite's grammar, which allows it only for an INTEGER primary key.
var autoincrement = regexp.MustCompile(`(?i)\bPRIMARY\s+KEY(\s+(ASC|DESC))?(\s+ON\s+CONFLICT\s+\w+)?\s+AUTOINCREMENT\b`)

// readSQLite reads the pragmas. An INTEGER primary key without AUTOINCREMENT also
// generates a value for NULL. It is not reported, because GORM creates one for an
// int64 whatever its tags are.
func readSQLite(db *gorm.DB, t *liveTable) error {
	catalogue := "sqlite_master"
	if t.schema != "" {
		catalogue = t.schema + ".sqlite_master"
	}
	var counts bool
	err := eachRow(db, func(rows *sql.Rows) error {
		var statement sql.Null[string]
		err := rows.Scan(&statement)
		counts = autoincrement.MatchString(statement.V)
		return err
	}, "SELECT sql FROM ? WHERE type = 'table' AND lower(name) = lower(?)", clause.Table{Name: catalogue}, t.table)
	if err != nil {
		return err
	}
	var key []string
	schema := sql.Null[string]{V: t.schema, Valid: t.schema != ""}
	err = eachRow(db, func(rows *sql.Rows) error {
		var c liveColumn
		var place int
		if err := rows.Scan(&c.name, &c.typ, &place); err != nil {
			return err
		}
		c.kind = affinity(c.typ)
		if c.kind == integerColumn {
			c.size = 64
		}
		if place > 0 {
			key = append(key, c.name)
			if counts {
				c.auto, c.cure = "AUTOINCREMENT", "copy the rows to a table with "+c.name+" BIGINT, PRIMARY KEY ("+c.name+")"
			}
		}
		t.columns[c.name] = c
		return nil
	}, "SELECT name, type, pk FROM pragma_table_info(?, ?)", t.table, schema)
	if err != nil {
		return err
	}
	if len(key) > 0 {
		t.unique = append(t.unique, key)
	}
	return readUnique(db, t, `SELECT l.name, i.name FROM pragma_index_list(?, ?) l, pragma_index_info(l.name, ?) i
		WHERE l."unique" AND NOT l.partial ORDER BY l.name, i.seqno`, t.table, schema, schema)
}

// affinity returns what a column of a declared type keeps, by the rules of
// https://www.sqlite.org/datatype3.html, section 3.1. Lengths are not enforced.
func affinity(declared string) columnKind {
	typ := strings.ToUpper(declared)
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(typ, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return integerColumn
	case has("CHAR", "CLOB", "TEXT"):
		return textColumn
	case has("REAL", "FLOA", "DOUB"):
		return otherColumn
	}
	return anyColumn // BLOB and no type keep the value, NUMERIC turns digits into an integer
}
