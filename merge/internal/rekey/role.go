package rekey

import (
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// A role knows where the ids are in the values of a column. Each role is in a file of its own, and newRole knows all.
type role interface {
	// edit does what [IDColumn.Edit] does, with whatever is in the place of an id.
	edit(r *Row, by editor) (value any, lost bool, err error)

	// strict is [IDColumn.Strict].
	strict() bool
}

// An editor returns what is to be in the place of an id of a reference, and false if nothing is.
type editor func(ref int, text string) (string, bool)

// newRole returns the role of a column.
func newRole(f *IDColumn, codecs Codecs) (role, error) {
	switch f.Column.Role {
	case plan.RolePolymorphic:
		return newPolymorphic(f)
	case plan.RoleList:
		return list{column{f}}, nil
	case plan.RoleJSON:
		return newJSON(f)
	case plan.RolePacked:
		return newPacked(f, codecs)
	}
	return single{column{f}}, nil
}

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
