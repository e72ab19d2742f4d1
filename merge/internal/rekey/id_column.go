package rekey

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// NewIDColumn returns a column, given the tables of the source by name.
func NewIDColumn(codecs Codecs, tables map[string]*ledger.SourceTable, t *ledger.SourceTable, at int) (*IDColumn, error) {
	c := t.Columns[at]
	f := &IDColumn{table: t, Column: c, At: at, Exact: c.Orphans != plan.OrphansFail, none: map[string]bool{}}
	for _, r := range c.Refers {
		f.Parents = append(f.Parents, tables[r.Table])
	}
	for _, text := range c.None {
		f.none[text] = true
	}
	var err error
	f.role, err = newRole(f, codecs)
	return f, err
}

// newRole returns the role of a column.
func newRole(f *IDColumn, codecs Codecs) (role, error) {
	switch f.Column.Role {
	case plan.RolePolymorphic:
		return newPolymorphic(f, codecs)
	case plan.RoleList:
		return list{column{f}}, nil
	case plan.RoleJSON:
		return newJSON(f)
	case plan.RolePacked:
		return newPacked(f, codecs)
	}
	return single{column{f}}, nil
}

// Looked calls do for each of the column's references whose path has been looked for in values, and says whether it led
// to one.
func (f *IDColumn) Looked(do func(ref int, reached bool)) {
	for ref, reached := range f.Reached {
		do(ref, reached)
	}
	if p, ok := f.role.(polymorphic); ok {
		for _, k := range p.kinds {
			if k != nil {
				k.Looked(func(ref int, reached bool) { do(k.refs[ref], reached) })
			}
		}
	}
}

// idle reports whether all ids stay as they are without a look at them.
func (f *IDColumn) idle() bool {
	if f.Exact || f.Strict() {
		return false
	}
	for i, r := range f.Column.Refers {
		if p := f.Parents[i]; (p == nil || p.Mapped) && (r.Table != "" || f.Column.Role != plan.RolePolymorphic) {
			return false
		}
	}
	return true
}

// Strict reports whether values may be wrong whatever ids they have, or take ids of a certain width only.
func (f *IDColumn) Strict() bool { return f.role.strict() }

// Integer returns the id in a row's value where the value is an integer and the id of a row of the only table that
// the column refers to. Other values are for Edit.
func (f *IDColumn) Integer(values []any) (id int64, ok bool) {
	if f.Column.Role != plan.RoleReference {
		return 0, false
	}
	id, ok = values[f.At].(int64)
	return id, ok && (len(f.none) == 0 || !f.none[strconv.FormatInt(id, 10)])
}

// replace puts successors in the place of ids. It notes the ids of rows that are not copied, and a value that it can't
// read or write, in the row: then the value stays.
func (f *IDColumn) replace(r *Row, after func(ref int, id int64) ledger.Successor) {
	if id, ok := f.Integer(r.Old); ok && f.Parents[0] != nil {
		switch s := after(0, id); s.Fate {
		case ledger.Kept:
			r.New[f.At] = r.Old[f.At]
			return
		case ledger.Rekeyed, ledger.Merged:
			r.New[f.At] = s.ID
			return
		}
	}
	var lacks []Lack
	value, _, err := f.Edit(r, func(ref int, text string) (string, bool) {
		lack := Lack{Column: f.Column, ID: text}
		id, ok := sqlvalue.ParseID(text)
		if ok && f.Parents[ref] != nil {
			switch s := after(ref, id); s.Fate {
			case ledger.Kept:
				return text, true
			case ledger.Rekeyed, ledger.Merged:
				return strconv.FormatInt(s.ID, 10), true
			case ledger.Dropped:
				lack.LeftOut = true
			}
		}
		lacks = append(lacks, lack)
		return "", false
	})
	var fault *report.RowError
	if errors.As(err, &fault) {
		r.Faults = append(r.Faults, Fault{f.Column, fault})
		return
	}
	r.Lacks = append(r.Lacks, lacks...)
	if !slices.ContainsFunc(lacks, func(l Lack) bool { return l.Rule() == plan.OrphansFail }) {
		r.New[f.At] = value
	}
}

// Edit calls by for each id in the column's value, as text and with the number
// of the reference that it is of, and returns the value with what by returned
// in their places, and whether any was lost. What is no id is an error, except
// where all orphans are: then it is for by to say.
func (f *IDColumn) Edit(r *Row, by func(ref int, text string) (string, bool)) (value any, lost bool, err error) {
	var bad error
	value, lost, err = f.role.edit(r, func(ref int, text string) (string, bool) {
		if _, ok := sqlvalue.ParseID(text); !ok && f.Column.Orphans != plan.OrphansFail {
			if bad == nil {
				bad = fmt.Errorf("%s is no id, so it can't be the id of no row either: if it stands for no row, name it under none", sqlvalue.Sample(text))
			}
			return text, true
		}
		return by(ref, text)
	})
	if err == nil && bad != nil {
		err = ColumnError(f.Column.Name, bad)
	}
	if err != nil {
		return nil, false, &report.RowError{Source: f.table.Source, Table: f.table.Table.Name, Row: f.table.Describe(r.Old), Err: err}
	}
	return value, lost, nil
}

// each calls visit for each id in a row's value: with the number of the reference that it is of, and whether it is an
// id at all. The text of an integer is empty.
func (f *IDColumn) each(r *Row, visit func(ref int, text string, id int64, valid bool)) error {
	if id, ok := f.Integer(r.Old); ok {
		visit(0, "", id, true)
		return nil
	}
	_, _, err := f.Edit(r, func(ref int, text string) (string, bool) {
		id, valid := sqlvalue.ParseID(text)
		visit(ref, text, id, valid)
		return text, true
	})
	return err
}
