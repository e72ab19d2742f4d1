package rekey

import (
	"strconv"

	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// A polymorphic is a column whose values are ids, of tables that another column tells.
type polymorphic struct {
	column
	by     int // the other column
	codecs Codecs
	kinds  map[string]*kind // by values of the other column that were met
}

// A kind is what the values are for one value of the other column.
type kind struct {
	*IDColumn
	refs []int // the numbers of its references among those of the column
}

func newPolymorphic(f *IDColumn, codecs Codecs) (role, error) {
	by, err := f.byColumn()
	p := polymorphic{column: column{f}, by: by, codecs: codecs, kinds: map[string]*kind{}}
	for _, ref := range f.Column.Refers {
		if err == nil {
			_, err = p.kind(ref.Value)
		}
	}
	return p, err
}

// kind returns what the values are for a value of the other column, or nil if nothing says so.
func (f polymorphic) kind(value string) (*kind, error) {
	k, met := f.kinds[value]
	if met {
		return k, nil
	}
	if of, refs := f.Column.Kind(value); of != nil {
		k = &kind{&IDColumn{table: f.table, Column: of, At: f.At, Exact: f.Exact, none: f.none}, refs}
		for _, ref := range refs {
			k.Parents = append(k.Parents, f.Parents[ref])
		}
		var err error
		if k.role, err = newRole(k.IDColumn, f.codecs); err != nil {
			return nil, err
		}
	}
	if len(f.kinds) < mostKinds {
		f.kinds[value] = k
	}
	return k, nil
}

// mostKinds is how many values of the other column are remembered.
const mostKinds = 1000

func (f polymorphic) edit(r *Row, by editor) (value any, lost bool, err error) {
	v, _, has := f.text(r)
	if !has {
		return v, false, nil
	}
	name := sqlvalue.Text(r.Old[f.by]) // of NULL it is empty
	k, err := f.kind(name)
	switch {
	case err != nil:
		return nil, false, err
	case k == nil:
		reason := "no reference has the value " + strconv.Quote(name)
		if r.Old[f.by] == nil {
			reason += ", which NULL counts as"
		}
		return nil, false, &plan.Error{Table: f.table.Table.Name, Column: f.Column.Name, Reason: reason}
	case k.Column.Refers[0].Table == "":
		return v, false, nil
	}
	return k.role.edit(r, func(ref int, text string) (string, bool) { return by(k.refs[ref], text) })
}

// strict holds if it holds for a kind.
func (f polymorphic) strict() bool {
	for _, k := range f.kinds {
		if k != nil && k.Strict() {
			return true
		}
	}
	return false
}
