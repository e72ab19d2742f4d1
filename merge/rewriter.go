package merge

import (
	"context"
	"errors"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// A row is one of a source, and what it becomes in the target.
type row struct {
	key  []any       // its primary key in the source
	old  []any       // as read, a value for each column of the source table
	new  []any       // as it is to be in the target; nil if it is not copied
	fate ledger.Fate // missing means that phase mint has not seen it
}

// A rewriter says what rows of one source become, by the map: the same to the
// copier and to the row verifier. It is used by one goroutine at a time, and only
// reads.
type rewriter struct {
	ledger   ledger.Ledger
	ids      ledger.IDMap
	tables   map[string]*ledger.SourceTable // of the source, by name
	source   *refChecker
	resolver *resolver
}

// newRewriter returns one for the tables of a source, by sessions of the target
// and of the source.
func newRewriter(tables map[string]*ledger.SourceTable, target, source *chunk.Session) *rewriter {
	return &rewriter{
		ledger: ledger.Of(target), ids: ledger.MapOf(target), tables: tables,
		source: &refChecker{engine: source.Engine, q: source}, resolver: newResolver(ledger.MapOf(target)),
	}
}

var errKey = errors.New("its key is no integer of 64 bits")

// rewrite returns what rows become, which have a value for each column of the
// source table. A reference to a row that does not exist is an [*report.OrphanError], if
// its column does not say otherwise, and JSON that is none a [*report.RowError].
func (w *rewriter) rewrite(ctx context.Context, t *ledger.SourceTable, rows [][]any) ([]row, error) {
	out := make([]row, len(rows))
	for i, values := range rows {
		out[i] = row{key: t.PrimaryKey(values), old: values, fate: ledger.Kept}
	}
	if err := w.fates(ctx, t, out); err != nil {
		return nil, err
	}
	if err := w.change(ctx, t, out); err != nil {
		return nil, err
	}
	return out, w.references(ctx, t, out, (*plan.Column).HoldsReferences)
}

// fates finds out which rows are copied, and gives them their new ids.
func (w *rewriter) fates(ctx context.Context, t *ledger.SourceTable, rows []row) error {
	found := map[int64]ledger.Successor{}
	ids := make([]int64, len(rows))
	if t.Mapped && len(rows) > 0 {
		for i, r := range rows {
			var ok bool
			if ids[i], ok = r.old[t.Key].(int64); !ok {
				return t.RowError(r.key, errKey)
			}
		}
		// The rows follow on each other in the table, so there is little else between.
		var err error
		if found, err = w.ids.Between(ctx, t, slices.Min(ids), slices.Max(ids)); err != nil {
			return err
		}
	}
	for i := range rows {
		r := &rows[i]
		after, ok := found[ids[i]]
		if ok || t.Mapped && t.Rekeys {
			r.fate = after.Fate
		}
		if r.fate != ledger.Kept && r.fate != ledger.Rekeyed {
			continue
		}
		r.new = append([]any(nil), r.old...)
		if r.fate == ledger.Rekeyed {
			r.new[t.Key] = after.ID
		}
	}
	return nil
}

// change applies snow_merge_changes.
func (w *rewriter) change(ctx context.Context, t *ledger.SourceTable, rows []row) error {
	if !t.Changed {
		return nil
	}
	at := make(map[string]int, len(rows))
	keys := make([]string, len(rows))
	for i, r := range rows {
		keys[i] = sqlvalue.FormatRow(r.key)
		at[keys[i]] = i
	}
	changes, err := w.ledger.Changes(ctx, t, keys)
	if err != nil {
		return err
	}
	for _, c := range changes {
		r := &rows[at[c.Row]]
		switch column := t.Position(c.Column); {
		case c.Kind == ledger.ChangeMerged:
			r.new, r.fate = nil, ledger.Merged
		case c.Kind == ledger.ChangeDropped:
			r.new, r.fate = nil, ledger.Dropped
		case column >= 0 && r.new != nil:
			r.new[column] = c.After
		}
	}
	return nil
}

// references puts new ids in the place of old ones, in columns that refer to
// others and that want reports true for.
func (w *rewriter) references(ctx context.Context, t *ledger.SourceTable, rows []row, want func(*plan.Column) bool) error {
	var finders []*finder
	wanted := map[*ledger.SourceTable]map[bool][]int64{}
	for at, c := range t.Columns {
		if !c.HoldsReferences() || !want(c) {
			continue
		}
		f, err := newFinder(w.tables, t, at)
		if err != nil {
			return err
		}
		if f.idle() {
			continue
		}
		finders = append(finders, f)
		for i := range rows {
			if rows[i].new == nil {
				continue
			}
			if err := f.each(&rows[i], func(parent *ledger.SourceTable, id int64) {
				if wanted[parent] == nil {
					wanted[parent] = map[bool][]int64{}
				}
				wanted[parent][f.exact] = append(wanted[parent][f.exact], id)
			}); err != nil {
				return err
			}
		}
	}
	found := map[*ledger.SourceTable]map[bool]map[int64]ledger.Successor{}
	for parent, both := range wanted {
		found[parent] = map[bool]map[int64]ledger.Successor{}
		for exact, ids := range both {
			var source *refChecker
			if exact {
				source = w.source
			}
			after, err := w.resolver.resolve(ctx, source, parent, ids)
			if err != nil {
				return err
			}
			found[parent][exact] = after
		}
	}
	for _, f := range finders {
		for i := range rows {
			if rows[i].new == nil {
				continue
			}
			if err := f.replace(&rows[i], func(parent *ledger.SourceTable, id int64) ledger.Successor { return found[parent][f.exact][id] }); err != nil {
				return err
			}
		}
	}
	return nil
}
