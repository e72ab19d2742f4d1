package rekey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
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
	if len(values) == 0 {
		return nil
	}
	q, err := w.Merged.Conns.Source(ctx, t.Source)
	if err != nil {
		return err
	}
	winners := slices.Sorted(maps.Keys(values))
	for n, c := range columns {
		position := t.Position(c.Name)
		lists := make([][]any, len(winners))
		for k, i := range winners {
			lists[k] = []any{rows[i].New[position]}
			for _, other := range values[i] {
				lists[k] = append(lists[k], other[n])
			}
		}
		results, bad, err := Combine(ctx, q, c, lists)
		if err != nil {
			return dialect.OfSource(t.Source, err)
		}
		for k, i := range winners {
			if bad[k] != nil {
				return t.RowError(rows[i].Key, ColumnError(c.Name, bad[k]))
			}
			rows[i].New[position] = results[k]
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

// Combine returns what lists of values of a column make together, or why one does not. The first value of each is that of the row
// which stays. Expressions are evaluated by q.
func Combine(ctx context.Context, q *chunk.Session, c *plan.Column, lists [][]any) (results []any, bad []error, err error) {
	results, bad = make([]any, len(lists)), make([]error, len(lists))
	if !c.Combine.IsExpression() {
		for i, values := range lists {
			results[i], bad[i] = combineValues(c, values)
		}
		return results, bad, nil
	}
	for i, values := range lists {
		results[i] = values[0]
	}
	for n := 1; ; n++ { // all rows with an n-th value at a time
		var rows []int
		for i, values := range lists {
			if n < len(values) && bad[i] == nil {
				rows = append(rows, i)
			}
		}
		if len(rows) == 0 {
			return results, bad, nil
		}
		for part := range slices.Chunk(rows, mostEvaluated) {
			if err := evaluatePairs(ctx, q, c, part, lists, n, results, bad); err != nil {
				return nil, nil, err
			}
		}
	}
}

// mostEvaluated is how many pairs of values one statement evaluates an expression of.
const mostEvaluated = 100

// evaluatePairs puts what the expression gives of the results so far and the n-th values of some rows into results.
func evaluatePairs(ctx context.Context, q *chunk.Session, c *plan.Column, rows []int, lists [][]any, n int, results []any, bad []error) error {
	e := q.Engine
	as := map[sqlsnow.Dialect]string{sqlsnow.MySQL: "CHAR", sqlsnow.Postgres: "TEXT", sqlsnow.SQLite: "TEXT"}[e.Kind]
	var selects []string
	for _, i := range rows {
		text := strings.NewReplacer("{a}", literalOf(e, c, results[i]), "{b}", literalOf(e, c, lists[i][n])).Replace(e.Expand(string(c.Combine)))
		selects = append(selects, "SELECT "+strconv.Itoa(i)+" AS n, CAST(("+text+"\n) AS "+as+") AS v")
	}
	columns := []*plan.Column{{Name: "n", Type: "bigint"}, {Name: "v", Type: "text"}}
	found, err := chunk.ReadAll(ctx, e, q, strings.Join(selects, " UNION ALL "), columns, nil)
	if err != nil {
		return e.Failed("evaluate combine of column "+strconv.Quote(c.Name), err)
	}
	for _, row := range found {
		if i, ok := row[0].(int64); ok {
			results[i], bad[i] = valueOf(e, c, row[1])
		}
	}
	return nil
}

// literalOf returns a value of a column as SQL.
func literalOf(e *dialect.Dialect, c *plan.Column, v any) string {
	text := sqlvalue.Text(v)
	switch {
	case v == nil:
		text = "NULL"
	case sqltype.Of(e.Kind, c.Type).Kind == sqltype.Text || !number.MatchString(text):
		text = e.Kind.Literal(text)
	}
	if e.Kind == sqlsnow.Postgres {
		return "CAST(" + text + " AS " + c.Type + ")"
	}
	return "(" + text + ")"
}

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// valueOf returns the text of an expression's result as a value of a column.
func valueOf(e *dialect.Dialect, c *plan.Column, v any) (any, error) {
	text, ok := v.(string)
	if !ok {
		return v, nil
	}
	switch {
	case sqltype.Of(e.Kind, c.Type).Kind == sqltype.Integer && e.Carrier(c) != dialect.CarryText:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("combine gives %s, which is no integer of 64 bits", sqlvalue.Sample(text))
		}
		return n, nil
	case e.Carrier(c) == dialect.CarryFloat:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("combine gives %s, which is no number", sqlvalue.Sample(text))
		}
		return f, nil
	}
	return text, nil
}

// combineValues returns what values make together by a word.
func combineValues(c *plan.Column, values []any) (any, error) {
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
