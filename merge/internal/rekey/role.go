package rekey

import (
	"fmt"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// An IDColumn is a column of a source table whose values have ids in them. It
// finds them, and puts others in their places.
type IDColumn struct {
	table   *ledger.SourceTable
	Column  *plan.Column
	At      int
	Parents []*ledger.SourceTable // for each of the column's references; nil if the source does not have the table
	role    role
	Exact   bool // whether rows that keep their id must be seen to exist
	none    map[string]bool
	// for each of the references of RoleJSON and RolePacked, whether its path led to a value; nil until there was a
	// value
	Reached []bool
}

// A role knows where the ids are in the values of a column. Each role is in a file of its own, and newRole in
// id_column.go knows all.
type role interface {
	// edit does what [IDColumn.Edit] does, with whatever is in the place of an id.
	edit(r *Row, by editor) (value any, lost bool, err error)

	// strict is [IDColumn.Strict].
	strict() bool
}

// An editor returns what is to be in the place of an id of a reference, and false if nothing is.
type editor func(ref int, text string) (string, bool)

// A column is what most roles have in common.
type column struct{ *IDColumn }

func (column) strict() bool { return false }

// text returns the value of a row, also as text, and false if it stands for no id.
func (c column) text(r *Row) (v any, text string, has bool) {
	v = r.Old[c.At]
	text = sqlvalue.Text(v)
	return v, text, v != nil && !c.none[text]
}

// like returns a text as a value of the same type as another one.
func like(v any, text string) any {
	if _, ok := v.([]byte); ok {
		return []byte(text)
	}
	return text
}

// byColumn returns the index of the column that [plan.Column.By] names.
func (f *IDColumn) byColumn() (int, error) {
	by := f.table.Position(f.Column.By)
	if by < 0 {
		return by, &plan.Error{Table: f.table.Table.Name, Column: f.Column.Name, Reason: fmt.Sprintf("by is %q, which source %q does not have or computes itself", f.Column.By, f.table.Source)}
	}
	return by, nil
}

// ColumnError says which column an error is of.
func ColumnError(name string, err error) error { return fmt.Errorf("column %q: %w", name, err) }
