package merge

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A row is one of a source, and what it becomes in the target.
type row struct {
	key  []any // its primary key in the source
	old  []any // as read, a value for each column of the scope
	new  []any // as it is to be in the target; nil if it is not copied
	fate fate  // missing means that phase mint has not seen it
}

// A rewriter says what rows of one source become, by the map: the same for who
// copies them as for who looks whether they were copied. It is used by one
// goroutine at a time, and only reads.
type rewriter struct {
	engine   *engine
	scopes   map[string]*scope // of the source, by table
	target   queryer
	source   queryer
	resolver *resolver
}

// rewrite returns what rows become, which have a value for each column of the
// scope. A reference to a row that does not exist is an [*report.OrphanError], if its
// column does not say otherwise, and JSON that is none a [*report.RowError].
func (w *rewriter) rewrite(ctx context.Context, s *scope, rows [][]any) ([]row, error) {
	out := make([]row, len(rows))
	for i, values := range rows {
		out[i] = row{key: s.rowKey(values), old: values, fate: kept}
	}
	if err := w.fates(ctx, s, out); err != nil {
		return nil, err
	}
	for i := range out {
		if f := out[i].fate; f == kept || f == minted {
			if out[i].new == nil {
				out[i].new = append([]any(nil), out[i].old...)
			}
		} else {
			out[i].new = nil
		}
	}
	if err := w.change(ctx, s, out); err != nil {
		return nil, err
	}
	return out, w.references(ctx, s, out, (*plan.Column).HoldsReferences)
}

// fates finds out which rows are copied, and gives them their new ids.
func (w *rewriter) fates(ctx context.Context, s *scope, rows []row) error {
	if !s.maps {
		return nil
	}
	ids := make([]int64, 0, len(rows))
	for _, r := range rows {
		id, ok := r.old[s.key].(int64)
		if !ok {
			return &report.RowError{Source: s.source, Table: s.table.Name, Row: keyText(r.key), Err: errKey}
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil
	}
	// The rows follow on each other in the table, so there is little else between.
	found, err := w.resolver.between(ctx, w.target, s, slices.Min(ids), slices.Max(ids))
	if err != nil {
		return err
	}
	for i := range rows {
		after, ok := found[ids[i]]
		if !ok && !s.mints {
			continue // it has kept its id
		}
		rows[i].fate = after.fate
		if after.fate == minted {
			rows[i].new = append([]any(nil), rows[i].old...)
			rows[i].new[s.key] = after.id
		}
	}
	return nil
}

// change applies snow_merge_changes.
func (w *rewriter) change(ctx context.Context, s *scope, rows []row) error {
	if !s.changed {
		return nil
	}
	at := make(map[string]int, len(rows))
	keys := make([]string, len(rows))
	for i, r := range rows {
		keys[i] = rowText(r.key)
		at[keys[i]] = i
	}
	changes, err := w.engine.changes(ctx, w.target, s.id, keys)
	if err != nil {
		return err
	}
	for _, c := range changes {
		r := &rows[at[c.row]]
		switch column := s.position(c.column); {
		case c.kind == changeMerged:
			r.new, r.fate = nil, merged
		case c.kind == changeDropped:
			r.new, r.fate = nil, dropped
		case column >= 0 && r.new != nil:
			r.new[column] = c.after
		}
	}
	return nil
}

// references puts new ids in the place of old ones, in columns that refer to
// others and that want takes.
func (w *rewriter) references(ctx context.Context, s *scope, rows []row, want func(*plan.Column) bool) error {
	var finders []*finder
	wanted := map[*scope]map[bool][]int64{}
	for at, c := range s.columns {
		if !c.HoldsReferences() || !want(c) {
			continue
		}
		f, err := newFinder(w, s, at)
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
			if err := f.each(&rows[i], func(parent *scope, id int64) {
				if wanted[parent] == nil {
					wanted[parent] = map[bool][]int64{}
				}
				wanted[parent][f.exact] = append(wanted[parent][f.exact], id)
			}); err != nil {
				return err
			}
		}
	}
	found := map[*scope]map[bool]map[int64]successor{}
	for parent, both := range wanted {
		found[parent] = map[bool]map[int64]successor{}
		for exact, ids := range both {
			var source queryer
			if exact {
				source = w.source
			}
			after, err := w.resolver.resolve(ctx, w.target, source, parent, ids)
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
			if err := f.replace(&rows[i], func(parent *scope, id int64) successor { return found[parent][f.exact][id] }); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowText returns a primary key as it is in snow_merge_changes.
func rowText(key []any) string {
	text := keyText(key)
	for _, c := range []byte(text) {
		if c >= 0x80 {
			return hashText(text)
		}
	}
	if len(text) > 255 {
		return hashText(text)
	}
	return text
}
