package rekey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
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
	var columns []*plan.Column
	for _, c := range t.Columns {
		if c.Combine != plan.CombineKeep {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 || w.Merged.Run == nil {
		return nil
	}
	at := map[int64]int{} // the rows by their keys in the target
	for i, r := range rows {
		if r.New == nil {
			continue
		}
		id, ok := sqlvalue.ID(r.New[t.Key])
		if !ok {
			return t.RowError(r.Key, ErrKey)
		}
		at[id] = i
	}
	order, err := w.Merged.Plan.Precedence(t.Table)
	if err != nil {
		return err
	}
	values := map[int][][]any{} // of the rows that were merged, in the order of columns
	for _, source := range order {
		if source == t.Source {
			continue
		}
		olds, err := w.IDs.Olds(ctx, w.Merged.Run.Table(source, t.Table.Name), slices.Collect(maps.Keys(at)))
		if err != nil {
			return err
		}
		into := map[int64]int{}
		for id, all := range olds {
			for _, old := range all {
				into[old] = at[id]
			}
		}
		read, err := ReadMerged(ctx, w.Merged.Conns, t.Table, source, columns, slices.Sorted(maps.Keys(into)))
		if err != nil {
			return err
		}
		for _, old := range slices.Sorted(maps.Keys(into)) {
			if read[old] == nil {
				return fmt.Errorf("table %q: row %d of source %q is gone", t.Table.Name, old, source)
			}
			values[into[old]] = append(values[into[old]], read[old])
		}
	}
	for i, others := range values {
		for n, c := range columns {
			position := t.Position(c.Name)
			all := []any{rows[i].New[position]}
			for _, other := range others {
				all = append(all, other[n])
			}
			v, err := Combine(c, all)
			if err != nil {
				return t.RowError(rows[i].Key, ColumnError(c.Name, err))
			}
			rows[i].New[position] = v
		}
	}
	return nil
}

// ReadMerged returns values of columns of rows of a source, by their ids. A column that the source does not have is NULL.
func ReadMerged(ctx context.Context, conns *chunk.Conns, t *plan.Table, source string, columns []*plan.Column, ids []int64) (map[int64][]any, error) {
	found := map[int64][]any{}
	if len(ids) == 0 {
		return found, nil
	}
	q, err := conns.Source(ctx, source)
	if err != nil {
		return nil, err
	}
	key := t.Key()
	list := []*plan.Column{key}
	for _, c := range columns {
		if c.In(source) {
			list = append(list, c)
		}
	}
	keys := make([][]any, len(ids))
	for i, id := range ids {
		keys[i] = []any{id}
	}
	rows, err := chunk.ReadKeys(ctx, q.Engine, q, t.Name, list, []*plan.Column{key}, keys)
	if err != nil {
		return nil, dialect.OfSource(source, q.Engine.Failed(fmt.Sprintf("read rows of table %q that are merged", t.Name), err))
	}
	for _, row := range rows {
		id, ok := sqlvalue.ID(row[0])
		if !ok {
			continue
		}
		values, rest := make([]any, len(columns)), row[1:]
		for n, c := range columns {
			if c.In(source) {
				values[n], rest = rest[0], rest[1:]
			}
		}
		found[id] = values
	}
	return found, nil
}

var errOverflow = errors.New("the sum does not fit")

// Combine returns what values of a column make together. The first one is that of the row which stays.
func Combine(c *plan.Column, values []any) (any, error) {
	if c.Combine == plan.CombineKeep {
		return values[0], nil
	}
	var result any
	for _, v := range values {
		switch {
		case v == nil:
		case result == nil,
			c.Combine == plan.CombineLast,
			c.Combine == plan.CombineMax && compareScores(v, result) > 0,
			c.Combine == plan.CombineMin && compareScores(v, result) < 0:
			result = v
		case c.Combine == plan.CombineSum:
			var err error
			if result, err = add(result, v); err != nil {
				return nil, err
			}
		}
	}
	return result, nil
}

// add adds numbers, as integers, floats or decimal texts.
func add(a, b any) (any, error) {
	x, err := chunk.ParseNumber(a)
	if err != nil {
		return nil, err
	}
	y, err := chunk.ParseNumber(b)
	if err != nil {
		return nil, err
	}
	sum := new(big.Rat).Add(x, y)
	_, float := a.(float64)
	if _, also := b.(float64); float || also {
		f, _ := sum.Float64()
		return f, nil
	}
	_, integer := a.(int64)
	if _, also := b.(int64); integer && also {
		if !sum.Num().IsInt64() {
			return nil, fmt.Errorf("%w: %s", errOverflow, sum.Num())
		}
		return sum.Num().Int64(), nil
	}
	digits, _ := sum.FloatPrec()
	return sum.FloatString(digits), nil
}
