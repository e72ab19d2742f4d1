package rekey

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/jsonpath"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// An IDColumn is a column of a source table whose values have ids in them. It
// finds them, and puts others in their places.
type IDColumn struct {
	table   *ledger.SourceTable
	Column  *plan.Column
	At      int
	by      int                   // of the column that says what a polymorphic reference refers to
	Parents []*ledger.SourceTable // for each of the column's references; nil if the source does not have the table
	routes  []jsonpath.Route
	Exact   bool // whether rows that keep their id must be seen to exist
	none    map[string]bool
	codec   packed.Codec // of RolePacked
	format  packed.Format
	// for each of the references of RoleJSON and RolePacked, whether its path led to a value; nil until there was a
	// value
	Reached []bool
}

// NewIDColumn returns a column, given the tables of the source by name.
func NewIDColumn(codecs Codecs, tables map[string]*ledger.SourceTable, t *ledger.SourceTable, at int) (*IDColumn, error) {
	c := t.Columns[at]
	f := &IDColumn{table: t, Column: c, At: at, by: t.Position(c.By), Exact: c.Orphans != plan.OrphansFail, none: map[string]bool{}}
	if c.Role == plan.RolePacked {
		var err error
		if f.codec, f.format, err = codecs.Of(t.Table, c); err != nil {
			return nil, err
		}
	}
	if (c.Role == plan.RolePolymorphic || f.format.Half()) && f.by < 0 {
		return nil, &plan.Error{Table: t.Table.Name, Column: c.Name, Reason: fmt.Sprintf("by is %q, which source %q does not have or computes itself", c.By, t.Source)}
	}
	for i, r := range c.Refers {
		f.Parents = append(f.Parents, tables[r.Table])
		if c.Role != plan.RoleJSON {
			continue
		}
		steps, err := jsonpath.Parse(r.Path)
		if err != nil {
			return nil, &plan.Error{Table: t.Table.Name, Column: c.Name, Reason: err.Error()}
		}
		f.routes = append(f.routes, jsonpath.Route{Ref: i, Steps: steps})
	}
	for _, text := range c.None {
		f.none[text] = true
	}
	return f, nil
}

// idle reports whether all ids stay as they are without a look at them.
func (f *IDColumn) idle() bool {
	if f.Exact || f.codec != nil { // what is not of the format is an error in any case
		return false
	}
	for i, r := range f.Column.Refers {
		if p := f.Parents[i]; (p == nil || p.Mapped) && (r.Table != "" || f.Column.Role != plan.RolePolymorphic) {
			return false
		}
	}
	return true
}

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
func (f *IDColumn) replace(r *Row, after func(parent *ledger.SourceTable, id int64) ledger.Successor) {
	if id, ok := f.Integer(r.Old); ok && f.Parents[0] != nil {
		switch s := after(f.Parents[0], id); s.Fate {
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
		if parent := f.Parents[ref]; ok && parent != nil {
			switch s := after(parent, id); s.Fate {
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
	value, lost, err = f.change(r, func(ref int, text string) (string, bool) {
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

// change does the same with whatever is in the place of an id.
func (f *IDColumn) change(r *Row, by func(ref int, text string) (string, bool)) (value any, lost bool, err error) {
	v := r.Old[f.At]
	text := sqlvalue.Text(v)
	if v == nil && !f.format.Half() || f.none[text] && !f.format.Number() {
		return v, false, nil
	}
	switch f.Column.Role {
	case plan.RolePacked:
		return f.packed(r, by)
	case plan.RoleReference:
		value, lost = f.one(v, text, 0, by)
		return value, lost, nil
	case plan.RolePolymorphic:
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
	case plan.RoleList:
		text, lost = f.list(text, by)
	case plan.RoleJSON:
		if strings.TrimSpace(text) == "" {
			return v, false, nil
		}
		if text, lost, err = f.json(text, by); err != nil {
			return nil, false, ColumnError(f.Column.Name, err)
		}
	}
	if _, ok := v.([]byte); ok {
		return []byte(text), lost, nil
	}
	return text, lost, nil
}

// one edits a value that is an id and nothing else.
func (f *IDColumn) one(v any, text string, ref int, by func(int, string) (string, bool)) (value any, lost bool) {
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

// json edits a JSON text.
func (f *IDColumn) json(text string, by func(int, string) (string, bool)) (_ string, lost bool, err error) {
	if f.Reached == nil {
		f.Reached = make([]bool, len(f.routes))
	}
	var structure error
	text, err = jsonpath.Edit(text, f.routes, func(ref int, value string) (string, bool) {
		f.Reached[ref] = true
		digits, quoted := value, value[0] == '"'
		if quoted {
			_ = json.Unmarshal([]byte(value), &digits) // its digits may be escaped
		}
		if value == "null" || f.none[digits] {
			return value, true
		}
		if value[0] == '{' || value[0] == '[' {
			structure = fmt.Errorf("at path %q it is %s, which is no id: say what is in it that is one", f.Column.Refers[ref].Path, sqlvalue.Sample(value))
			return value, true
		}
		after, keep := by(ref, digits)
		switch {
		case !keep:
			lost = true
			return "", false
		case after == digits:
			return value, true
		case quoted:
			after = `"` + after + `"`
		}
		return after, true
	})
	return text, lost, cmp.Or(err, structure)
}

// list edits a delimited text. Space around an id, and what is empty, stays.
func (f *IDColumn) list(text string, by func(int, string) (string, bool)) (string, bool) {
	separator := cmp.Or(f.Column.Separator, ",")
	if strings.HasSuffix(f.Column.Type, "[]") {
		return f.array(text, by)
	}
	lost := false
	var out []string
	for _, part := range strings.Split(text, separator) {
		id := strings.TrimSpace(part)
		if id == "" || f.none[id] {
			out = append(out, part)
			continue
		}
		after, keep := by(0, id)
		if !keep {
			lost = true
			continue
		}
		start := strings.Index(part, id)
		out = append(out, part[:start]+after+part[start+len(id):])
	}
	return strings.Join(out, separator), lost
}

// array edits an array as PostgreSQL writes it. What is lost becomes NULL.
func (f *IDColumn) array(text string, by func(int, string) (string, bool)) (string, bool) {
	var out strings.Builder
	if start := strings.IndexByte(text, '='); start >= 0 { // its bounds
		out.WriteString(text[:start+1])
		text = text[start+1:]
	}
	lost := false
	for text != "" {
		end := strings.IndexAny(text, "{},")
		if end < 0 {
			end = len(text)
		}
		if id := text[:end]; id == "" || id == "NULL" || f.none[id] {
			out.WriteString(id)
		} else if after, keep := by(0, id); keep {
			out.WriteString(after)
		} else {
			lost = true
			out.WriteString("NULL")
		}
		out.WriteString(text[end:min(end+1, len(text))])
		text = text[min(end+1, len(text)):]
	}
	return out.String(), lost
}

// ColumnError says which column an error is of.
func ColumnError(name string, err error) error { return fmt.Errorf("column %q: %w", name, err) }
