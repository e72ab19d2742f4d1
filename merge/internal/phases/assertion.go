package phases

import (
	"context"
	"fmt"
	"math/big"

	"github.com/shardsnow/snow/merge/internal/chunk"
)

// An Assertion is a number that a merge must not change.
type Assertion struct {
	Name string // for the report
	SQL  string // gives one row of one number; NULL counts as 0
}

// measure returns the number that a database gives.
func (a Assertion) measure(ctx context.Context, db chunk.Queryer) (*big.Rat, error) {
	var v any
	if err := db.QueryRowContext(ctx, a.SQL).Scan(&v); err != nil {
		return nil, fmt.Errorf("assertion %q: %w", a.Name, err)
	}
	n, err := chunk.ParseNumber(v)
	if err != nil {
		return nil, fmt.Errorf("assertion %q: %w", a.Name, err)
	}
	return n, nil
}

// printNumber returns a decimal number, which all that databases give are.
func printNumber(n *big.Rat) string {
	digits, exact := n.FloatPrec()
	if !exact {
		return n.RatString()
	}
	return n.FloatString(digits)
}
