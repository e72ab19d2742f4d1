package rekey

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// An inFormat is a column whose values have ids packed in a format.
type inFormat struct {
	column
	by     int // the column with the other half of the id, if the format has halves
	codec  packed.Codec
	format packed.Format
}

func newPacked(f *IDColumn, codecs Codecs) (role, error) {
	p := inFormat{column: column{f}}
	var err error
	if p.codec, p.format, err = codecs.Of(f.table.Table, f.Column); err == nil && p.format.Half() {
		p.by, err = f.byColumn()
	}
	return p, err
}

// strict holds: what is not of the format is an error in any case.
func (inFormat) strict() bool { return true }

// edit edits a value with ids at places of its format. A column with half of an id reads the other half too, and
// keeps its own of what comes out.
func (f inFormat) edit(r *Row, by editor) (value any, lost bool, err error) {
	v := r.Old[f.At]
	if v == nil && !f.format.Half() || f.none[sqlvalue.Text(v)] && !f.format.Number() {
		return v, false, nil
	}
	text, whole, err := f.wholeOf(r)
	if err != nil {
		return nil, false, ColumnError(f.Column.Name, err)
	}
	if !whole {
		return v, false, nil
	}
	if f.Reached == nil && !f.format.Number() { // of integers each value is looked at
		f.Reached = make([]bool, len(f.Column.Refers))
	}
	after, err := packed.Replace(f.codec, text, func(place, id string) (string, error) {
		ref := slices.IndexFunc(f.Column.Refers, func(r *plan.Reference) bool { return r.Path == place })
		if ref < 0 {
			return "", fmt.Errorf("there is an id at place %q, which the plan does not name", place)
		}
		if f.Reached != nil {
			f.Reached[ref] = true
		}
		if f.Column.Refers[ref].Table == "" || f.none[id] {
			return id, nil
		}
		if _, ok := sqlvalue.ParseID(id); !ok {
			return "", fmt.Errorf("at place %q, %s is no id: if it stands for no row, name it under none", place, sqlvalue.Sample(id))
		}
		next, keep := by(ref, id)
		if !keep {
			lost, next = true, id
			if f.Column.BecomesNull() {
				next = f.Column.NoneID()
			}
		}
		return next, nil
	})
	var wide *packed.WidthError
	if errors.As(err, &wide) {
		err = &report.FitError{Place: wide.Place, ID: wide.ID, Most: wide.Most}
	}
	switch {
	case err != nil:
		return nil, false, ColumnError(f.Column.Name, err)
	case after == text:
		return v, lost, nil
	}
	high, low, _ := strings.Cut(after, " ")
	switch f.format.Kind {
	case packed.High:
		after = high
	case packed.Low:
		after = low
	}
	switch v.(type) {
	case int64:
		n, err := strconv.ParseInt(after, 10, 64)
		if err != nil {
			return nil, false, ColumnError(f.Column.Name, err)
		}
		return n, lost, nil
	case []byte:
		return []byte(after), lost, nil
	}
	return after, lost, nil
}

// wholeOf returns the text that the codec reads, and false if it is NULL.
func (f inFormat) wholeOf(r *Row) (text string, whole bool, err error) {
	v := r.Old[f.At]
	if !f.format.Half() {
		return sqlvalue.Text(v), true, nil
	}
	high, low := v, r.Old[f.by]
	if f.format.Kind == packed.Low {
		high, low = low, high
	}
	switch {
	case high == nil && low == nil:
		return "", false, nil
	case high == nil || low == nil:
		return "", false, errors.New("one half of the id is NULL, and the other is not")
	}
	return sqlvalue.Text(high) + " " + sqlvalue.Text(low), true, nil
}

// Codecs are what finds ids inside of values of columns of RolePacked.
type Codecs struct {
	Dialect sqlsnow.Dialect
	Hooks   map[string]packed.Hook // the program's codecs, by name
}

// Of returns the codec of a column. What is wrong with its format is a [*plan.Error].
func (c Codecs) Of(t *plan.Table, column *plan.Column) (packed.Codec, packed.Format, error) {
	format, err := packed.ParseFormat(column.Format)
	var codec packed.Codec
	switch {
	case err != nil:
	case format.Kind == packed.Hooks:
		if hook := c.Hooks[format.Codec]; hook != nil {
			codec = packed.Hooked(hook)
		} else {
			err = fmt.Errorf("no codec %q is given", format.Codec)
		}
	default:
		var places []string
		for _, r := range column.Refers {
			places = append(places, r.Path)
		}
		codec, err = format.New(places, column.Separator, c.signed(t, column, format))
	}
	if err != nil {
		return nil, format, &plan.Error{Table: t.Name, Column: column.Name, Reason: err.Error()}
	}
	return codec, format, nil
}

// signed reports whether the upper and the lower half of an id are in types that have a sign and as many bits as
// the half.
func (c Codecs) signed(t *plan.Table, column *plan.Column, format packed.Format) (signed [2]bool) {
	other := t.Column(column.By)
	if !format.Half() || other == nil {
		return signed
	}
	high, low := column, other
	if format.Kind == packed.Low {
		high, low = other, column
	}
	for i, half := range []*plan.Column{high, low} {
		s := sqltype.Of(c.Dialect, half.Type)
		signed[i] = s.Kind == sqltype.Integer && !s.Unsigned && s.Bits == [2]int{64 - format.Bits, format.Bits}[i]
	}
	return signed
}
