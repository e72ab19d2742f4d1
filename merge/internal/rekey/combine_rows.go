package rekey

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// Merged reads the rows of other sources that were merged into rows of a source.
type Merged struct {
	Plan  *plan.Plan
	Run   *ledger.Run
	Conns *chunk.Conns
}

// combine gives rows the values that they and the rows that were merged into them make together.
func (w *Rewriter) combine(ctx context.Context, t *ledger.SourceTable, rows []Row) error {
	// Phase link reads a part of the columns.
	columns := slices.DeleteFunc(clash.CombinedColumns(t.Table), func(c *plan.Column) bool { return t.Position(c.Name) < 0 })
	if len(columns) == 0 || w.Merged.Run == nil {
		return nil
	}
	losers, err := w.losers(ctx, t, rows)
	if err != nil || len(losers) == 0 {
		return err
	}
	winners := slices.Sorted(maps.Keys(losers))
	all := make([]*Winner, len(winners))
	for k, i := range winners {
		all[k] = &Winner{Key: rows[i].Key, Losers: losers[i]}
		for _, c := range columns {
			all[k].Own = append(all[k].Own, rows[i].New[t.Position(c.Name)])
		}
	}
	results, bad, err := Combine(ctx, w.Merged.Conns, t.Table, columns, t.Source, all)
	if err != nil {
		return err
	}
	for k, i := range winners {
		if bad[k] != nil {
			return t.RowError(rows[i].Key, bad[k])
		}
		for n, c := range columns {
			rows[i].New[t.Position(c.Name)] = results[k][n]
		}
	}
	return nil
}

// losers returns the rows that were merged into rows of a source, in the order of combining their values.
func (w *Rewriter) losers(ctx context.Context, t *ledger.SourceTable, rows []Row) (map[int][]Loser, error) {
	order, err := w.Merged.Plan.Precedence(t.Table)
	if err != nil {
		return nil, err
	}
	if t.Key < 0 {
		return w.equals(ctx, t, rows, order)
	}
	at := map[int64]int{} // the rows by their keys in the target
	for i, r := range rows {
		if r.New == nil {
			continue
		}
		id, ok := sqlvalue.ID(r.New[t.Key])
		if !ok {
			return nil, t.RowError(r.Key, ErrKey)
		}
		at[id] = i
	}
	losers := map[int][]Loser{}
	for _, source := range order {
		if source == t.Source {
			continue
		}
		olds, err := w.IDs.Olds(ctx, w.Merged.Run.Table(source, t.Table.Name), slices.Collect(maps.Keys(at)))
		if err != nil {
			return nil, err
		}
		for id, all := range olds {
			for _, old := range slices.Sorted(slices.Values(all)) {
				losers[at[id]] = append(losers[at[id]], Loser{source, []any{old}})
			}
		}
	}
	return losers, nil
}

// equals returns the same for a table without a Role key: the other rows that have the same primary key in the target.
func (w *Rewriter) equals(ctx context.Context, t *ledger.SourceTable, rows []Row, order []string) (map[int][]Loser, error) {
	c := clash.New(w.Merged.Plan, w.Merged.Conns, &clash.MappedIdentities{Ids: w.IDs, Run: w.Merged.Run})
	tuples := map[int][]any{}
	for i, r := range rows {
		if r.New != nil {
			tuples[i] = t.RowKey(r.New)
		}
	}
	losers := map[int][]Loser{}
	for _, source := range append([]string{t.Source}, slices.DeleteFunc(order, func(s string) bool { return s == t.Source })...) {
		hits, err := c.SameKey(ctx, t.Table, source, tuples)
		if err != nil {
			return nil, err
		}
		for i, all := range hits {
			for _, key := range all {
				if source != t.Source || sqlvalue.FormatKey(key) != sqlvalue.FormatKey(rows[i].Key) {
					losers[i] = append(losers[i], Loser{source, key})
				}
			}
		}
	}
	return losers, nil
}

// A Loser is a row of a source that is merged into another one.
type Loser struct {
	Source string
	Key    []any // what tells it apart there
}

// SortLosers puts losers in the order of combining their values: by the precedence of their sources, and
// then by their keys.
func SortLosers(losers []Loser, order []string) {
	slices.SortFunc(losers, func(a, b Loser) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Source), slices.Index(order, b.Source)), clash.CompareKeys(a.Key, b.Key))
	})
}

// A Winner is a row that gets values of the rows that are merged into it.
type Winner struct {
	Key    []any // what tells it apart in its database
	Own    []any // its values in the columns that are combined; nil until they are read
	Losers []Loser
}

// Combine returns what the values of columns of winners become, or why they can't be combined. The winners are rows of
// a source or, without a name, of the target, which evaluates expressions.
func Combine(ctx context.Context, conns *chunk.Conns, t *plan.Table, columns []*plan.Column, place string, all []*Winner) (results [][]any, bad []error, err error) {
	q := conns.Target
	if place != "" {
		if q, err = conns.Source(ctx, place); err != nil {
			return nil, nil, err
		}
	}
	keys := map[string][][]any{}
	var unread [][]any
	for _, w := range all {
		if w.Own == nil {
			unread = append(unread, w.Key)
		}
		for _, l := range w.Losers {
			keys[l.Source] = append(keys[l.Source], l.Key)
		}
	}
	own, err := ReadRows(ctx, conns, t, place, columns, unread)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range all {
		if w.Own != nil {
			continue
		}
		if w.Own = own[sqlvalue.FormatKey(w.Key)]; w.Own == nil {
			return nil, nil, fmt.Errorf("table %q: row %s, which others are merged into, is gone", t.Name, sqlvalue.FormatKey(w.Key))
		}
	}
	values := map[string]map[string][]any{}
	for source, asked := range keys {
		if values[source], err = ReadRows(ctx, conns, t, source, columns, asked); err != nil {
			return nil, nil, err
		}
	}
	results, bad = make([][]any, len(all)), make([]error, len(all))
	for n, column := range columns {
		lists := make([][]any, len(all))
		for k, w := range all {
			lists[k] = []any{w.Own[n]}
			for _, l := range w.Losers {
				row := values[l.Source][sqlvalue.FormatKey(l.Key)]
				if row == nil {
					return nil, nil, fmt.Errorf("table %q: row %s of source %q is gone", t.Name, sqlvalue.FormatKey(l.Key), l.Source)
				}
				lists[k] = append(lists[k], row[n])
			}
		}
		made, wrong, err := combineLists(ctx, q, column, lists)
		if err != nil && place != "" {
			err = dialect.OfSource(place, err)
		}
		if err != nil {
			return nil, nil, err
		}
		for k := range all {
			results[k] = append(results[k], made[k])
			if wrong[k] != nil && bad[k] == nil {
				bad[k] = ColumnError(column.Name, wrong[k])
			}
		}
	}
	return results, bad, nil
}

// ReadRows returns values of columns of rows of a source or, without a name, of the target, by [sqlvalue.FormatKey]
// of what tells the rows apart. A column that the source does not have is NULL.
func ReadRows(ctx context.Context, conns *chunk.Conns, t *plan.Table, place string, columns []*plan.Column, keys [][]any) (map[string][]any, error) {
	found := map[string][]any{}
	if len(keys) == 0 {
		return found, nil
	}
	q := conns.Target
	if place != "" {
		var err error
		if q, err = conns.Source(ctx, place); err != nil {
			return nil, err
		}
	}
	by := chunk.ColumnsOf(t, t.RowKey())
	list := slices.Clone(by)
	for _, c := range columns {
		if place == "" || c.In(place) {
			list = append(list, c)
		}
	}
	fit := make([][]any, len(keys))
	for i, key := range keys {
		fit[i] = slices.Clone(key)
		for n, v := range key {
			fit[i][n] = chunk.FitValue(q.Engine, v, by[n])
		}
	}
	rows, err := chunk.ReadKeys(ctx, q.Engine, q, t.Name, list, by, fit)
	if err != nil {
		err = q.Engine.Failed(fmt.Sprintf("read rows of table %q that are merged", t.Name), err)
		if place != "" {
			err = dialect.OfSource(place, err)
		}
		return nil, err
	}
	for _, row := range rows {
		values, rest := make([]any, len(columns)), row[len(by):]
		for n, c := range columns {
			if place == "" || c.In(place) {
				values[n], rest = rest[0], rest[1:]
			}
		}
		found[sqlvalue.FormatKey(row[:len(by)])] = values
	}
	return found, nil
}
