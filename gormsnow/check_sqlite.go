package gormsnow

import (
	"database/sql"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow/internal/idcolumn"
)

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
		counts = idcolumn.Counts(statement.V)
		return err
	}, "SELECT sql FROM ? WHERE type = 'table' AND lower(name) = lower(?)", clause.Table{Name: catalogue}, t.table)
	if err != nil {
		return err
	}
	var key []string
	schema := sql.Null[string]{V: t.schema, Valid: t.schema != ""}
	err = eachRow(db, func(rows *sql.Rows) error {
		var name, declared string
		var place int
		if err := rows.Scan(&name, &declared, &place); err != nil {
			return err
		}
		if place > 0 {
			key = append(key, name)
		}
		t.columns[name] = idcolumn.SQLite(name, declared, place > 0 && counts)
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
