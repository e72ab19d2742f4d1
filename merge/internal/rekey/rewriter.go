package rekey

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// A Rewriter says what rows of one source become: the same to the copier, the row verifier and the dry run. It is used
// by one goroutine at a time, and only reads.
type Rewriter struct {
	IDs    ledger.IDMap
	Tables map[string]*ledger.SourceTable // of the source, by name
	Merged Merged                         // where rows get values of others that were merged into them
	codecs Codecs
	source *Checker

	remembered *clash.RememberedIdentities // of a dry run, instead of IDs
	renamed    map[*plan.Column]*NewNames  // for columns of RoleName, when they are known
}

// NewRewriter returns one for the tables of a source, by sessions of the target
// and of the source.
func NewRewriter(codecs Codecs, tables map[string]*ledger.SourceTable, target, source *chunk.Session) *Rewriter {
	return &Rewriter{IDs: ledger.MapOf(target), Tables: tables, codecs: codecs, source: &Checker{source.Engine, source}}
}

// NewForecaster returns a Rewriter of a dry run, by what that remembers. It can resolve and replace references only.
func NewForecaster(codecs Codecs, tables map[string]*ledger.SourceTable, remembered *clash.RememberedIdentities, source *chunk.Session) *Rewriter {
	return &Rewriter{Tables: tables, codecs: codecs, source: &Checker{source.Engine, source}, remembered: remembered}
}

// ErrKey says that the id of a row is none.
var ErrKey = errors.New("its key is no integer of 64 bits")

// Column returns a column of one of the tables.
func (w *Rewriter) Column(t *ledger.SourceTable, at int) (*IDColumn, error) {
	return NewIDColumn(w.codecs, w.Tables, t, at)
}

// Rewrite returns what rows become, which have a value for each column of the
// source table. What a run does not take of a row that is copied is an error, see [Row.Refused].
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
	if err := w.names(ctx, t, out); err != nil {
		return nil, err
	}
	if err := w.references(ctx, t, out, (*plan.Column).HoldsReferences); err != nil {
		return nil, err
	}
	for _, r := range out {
		if err := r.Refused(t); err != nil {
			return nil, err
		}
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

// Leave drops the rows that a condition of the plan has chosen, and the rows that go because of what they refer to. In
// the others it puts the ids of successors in the place of old ones, in columns that drop rows.
func (w *Rewriter) Leave(ctx context.Context, t *ledger.SourceTable, rows []Row) error {
	if len(t.Conditions()) > 0 {
		if err := w.change(ctx, t, rows); err != nil {
			return err
		}
	}
	return w.references(ctx, t, rows, (*plan.Column).DropsRows)
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
		case c.Kind == ledger.ChangeMerged, c.Kind == ledger.ChangeIntoTarget:
			r.New, r.Fate = nil, ledger.Merged
		case c.Kind == ledger.ChangeDropped:
			r.New, r.Fate = nil, ledger.Dropped
		case column >= 0 && r.New != nil:
			r.New[column] = Stored(w.IDs.Engine, t.Columns[column], c.After)
		}
	}
	return nil
}

// references puts new ids in the place of old ones, in columns that refer to others and that want reports true for.
func (w *Rewriter) references(ctx context.Context, t *ledger.SourceTable, rows []Row, want func(*plan.Column) bool) error {
	columns, err := w.Columns(t, want)
	if err != nil {
		return err
	}
	columns = slices.DeleteFunc(columns, (*IDColumn).idle)
	found, err := w.Resolve(ctx, columns, rows)
	if err != nil {
		return err
	}
	Replace(columns, rows, found, nil)
	return nil
}

// Columns returns the columns of a source table that refer to others and that want reports true for.
func (w *Rewriter) Columns(t *ledger.SourceTable, want func(*plan.Column) bool) (columns []*IDColumn, err error) {
	for at, c := range t.Columns {
		if !c.HoldsReferences() || !want(c) {
			continue
		}
		column, err := w.Column(t, at)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column)
	}
	return columns, nil
}

// Successors are what has become of the rows that some rows refer to.
type Successors map[question]answers

// A question is where ids are looked for together.
type question struct {
	parent *ledger.SourceTable
	exact  bool
}

// Resolve finds what has become of the rows that some rows refer to in columns.
func (w *Rewriter) Resolve(ctx context.Context, columns []*IDColumn, rows []Row) (Successors, error) {
	wanted, found := map[question][]int64{}, Successors{}
	for _, column := range columns {
		ids := make([][]int64, len(column.Parents))
		for i := range rows {
			if rows[i].New == nil {
				continue
			}
			_ = column.each(&rows[i], func(ref int, _ string, id int64, valid bool) { // Replace has the error too
				if !valid {
					return
				}
				if ids[ref] == nil {
					ids[ref] = make([]int64, 0, len(rows)-i)
				}
				ids[ref] = append(ids[ref], id)
			})
		}
		for ref, parent := range column.Parents {
			if q := (question{parent, column.Exact}); parent != nil && ids[ref] != nil {
				wanted[q] = append(wanted[q], ids[ref]...)
			}
		}
	}
	var known IDs = w.IDs
	if w.remembered != nil {
		known = w.remembered
	}
	for q, ids := range wanted {
		source := w.source
		if !q.exact {
			source = nil
		}
		var err error
		if found[q], err = resolve(ctx, known, source, q.parent, ids); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// A StandIn returns what stands for the id that a row will have, in a dry run.
type StandIn func(parent *ledger.SourceTable, id int64) int64

// Replace puts the ids of successors in the place of old ones, and drops the rows that go because of an id. A run has
// no stand-ins; in a dry run, stand returns the stand-ins for the ids of one value.
func Replace(columns []*IDColumn, rows []Row, found Successors, stand func() StandIn) {
	for _, column := range columns {
		known := make([]answers, len(column.Parents))
		for ref, parent := range column.Parents {
			known[ref] = found[question{parent, column.Exact}]
		}
		var instead StandIn
		after := func(ref int, id int64) ledger.Successor {
			after := known[ref].of(id)
			if instead != nil && after.Fate == ledger.Kept {
				after = ledger.Successor{ID: instead(column.Parents[ref], id), Fate: ledger.Rekeyed}
			}
			return after
		}
		for i := range rows {
			if rows[i].New == nil {
				continue
			}
			if stand != nil {
				instead = stand()
			}
			column.replace(&rows[i], after)
		}
	}
	for i := range rows {
		r := &rows[i]
		if r.New == nil {
			continue
		}
		if at := slices.IndexFunc(r.Lacks, func(l Lack) bool { return l.Rule() == plan.OrphansDrop }); at >= 0 {
			r.New, r.Fate, r.Why = nil, ledger.Dropped, r.Lacks[at].Column.Name+" = "+r.Lacks[at].ID
		}
	}
}

// Stored returns a value of snow_merge_changes as it is in rows.
func Stored(e *dialect.Dialect, c *plan.Column, v any) any {
	text, ok := v.(string)
	if !ok || sqltype.Of(e.Kind, c.Type).Kind != sqltype.Integer || e.Carrier(c) == dialect.CarryText {
		return v
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return v
}
