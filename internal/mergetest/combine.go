package mergetest

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// Expressions that give what first and last give.
const firstExpression, lastExpression plan.Combine = "COALESCE({a}, {b})", "COALESCE({b}, {a})"

// combine lets rows that are merged into others leave values to them.
func (w *world) combine(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 9)) // worlds are as they were without it
	for _, t := range w.tables {
		if t.shape != keyed && t.shape != linking && t.shape != natural || !slices.ContainsFunc(t.unique, func(u *unique) bool { return u.rule == plan.RuleKeep }) {
			continue
		}
		for _, c := range t.columns {
			ways := []plan.Combine{plan.CombineKeep, plan.CombineFirst, plan.CombineLast}
			if c.value == whole {
				ways = append(ways, plan.CombineMax, plan.CombineMin)
			}
			if c.value != double {
				ways = append(ways, firstExpression, lastExpression)
			}
			if strings.HasPrefix(c.name, "v") && c.value != blob {
				c.combine = ways[r.IntN(len(ways))]
			}
		}
	}
}

// combined is what the value of a column must be after rows were merged into its row.
func (o *oracle) combined(t *table, c *column, r row, own *string) *string {
	if c.combine == plan.CombineKeep {
		return own
	}
	result := own
	for _, other := range o.merged[t.mark(r)] {
		v := other[c.name]
		switch {
		case v == nil:
		case result == nil, c.combine == plan.CombineLast, c.combine == lastExpression:
			result = v
		case c.combine == plan.CombineMax && integer(v).Cmp(integer(result)) > 0, c.combine == plan.CombineMin && integer(v).Cmp(integer(result)) < 0:
			result = v
		}
	}
	return result
}

func integer(v *string) *big.Int {
	n, _ := new(big.Int).SetString(strings.TrimPrefix(*v, "integer "), 10) // as SQLite's are read
	return n
}
