package chunk

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// ReadRange returns rows of a table in the order of its [plan.Table.RowKey]: those
// above after and up to and including upto of which the condition where is true, at most limit of them. Nil is no
// bound, a limit of 0 none, and an empty where no condition. A row has a value for each of columns, carried
// as [dialect.Dialect.Carrier] says.
func ReadRange(ctx context.Context, e *dialect.Dialect, q Queryer, t *plan.Table, columns []*plan.Column, where string, after, upto []any, limit int) ([][]any, error) {
	var text strings.Builder
	text.WriteString("SELECT " + e.SelectList(columns) + " FROM " + e.Table(t.Name))
	var args []any
	word := " WHERE "
	if where != "" {
		text.WriteString(word + where)
		word = " AND "
	}
	if after != nil {
		condition, values := compareKey(e, t, ">", ">", after, 0)
		text.WriteString(word + condition)
		args, word = append(args, values...), " AND "
	}
	if upto != nil {
		condition, values := compareKey(e, t, "<", "<=", upto, len(args))
		text.WriteString(word + condition)
		args = append(args, values...)
	}
	for i, name := range t.RowKey() {
		// With the table's name: PostgreSQL takes the name alone for the text that is selected.
		text.WriteString([]string{" ORDER BY ", ", "}[min(i, 1)] + e.Table(t.Name) + "." + e.Quote(name))
	}
	if limit > 0 {
		text.WriteString(" LIMIT " + strconv.Itoa(limit))
	}
	return ReadAll(ctx, e, q, text.String(), columns, args)
}

// compareKey returns a condition on the row key as one value. before
// parameters come ahead of its own.
func compareKey(e *dialect.Dialect, t *plan.Table, strict, last string, key []any, before int) (string, []any) {
	names := t.RowKey()
	columns := ColumnsOf(t, names)
	values := make([]any, len(key))
	for i, v := range key {
		values[i] = comparand(e, columns[i], v)
	}
	listed := e.Kind == sqlsnow.MySQL && slices.ContainsFunc(columns, func(c *plan.Column) bool { return sqltype.Word(c.Type) == "enum" || sqltype.Word(c.Type) == "set" })
	if !listed && (len(names) == 1 || e.RowValues) {
		left, right := e.QuoteAll(names), e.Placeholders(before+1, len(names))
		if len(names) > 1 {
			left = "(" + left + ")"
		}
		return left + " " + last + " " + right, values
	}
	// MySQL finds no range for a comparison of rows.
	var args []any
	condition := ""
	for i := range slices.Backward(names) {
		name := e.Quote(names[i])
		operand, bound := "?", values[i:i+1]
		if typ := sqltype.Word(columns[i].Type); typ == "enum" || typ == "set" {
			// They sort by number, but are compared with a text as texts: so with the number of the row.
			var match []string
			for _, name := range names {
				match = append(match, e.Quote(name)+" = ?")
			}
			operand, bound = "(SELECT "+name+" + 0 FROM "+e.Table(t.Name)+" WHERE "+strings.Join(match, " AND ")+" LIMIT 1)", values
		}
		if i == len(names)-1 {
			condition, args = name+" "+last+" "+operand, slices.Clone(bound)
			continue
		}
		condition = "(" + name + " " + strict + " " + operand + " OR " + name + " = ? AND " + condition + ")"
		args = slices.Concat(bound, values[i:i+1], args)
	}
	return condition, args
}

// comparand returns a value as a parameter that is compared with a column.
func comparand(e *dialect.Dialect, c *plan.Column, v any) any {
	if b, ok := v.([]byte); ok && e.Kind == sqlsnow.MySQL && sqltype.Word(c.Type) == "bit" {
		var n uint64
		for _, digit := range b {
			n = n<<8 | uint64(digit)
		}
		return n
	}
	return v
}

// ReadAll returns what a query returns.
func ReadAll(ctx context.Context, e *dialect.Dialect, q Queryer, text string, columns []*plan.Column, args []any) (all [][]any, err error) {
	err = ReadEach(ctx, e, q, text, columns, args, func(row []any) { all = append(all, row) })
	return all, err
}

// ReadEach calls do with each row that a query returns. The row is a slice of its own.
func ReadEach(ctx context.Context, e *dialect.Dialect, q Queryer, text string, columns []*plan.Column, args []any, do func(row []any)) error {
	_, err := readOf(ctx, e, q, text, columns, args, -1, nil, do)
	return err
}

// readOf is [ReadEach] for those rows alone whose value in the column at an index is one of ids, which ascend; -1
// means all. To pass over the others takes little time. It returns how many rows there were with those.
func readOf(ctx context.Context, e *dialect.Dialect, q Queryer, text string, columns []*plan.Column, args []any, at int, ids []int64, do func(row []any)) (n int, err error) {
	cells := make([]cell, len(columns))
	into := make([]any, len(columns))
	passed := false
	for i, c := range columns {
		cells[i].carrier, cells[i].passed = e.Carrier(c), &passed
		into[i] = &cells[i]
	}
	if at >= 0 {
		cells[at].ids = ids
	}
	err = Visit(ctx, q, text, args, func(rows *sql.Rows) error {
		n++
		passed = false
		if err := rows.Scan(into...); err != nil || passed {
			return err
		}
		row := make([]any, len(cells))
		for i := range cells {
			row[i] = cells[i].value
		}
		do(row)
		return nil
	})
	return n, err
}

// Visit calls scan for each row of a query.
func Visit(ctx context.Context, q Queryer, text string, args []any, scan func(*sql.Rows) error) error {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A cell takes a value from a driver and makes it one of a carrier.
type cell struct {
	carrier dialect.Carrier
	value   any
	ids     []int64 // if not nil, rows of other values are passed over
	passed  *bool   // whether the row is
}

// Scan implements sql.Scanner.
func (c *cell) Scan(src any) (err error) {
	if *c.passed {
		return nil
	}
	c.value, err = carry(src, c.carrier)
	if c.ids != nil {
		id, _ := c.value.(int64)
		_, wanted := slices.BinarySearch(c.ids, id)
		*c.passed = !wanted
	}
	return err
}

func carry(src any, as dialect.Carrier) (any, error) {
	switch v := src.(type) {
	case nil:
		return nil, nil
	case []byte:
		if as == dialect.CarryBytes || as == dialect.CarryNative {
			return slices.Clone(v), nil
		}
		src = string(v)
	case bool: // of PostgreSQL where the plan has another type
		src = strconv.FormatBool(v)
	case time.Time:
		form := "2006-01-02 15:04:05.999999999" // of a column that the source has as a date, and the plan as a text
		if as == dialect.CarryNative {
			form = time.RFC3339Nano // ncruces makes times of the texts that it would make of times
		}
		src = v.Format(form)
	case uint64:
		if v > math.MaxInt64 {
			src = strconv.FormatUint(v, 10)
			break
		}
		src = int64(v)
	case float32:
		src = float64(v)
	case string, int64, float64:
	default:
		return nil, fmt.Errorf("a driver's value has type %T", src)
	}
	switch v := src.(type) {
	case string:
		switch as {
		case dialect.CarryBytes:
			return []byte(v), nil
		case dialect.CarryInteger:
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				return n, nil
			}
		case dialect.CarryFloat:
			if f, err := strconv.ParseFloat(v, 64); err == nil {
				return f, nil
			}
		}
	case int64:
		if as == dialect.CarryText {
			return strconv.FormatInt(v, 10), nil
		}
	case float64:
		if as == dialect.CarryText {
			return strconv.FormatFloat(v, 'g', -1, 64), nil
		}
	}
	return src, nil
}

// FitValue returns a value as a parameter for a column: the source's may have
// another type than the target's.
func FitValue(e *dialect.Dialect, v any, c *plan.Column) any {
	if n, ok := v.(int64); ok && e.Carrier(c) == dialect.CarryText {
		return strconv.FormatInt(n, 10)
	}
	return v
}

// CountRows returns how many rows a table has.
func CountRows(ctx context.Context, e *dialect.Dialect, q Queryer, table string) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+e.Table(table)).Scan(&n)
	return n, e.Failed("count the rows of "+table, err)
}

// HasRows reports whether a table, as the session calls it, has so many rows or more.
func HasRows(ctx context.Context, s *Session, from string, n int) (found bool, err error) {
	err = s.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM "+from+" LIMIT 1 OFFSET "+strconv.Itoa(n-1)+") AS found").Scan(&found)
	return found, s.Engine.Failed("count the rows of "+from, err)
}

// ColumnsOf returns the columns of some names.
func ColumnsOf(t *plan.Table, names []string) []*plan.Column {
	columns := make([]*plan.Column, len(names))
	for i, name := range names {
		columns[i] = t.Column(name)
	}
	return columns
}

func namesOf(columns []*plan.Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}
