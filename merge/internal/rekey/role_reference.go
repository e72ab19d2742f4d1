package rekey

import (
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// A single is a column whose values are ids of one table.
type single struct{ column }

func (f single) edit(r *Row, by editor) (value any, lost bool, err error) {
	v, text, has := f.text(r)
	if !has {
		return v, false, nil
	}
	value, lost = f.one(v, text, 0, by)
	return value, lost, nil
}

// A polymorphic is a column whose values are ids, of tables that another column tells.
type polymorphic struct {
	column
	by int // the other column
}

func newPolymorphic(f *IDColumn) (role, error) {
	by, err := f.byColumn()
	return polymorphic{column{f}, by}, err
}

func (f polymorphic) edit(r *Row, by editor) (value any, lost bool, err error) {
	v, text, has := f.text(r)
	if !has {
		return v, false, nil
	}
	name := sqlvalue.Text(r.Old[f.by]) // of NULL it is empty
	ref := slices.IndexFunc(f.Column.Refers, func(ref *plan.Reference) bool { return ref.Value == name })
	if ref < 0 {
		reason := "no reference has the value " + strconv.Quote(name)
		if r.Old[f.by] == nil {
			reason += ", which NULL counts as"
		}
		return nil, false, &plan.Error{Table: f.table.Table.Name, Column: f.Column.Name, Reason: reason}
	}
	if f.Column.Refers[ref].Table == "" {
		return v, false, nil
	}
	value, lost = f.one(v, text, ref, by)
	return value, lost, nil
}

// one edits a value that is an id and nothing else.
func (f column) one(v any, text string, ref int, by editor) (value any, lost bool) {
	after, keep := by(ref, text)
	switch {
	case !keep && (f.Column.Nullable || len(f.Column.None) == 0):
		return nil, true
	case !keep:
		after = f.Column.None[0]
	}
	if after == text {
		return v, !keep
	}
	if _, ok := v.(int64); ok {
		if n, ok := sqlvalue.ParseID(after); ok {
			return n, !keep
		}
	}
	return after, !keep
}
