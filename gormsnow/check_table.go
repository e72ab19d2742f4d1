package gormsnow

import (
	"database/sql"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow/internal/idcolumn"
)

// A liveTable is what a database knows about a table.
type liveTable struct {
	name    string // as in the model, perhaps with a schema
	schema  string // empty for the schema of the connection
	table   string
	columns map[string]idcolumn.Column // empty if there is no such table
	unique  [][]string                 // columns of the primary key and of each unique index that is not partial
}

// newLiveTable returns a table that is yet to be read. name is that of a model.
func newLiveTable(name string) *liveTable {
	t := &liveTable{name: name, columns: make(map[string]idcolumn.Column)}
	t.schema, t.table, _ = strings.Cut(name, ".")
	if t.table == "" {
		t.schema, t.table = "", name
	}
	return t
}

// A tableReader reads the columns and unique indexes of t.
type tableReader func(db *gorm.DB, t *liveTable) error

// want returns how a field of type t keeps ids. Structs may store numbers or texts.
func want(t reflect.Type) idcolumn.Want {
	switch t.Kind() {
	case reflect.String:
		return idcolumn.Digit
	case reflect.Struct:
		return idcolumn.Either
	}
	return idcolumn.Number
}

// max returns the largest value of a column, or 0 if no value is greater than 0.
func (c *check) max(t *liveTable, column idcolumn.Column) (largest uint64, err error) {
	name := clause.Expr{SQL: c.db.Statement.Quote(t.name)}
	err = eachRow(c.db, func(rows *sql.Rows) error {
		var value sql.Null[string]
		if err := rows.Scan(&value); err != nil {
			return err
		}
		largest, err = idcolumn.ParseLargest(value.V)
		return err
	}, "SELECT "+idcolumn.Largest("?")+" FROM ?", clause.Column{Name: column.Name}, name)
	return largest, err
}

// eachRow calls scan for each row.
func eachRow(db *gorm.DB, scan func(*sql.Rows) error, statement string, args ...any) (err error) {
	rows, err := db.Raw(statement, args...).Rows()
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// readUnique adds the unique indexes that a query lists in rows of index and
// column. A NULL column is an expression. It gets an empty name, which no column
// has, so that such an index is not a subset of any set of columns.
func readUnique(db *gorm.DB, t *liveTable, statement string, args ...any) error {
	last := ""
	return eachRow(db, func(rows *sql.Rows) error {
		var name string
		var column sql.Null[string]
		if err := rows.Scan(&name, &column); err != nil {
			return err
		}
		if name != last || len(t.unique) == 0 {
			t.unique, last = append(t.unique, nil), name
		}
		index := &t.unique[len(t.unique)-1]
		*index = append(*index, column.V)
		return nil
	}, statement, args...)
}
