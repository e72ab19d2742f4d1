package merge

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/dialect"
)

// An Assertion is a number that a merge must not change: the sum over the
// sources, and over what the target had before, is that of the target
// afterwards. So it is one that adds up, such as SUM(gold) or COUNT(*), over
// rows that are all copied. What is rounded, such as the sum of a float, should
// be rounded in the statement.
type Assertion struct {
	Name string // for the report
	SQL  string // gives one row of one number; NULL counts as 0
}

// measure returns the number that a database gives.
func (a Assertion) measure(ctx context.Context, db queryer) (*big.Rat, error) {
	var v any
	if err := db.QueryRowContext(ctx, a.SQL).Scan(&v); err != nil {
		return nil, fmt.Errorf("assertion %q: %w", a.Name, err)
	}
	n, err := parseNumber(v)
	if err != nil {
		return nil, fmt.Errorf("assertion %q: %w", a.Name, err)
	}
	return n, nil
}

func parseNumber(v any) (*big.Rat, error) {
	if v == nil {
		return new(big.Rat), nil
	}
	text := string(formNumber.append(nil, v, false))
	_, exponent, _ := strings.Cut(text, "e")
	if n, err := strconv.Atoi(cmp.Or(exponent, "0")); err == nil && max(n, -n) <= 1000 && !strings.ContainsAny(text, "/_xXbBoOpP") {
		if n, ok := new(big.Rat).SetString(text); ok {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%q is no number", text)
}

// printNumber returns a decimal number, which all that databases give are.
func printNumber(n *big.Rat) string {
	digits, exact := n.FloatPrec()
	if !exact {
		return n.RatString()
	}
	return n.FloatString(digits)
}

func countRows(ctx context.Context, e *dialect.Dialect, q queryer, table string) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+e.Quote(table)).Scan(&n)
	return n, e.Failed("count the rows of "+table, err)
}
