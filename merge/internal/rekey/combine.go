package rekey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

var errOverflow = errors.New("the sum does not fit")

// combineLists returns what lists of values of a column make together, or why one does not. The first value of each is
// the value of the row which stays. Expressions are evaluated by q.
func combineLists(ctx context.Context, q *chunk.Session, c *plan.Column, lists [][]any) (results []any, bad []error, err error) {
	results, bad = make([]any, len(lists)), make([]error, len(lists))
	if !c.Combine.IsExpression() {
		for i, values := range lists {
			if results[i], bad[i] = combineValues(c, values); c.Combine == plan.CombineSum {
				results[i] = rounded(q.Engine, c, results[i])
			}
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
	var selects []string
	for _, i := range rows {
		text := e.Expand(string(c.Combine), "{a}", literalOf(e, c, results[i]), "{b}", literalOf(e, c, lists[i][n]))
		selects = append(selects, "SELECT "+strconv.Itoa(i)+" AS n, "+resultOf(e, c, "("+text+"\n)")+" AS v")
	}
	columns := []*plan.Column{{Name: "n", Type: "bigint"}, {Name: "v", Type: "text"}}
	found, err := chunk.ReadAll(ctx, e, q, strings.Join(selects, " UNION ALL "), columns, nil)
	if err != nil {
		return e.Failed("evaluate combine of column "+strconv.Quote(c.Name), err)
	}
	for _, row := range found {
		if i, ok := row[0].(int64); ok {
			results[i], bad[i] = ValueOf(e, c, row[1])
		}
	}
	return nil
}

// resultOf returns SQL for the text of an expression. PostgreSQL writes a date, a time and a number of single
// precision as a column of the type has it.
func resultOf(e *dialect.Dialect, c *plan.Column, expression string) string {
	as := map[sqlsnow.Dialect]string{sqlsnow.MySQL: "CHAR", sqlsnow.Postgres: "TEXT", sqlsnow.SQLite: "TEXT"}[e.Kind]
	if e.Kind == sqlsnow.Postgres && (isTime(e, c) || isSingle(e, c)) {
		expression = "CAST(" + expression + " AS " + c.Type + ")"
	}
	return "CAST(" + expression + " AS " + as + ")"
}

func isTime(e *dialect.Dialect, c *plan.Column) bool {
	return sqltype.Of(e.Kind, c.Type).Kind == sqltype.Time || sqltype.Word(c.Type) == "time"
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

// ValueOf returns the text of a value of a column as it is in rows.
func ValueOf(e *dialect.Dialect, c *plan.Column, v any) (any, error) {
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
		return rounded(e, c, f), nil
	case e.Kind == sqlsnow.MySQL && sqltype.Word(c.Type) == "year":
		if year, err := strconv.Atoi(text); err != nil || year != 0 && (year < 1901 || year > 2155) {
			return nil, fmt.Errorf("combine gives %s, which is no year of four digits", sqlvalue.Sample(text))
		}
	case e.Kind != sqlsnow.SQLite && slices.Contains([]string{"char", "character", "bpchar", "nchar"}, sqltype.Word(c.Type)) && !strings.Contains(c.Type, "varying"):
		return strings.TrimRight(text, " "), nil // which the column does not keep
	case e.Kind == sqlsnow.MySQL && isTime(e, c):
		return timeOf(c, text)
	case e.Kind == sqlsnow.MySQL:
		return memberOf(c, text)
	}
	return text, nil
}

// isSingle reports whether a column has numbers of single precision.
func isSingle(e *dialect.Dialect, c *plan.Column) bool {
	word := sqltype.Word(c.Type)
	return e.Kind == sqlsnow.MySQL && word == "float" || e.Kind == sqlsnow.Postgres && (word == "real" || word == "float4")
}

// rounded returns a number as the column has it, if that is of single precision, and other values as they are.
func rounded(e *dialect.Dialect, c *plan.Column, v any) any {
	if !isSingle(e, c) {
		return v
	}
	switch v := v.(type) {
	case float64:
		return float64(float32(v))
	case string:
		if f, err := strconv.ParseFloat(v, 32); err == nil {
			return strconv.FormatFloat(f, 'g', -1, 32)
		}
	}
	return v
}

var times = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})?[ T]?(-?[0-9]{2,3}:[0-9]{2}:[0-9]{2})?(\.[0-9]+)?$`)

// timeOf returns the text of a date or a time as MySQL stores it in a column, without digits of a second that the
// column does not have.
func timeOf(c *plan.Column, text string) (any, error) {
	found := times.FindStringSubmatch(text)
	var date, clock, fraction string
	if found != nil {
		date, clock, fraction = found[1], found[2], strings.TrimRight(strings.TrimRight(found[3], "0"), ".")
	}
	name, arguments, _ := strings.Cut(strings.ToLower(c.Type), "(")
	digits, _, _ := strings.Cut(arguments, ")")
	most, _ := strconv.Atoi(digits)
	name = sqltype.Word(name)
	switch {
	case found == nil || (date == "") != (name == "time") || clock == "" && (name == "time" || fraction != ""):
		return nil, fmt.Errorf("combine gives %s, which is no value of %s", sqlvalue.Sample(text), c.Type)
	case name == "date":
		return date, nil
	case len(fraction) > most+1:
		return nil, fmt.Errorf("combine gives %s, which has more digits of a second than %s", sqlvalue.Sample(text), c.Type)
	case name == "time":
		return clock + fraction, nil
	}
	return date + " " + cmp.Or(clock, "00:00:00") + fraction, nil
}

// memberOf returns the text of a value of an ENUM or a SET as MySQL stores it: the members of a set once each, in
// their order. Texts of other types stay as they are.
func memberOf(c *plan.Column, text string) (any, error) {
	members := sqltype.Members(c.Type)
	if members == nil || text == "" {
		return text, nil
	}
	parts := []string{text}
	if sqltype.Word(c.Type) == "set" {
		parts = strings.Split(text, ",")
	}
	var found []string
	exact := func(part string) bool { return slices.Contains(members, part) }
	for _, member := range members {
		before := len(parts)
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == member || !exact(part) && strings.EqualFold(part, member) })
		if len(parts) < before {
			found = append(found, member)
		}
	}
	if len(parts) > 0 {
		return nil, fmt.Errorf("combine gives %s, and the column has no %s", sqlvalue.Sample(text), sqlvalue.Sample(parts[0]))
	}
	return strings.Join(found, ","), nil
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
			c.Combine == plan.CombineMax && clash.CompareScores(v, result) > 0,
			c.Combine == plan.CombineMin && clash.CompareScores(v, result) < 0:
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
