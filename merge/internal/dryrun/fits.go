package dryrun

import (
	"errors"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// fits looks for values that the target's columns do not take, and reports whether there are none. The id of the
// row will be another one if that is not 0.
func (f *tableForecast) fits(values []any, id int64) bool {
	fits := true
	for n, c := range f.of.Columns {
		v := values[n]
		if n == f.of.Key && id != 0 {
			v = id
		}
		if i := slices.IndexFunc(f.columns, func(column *rekey.IDColumn) bool { return column.At == n }); i >= 0 && v != nil {
			var err error
			if v, err = f.longest(f.columns[i], values); err != nil {
				fits = false
				f.refuse(values, c.Name, err)
				continue
			}
		}
		reason := f.rooms[n].Misfit(v)
		if _, ok := v.(int64); reason == "" && n == f.of.Key && f.of.Mapped && !ok {
			reason = rekey.ErrKey.Error()
		}
		if reason != "" {
			fits = false
			f.refuse(values, c.Name, errors.New(reason))
		}
	}
	return fits
}

// refuse notes a value that the target does not take.
func (f *tableForecast) refuse(values []any, column string, reason error) {
	key := f.of.Describe(values)
	f.forecast.AddMisfit(f.of.Table.Name, f.of.Source, column, "row "+key+": "+reason.Error())
	f.forecast.AddProblem(&report.RowError{Source: f.of.Source, Table: f.of.Table.Name, Row: key, Err: rekey.ColumnError(column, reason)})
}

// longest returns a value with ids of the most digits in the place of those that are new, and without those of no
// row where they become NULL. It is an error if such an id has no room in a packed value, or one of the fewest
// digits would not be found there again. What is no value of the column's format is told of with its references.
func (f *tableForecast) longest(column *rekey.IDColumn, values []any) (v any, err error) {
	if id, ok := column.Integer(values); ok && len(f.gone) == 0 {
		parent := column.Parents[0]
		switch highest := f.highest[parent]; {
		case highest == 0 || id >= highest && !parent.Rekeys:
			return id, nil
		case parent.Rekeys && parent.Ids.IDs == plan.IDsOffset:
			return id + parent.Ids.Offset, nil
		default:
			return max(1, highest), nil
		}
	}
	row := &rekey.Row{Key: f.of.RowKey(values), Old: values}
	with := func(most bool) func(int, string) (string, bool) {
		given := map[string]string{} // names must differ where ids do
		return func(ref int, text string) (string, bool) {
			if column.Column.BecomesNull() && f.gone[gone{column.At, ref, text}] {
				return "", false
			}
			parent := column.Parents[ref]
			highest := f.highest[parent]
			if id, _ := sqlvalue.ParseID(text); highest == 0 || most && id >= highest && !parent.Rekeys {
				return text, true
			}
			if id, ok := sqlvalue.ParseID(text); ok && parent.Rekeys && parent.Ids.IDs == plan.IDsOffset {
				return strconv.FormatInt(id+parent.Ids.Offset, 10), true
			}
			key := parent.Table.Name + " " + text
			if given[key] == "" {
				id := 1 + int64(len(given))
				if most {
					id = max(1, highest+1-id)
				}
				given[key] = strconv.FormatInt(id, 10)
			}
			return given[key], true
		}
	}
	same := func(_ int, text string) (string, bool) { return text, true }
	if _, _, bad := column.Edit(row, same); bad != nil {
		return values[column.At], nil
	}
	if column.Column.Role == plan.RolePacked {
		_, _, err = column.Edit(row, with(false))
	}
	if err == nil {
		v, _, err = column.Edit(row, with(true))
	}
	var at *report.RowError
	if errors.As(err, &at) {
		err = errors.Unwrap(at.Err) // the row and the column are named by the caller
	}
	return v, err
}
