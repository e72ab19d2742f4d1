package rekey

import (
	"context"
	"errors"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A Rewriter says what rows of one source become, by the map: the same to the
// copier and to the row verifier. It is used by one goroutine at a time, and only
// reads.
type Rewriter struct {
	IDs    ledger.IDMap
	Tables map[string]*ledger.SourceTable // of the source, by name
	Merged Merged                         // where rows get values of others that were merged into them
	codecs Codecs
	source *Checker
}

// NewRewriter returns one for the tables of a source, by sessions of the target
// and of the source.
func NewRewriter(codecs Codecs, tables map[string]*ledger.SourceTable, target, source *chunk.Session) *Rewriter {
	return &Rewriter{IDs: ledger.MapOf(target), Tables: tables, codecs: codecs, source: &Checker{source.Engine, source}}
}

// ErrKey says that the id of a row is none.
var ErrKey = errors.New("its key is no integer of 64 bits")

// Column returns a column of one of the tables.
func (w *Rewriter) Column(t *ledger.SourceTable, at int) (*IDColumn, error) {
	return NewIDColumn(w.codecs, w.Tables, t, at)
}

// Rewrite returns what rows become, which have a value for each column of the
// source table. A reference to a row that does not exist is an [*report.OrphanError], if
// its column does not say otherwise, and JSON that is none a [*report.RowError].
func (w *Rewriter) Rewrite(ctx context.Context, t *ledger.SourceTable, rows [][]any) ([]Row, error) {
	out := make([]Row, len(rows))
	for i, values := range rows {
		out[i] = Row{Key: t.RowKey(values), Old: values, Fate: ledger.Kept}
	}
	if err := w.fates(ctx, t, out); err != nil {
		return nil, err
	}
	if err := w.change(ctx, t, out); err != nil {
		return nil, err
	}
	if err := w.References(ctx, t, out, (*plan.Column).HoldsReferences); err != nil {
		return nil, err
	}
	return out, w.combine(ctx, t, out)
}

// fates finds out which rows are copied, and gives them their new ids.
func (w *Rewriter) fates(ctx context.Context, t *ledger.SourceTable, rows []Row) error {
	var found map[int64]ledger.Successor
	ids := make([]int64, len(rows))
	if t.Mapped {
		for i, r := range rows {
			var ok bool
			if ids[i], ok = r.Old[t.Key].(int64); !ok {
				return t.RowError(r.Key, ErrKey)
			}
		}
		var err error
		if found, err = w.IDs.Find(ctx, t, ids); err != nil {
			return err
		}
	}
	for i := range rows {
		r := &rows[i]
		after, ok := found[ids[i]]
		if ok || t.Mapped && t.Rekeys {
			r.Fate = after.Fate
		}
		if r.Fate != ledger.Kept && r.Fate != ledger.Rekeyed {
			continue
		}
		r.New = slices.Clone(r.Old)
		if r.Fate == ledger.Rekeyed {
			r.New[t.Key] = after.ID
		}
	}
	return nil
}

// Chosen drops the rows that a condition of the plan has chosen.
func (w *Rewriter) Chosen(ctx context.Context, t *ledger.SourceTable, rows []Row) error {
	if len(t.Conditions()) == 0 {
		return nil
	}
	return w.change(ctx, t, rows)
}

// change applies snow_merge_changes.
func (w *Rewriter) change(ctx context.Context, t *ledger.SourceTable, rows []Row) error {
	if !t.Changed {
		return nil
	}
	at := make(map[string]int, len(rows))
	keys := make([]string, len(rows))
	for i, r := range rows {
		keys[i] = sqlvalue.FormatRow(r.Key)
		at[keys[i]] = i
	}
	changes, err := w.IDs.Changes(ctx, t, keys)
	if err != nil {
		return err
	}
	for _, c := range changes {
		r := &rows[at[c.Row]]
		switch column := t.Position(c.Column); {
		case c.Kind == ledger.ChangeMerged, c.Kind == ledger.ChangeJoined:
			r.New, r.Fate = nil, ledger.Merged
		case c.Kind == ledger.ChangeDropped:
			r.New, r.Fate = nil, ledger.Dropped
		case column >= 0 && r.New != nil:
			r.New[column] = Stored(w.IDs.Engine, t.Columns[column], c.After)
		}
	}
	return nil
}

// References puts new ids in the place of old ones, in columns that refer to
// others and that want reports true for.
func (w *Rewriter) References(ctx context.Context, t *ledger.SourceTable, rows []Row, want func(*plan.Column) bool) error {
	type question struct {
		parent *ledger.SourceTable
		exact  bool
	}
	wanted, found := map[question][]int64{}, map[question]map[int64]ledger.Successor{}
	var columns []*IDColumn
	for at, c := range t.Columns {
		if !c.HoldsReferences() || !want(c) {
			continue
		}
		column, err := w.Column(t, at)
		if err != nil {
			return err
		}
		if column.idle() {
			continue
		}
		columns = append(columns, column)
		for i := range rows {
			if rows[i].New == nil {
				continue
			}
			if id, ok := column.Integer(rows[i].Old); ok {
				if parent := column.Parents[0]; parent != nil {
					q := question{parent, column.exact}
					wanted[q] = append(wanted[q], id)
				}
				continue
			}
			_, _, err := column.Edit(&rows[i], func(ref int, text string) (string, bool) {
				if id, ok := sqlvalue.ParseID(text); ok && column.Parents[ref] != nil {
					q := question{column.Parents[ref], column.exact}
					wanted[q] = append(wanted[q], id)
				}
				return text, true
			})
			if err != nil {
				return err
			}
		}
	}
	for q, ids := range wanted {
		var source *Checker
		if q.exact {
			source = w.source
		}
		var err error
		if found[q], err = Resolve(ctx, w.IDs, source, q.parent, ids); err != nil {
			return err
		}
	}
	refused := make([]error, len(rows)) // by a reference, unless another one drops the row
	for _, column := range columns {
		for i := range rows {
			if rows[i].New == nil {
				continue
			}
			after := func(parent *ledger.SourceTable, id int64) ledger.Successor {
				return found[question{parent, column.exact}][id]
			}
			err := column.replace(&rows[i], after)
			switch {
			case err != nil && !errors.As(err, new(*report.OrphanError)):
				return err
			case refused[i] == nil:
				refused[i] = err
			}
		}
	}
	for i, err := range refused {
		if err != nil && rows[i].New != nil {
			return err
		}
	}
	return nil
}
