package rekey

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// packed edits a value with ids at places of its format. A column with half of an id reads the other half too, and
// keeps its own of what comes out.
func (f *IDColumn) packed(r *Row, by func(ref int, text string) (string, bool)) (value any, lost bool, err error) {
	v := r.Old[f.At]
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
func (f *IDColumn) wholeOf(r *Row) (text string, whole bool, err error) {
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
