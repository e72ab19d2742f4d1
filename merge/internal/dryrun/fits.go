package dryrun

import (
	"errors"
	"slices"

	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/report"
)

// fits looks for values that the target's columns do not take, and reports whether there are none. The id of the
// row will be another one if that is not 0. The row has the longest ids.
func (f *tableForecast) fits(r *rekey.Row, id int64) bool {
	fits := len(r.Faults) == 0
	for _, fault := range r.Faults {
		f.refuse(fault.Err.Row, fault.Column.Name, fault.Err.Err.Error(), fault.Err.Err)
	}
	for n, c := range f.of.Columns {
		v := r.New[n]
		if n == f.of.Key && id != 0 {
			v = id
		}
		reason := f.rooms[n].Misfit(v)
		if _, ok := v.(int64); reason == "" && n == f.of.Key && f.of.Mapped && !ok {
			reason = rekey.ErrKey.Error()
		}
		if reason != "" {
			fits = false
			f.misfit(r, c.Name, reason)
		}
	}
	return fits
}

// shortest looks for values where ids of the fewest digits would not be found again.
func (f *tableForecast) shortest(rows []rekey.Row) {
	var columns []*rekey.IDColumn
	for _, column := range f.columns {
		if column.Strict() {
			columns = append(columns, column)
		}
	}
	if len(columns) == 0 {
		return
	}
	for i, short := range f.replaced(columns, rows, f.least()) {
		for _, fault := range short.Faults {
			if !slices.ContainsFunc(rows[i].Faults, func(other rekey.Fault) bool { return other.Column == fault.Column }) {
				rows[i].Faults = append(rows[i].Faults, fault)
			}
		}
	}
}

// misfit notes a value that the target does not take.
func (f *tableForecast) misfit(r *rekey.Row, column, reason string) {
	f.refuse(f.of.Describe(r.Old), column, reason, rekey.ColumnError(column, errors.New(reason)))
}

// refuse notes a row that would stop a run.
func (f *tableForecast) refuse(row, column, reason string, err error) {
	f.forecast.AddMisfit(f.of.Table.Name, f.of.Source, column, "row "+row+": "+reason)
	f.forecast.AddProblem(&report.RowError{Source: f.of.Source, Table: f.of.Table.Name, Row: row, Err: err})
}

// tell tells of a row that the database refuses or changes.
func (f *tableForecast) tell(row, column string, err error) { f.refuse(row, column, err.Error(), err) }
