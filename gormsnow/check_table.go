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
	columns map[string]idcolumn.Column // empty if the table does not exist
	unique  [][]string                 // columns of the primary key and of each unique index that is not partial
}

// newLiveTable returns a table that is yet to be read. name is a model's name.
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

// bounds returns the smallest value of a column, if it is negative, and the largest,
// if it is greater than 0, or else 0.
func (t *liveTable) bounds(db *gorm.DB, column idcolumn.Column) (least int64, most uint64, err error) {
	quote := db.Statement.Quote
	err = eachRow(db, func(rows *sql.Rows) error {
		var smallest, largest string
		if err := rows.Scan(&smallest, &largest); err != nil {
			return err
		}
		least, most, err = idcolumn.ParseBounds(smallest, largest)
		return err
	}, idcolumn.Bounds(quote(clause.Column{Name: column.Name}), quote(t.name)))
	return least, most, err
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
