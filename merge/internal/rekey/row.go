package rekey

import (
	"slices"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A Row is one of a source, and what it becomes in the target.
type Row struct {
	Key  []any       // its primary key in the source
	Old  []any       // as read, a value for each column of the source table
	New  []any       // as it is to be in the target; nil if it is not copied
	Fate ledger.Fate // missing means that phase mint has not seen it
	Why  string      // a dropped row: the reference that it is dropped for, or empty

	Lacks  []Lack  // the ids in it of rows that are not copied
	Faults []Fault // the values in it that can't be read, or not with other ids
}

// A Lack is an id of a row that does not exist, or that is left out.
type Lack struct {
	Column  *plan.Column
	ID      string // as it is written
	LeftOut bool
}

// Rule says what becomes of the id.
func (l Lack) Rule() plan.Orphans {
	if l.LeftOut && l.Column.Gone != "" {
		return l.Column.Gone
	}
	return l.Column.Orphans
}

// Error returns the error of a run that refuses a row for the id.
func (l Lack) Error(t *ledger.SourceTable, r *Row) *report.OrphanError {
	return &report.OrphanError{Source: t.Source, Table: t.Table.Name, Column: l.Column.Name, Row: t.Describe(r.Old), Value: l.ID, LeftOut: l.LeftOut}
}

// A Fault is what is wrong with the value of a column.
type Fault struct {
	Column *plan.Column
	Err    *report.RowError
}

// NewRow returns a row of a source table that is copied as it is.
func NewRow(t *ledger.SourceTable, values []any) Row {
	return Row{Key: t.RowKey(values), Old: values, New: slices.Clone(values), Fate: ledger.Kept}
}

// Refused returns the first error that a run stops at, if the row is copied: an [*report.OrphanError] or a
// [*report.RowError].
func (r *Row) Refused(t *ledger.SourceTable) error {
	if r.New == nil {
		return nil
	}
	for _, f := range r.Faults {
		return f.Err
	}
	for _, l := range r.Lacks {
		if l.Rule() == plan.OrphansFail {
			return l.Error(t, r)
		}
	}
	return nil
}
