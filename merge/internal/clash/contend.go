package clash

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
)

// contend removes the hits in the n-th place ahead that do not come before their rows after all, by
// the winner expressions of the unique key.
func (r *round) contend(ctx context.Context, n int, hits map[int]hit) error {
	place := r.ahead[n]
	if place == inTarget || len(r.unique.Winner) == 0 || len(hits) == 0 {
		return nil
	}
	mine, theirs := map[int][]any{}, map[int][]any{}
	for i, h := range hits {
		mine[i], theirs[i] = r.was(i), h.key
	}
	ours, err := r.evaluate(ctx, r.source, mine, r.unique.Winner)
	if err != nil {
		return err
	}
	others, err := r.evaluate(ctx, place, theirs, r.unique.Winner)
	if err != nil {
		return err
	}
	maps.DeleteFunc(hits, func(i int, _ hit) bool {
		if order := slices.CompareFunc(ours[i], others[i], CompareScores); order != 0 {
			return order > 0
		}
		return n >= r.later
	})
	return nil
}

// was returns what tells row i apart in its source, where it has no new name.
func (r *round) was(i int) []any {
	names := r.rowKey()
	key := make([]any, len(names))
	for n, name := range names {
		key[n] = r.rows[i][slices.Index(r.columns, r.table.Column(name))]
	}
	return key
}

// evaluate returns the values of expressions, as texts, over rows of a source, which are given by what tells them
// apart.
func (r *round) evaluate(ctx context.Context, source string, keys map[int][]any, expressions []string) (map[int][]any, error) {
	q, err := r.conns.Source(ctx, source)
	if err != nil {
		return nil, err
	}
	by := chunk.ColumnsOf(r.table, r.rowKey())
	of := map[string][]int{}
	var asked [][]any
	for _, i := range slices.Sorted(maps.Keys(keys)) {
		key := sqlvalue.FormatKey(keys[i])
		if of[key] == nil {
			asked = append(asked, keys[i])
		}
		of[key] = append(of[key], i)
	}
	rows, err := chunk.ReadExpressions(ctx, q.Engine, q, r.table.Name, by, asked, expressions)
	if err != nil {
		return nil, dialect.OfSource(source, r.e.Failed(fmt.Sprintf("evaluate expressions of unique key %q of table %q", r.unique.Columns, r.table.Name), err))
	}
	found := map[int][]any{}
	for _, row := range rows {
		for _, i := range of[sqlvalue.FormatKey(row[:len(by)])] {
			found[i] = row[len(by):]
		}
	}
	for i, key := range keys {
		if found[i] == nil {
			return nil, fmt.Errorf("table %q: row %s of source %q is gone", r.table.Name, sqlvalue.FormatKey(key), source)
		}
	}
	return found, nil
}

// CompareScores compares two values of a winner expression: NULL is below numbers, and those are below other texts.
func CompareScores(a, b any) int {
	number := func(v any) (*big.Rat, int) {
		if v == nil {
			return nil, 0
		}
		if n, err := chunk.ParseNumber(v); err == nil {
			return n, 1
		}
		return nil, 2
	}
	x, kind := number(a)
	y, other := number(b)
	switch {
	case kind != other:
		return cmp.Compare(kind, other)
	case kind == 1:
		return x.Cmp(y)
	}
	return cmp.Compare(sqlvalue.Text(a), sqlvalue.Text(b))
}

// set gives renamed rows the other values that they get.
func (r *round) set(ctx context.Context, rows []int) error {
	keys := map[int][]any{}
	for _, i := range rows {
		if r.verdicts[i].Failed == nil {
			keys[i] = r.was(i)
		}
	}
	if len(r.unique.Set) == 0 || len(keys) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(r.unique.Set))
	expressions := make([]string, 0, 2*len(names))
	for _, name := range names {
		expressions = append(expressions, r.unique.Set[name], r.e.Quote(name))
	}
	values, err := r.evaluate(ctx, r.source, keys, expressions)
	if err != nil {
		return err
	}
	for i, row := range values {
		for n, name := range names {
			v := &r.verdicts[i]
			v.Renames = append(v.Renames, Rename{Column: r.table.Column(name), Before: row[2*n+1], After: row[2*n], Set: true})
		}
	}
	return nil
}
