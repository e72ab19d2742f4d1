package functions

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
)

// arithmetic writes what package snow computes about a layout as expressions of SQL. MySQL and PostgreSQL read all
// of them alike but for the names of a few operators. Each operation is in parentheses, because the two differ in
// precedence: 1 | 2 << 3 is (1 | 2) << 3 in PostgreSQL. An operand is a name, a number, or in parentheses.
type arithmetic struct {
	dialect sqlsnow.Dialect
	layout  snow.Layout
	bits    snow.Bits
	epoch   int64 // nanoseconds since 1970
	tick    int64 // nanoseconds
	last    uint64
}

func arithmeticOf(d sqlsnow.Dialect, l snow.Layout) (arithmetic, error) {
	if err := checkDialect(d); err != nil {
		return arithmetic{}, err
	}
	if l == (snow.Layout{}) {
		return arithmetic{}, &snow.FieldError{Field: "layout", Value: "zero", Bound: "want one of snow.NewLayout or a preset"}
	}
	b := l.Bits()
	return arithmetic{d, l, b, l.Epoch().UnixNano(), int64(l.Tick()), 1<<b.Timestamp - 1}, nil
}

func checkDialect(d sqlsnow.Dialect) error {
	if d != sqlsnow.MySQL && d != sqlsnow.Postgres {
		return &snow.FieldError{Field: "dialect", Value: d.String(), Bound: "want MySQL or PostgreSQL"}
	}
	return nil
}

// rest is the width of the sequence without the lane.
func (a arithmetic) rest() int { return int(a.bits.Sequence - a.bits.Lane) }

// below is the width of all that is below the timestamp and the lane.
func (a arithmetic) below() int {
	return int(a.bits.Datacenter) + int(a.bits.Worker) + a.rest() + int(a.bits.Shard)
}

func (a arithmetic) sum() int { return int(a.bits.Timestamp) + int(a.bits.Lane) + a.below() }

func left(x string, n int) string {
	if n == 0 || x == "0" {
		return x
	}
	return fmt.Sprintf("(%s << %d)", x, n)
}

func right(x string, n int) string {
	if n == 0 {
		return x
	}
	return fmt.Sprintf("(%s >> %d)", x, n)
}

// low returns the n lowest bits.
func low(x string, n int) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("(%s & %d)", x, uint64(1)<<n-1)
}

// high returns x with the n lowest bits cleared.
func high(x string, n int) string { return left(right(x, n), n) }

// or joins values that have no bit in common.
func or(values ...string) string {
	var some []string
	for _, v := range values {
		if v != "0" {
			some = append(some, v)
		}
	}
	switch len(some) {
	case 0:
		return "0"
	case 1:
		return some[0]
	}
	return "(" + strings.Join(some, " | ") + ")"
}

// tickOf returns the tick of an id, and laneOf its lane.
func (a arithmetic) tickOf(id string) string {
	joined := right(id, a.below())
	if a.bits.Lane == 0 {
		return joined
	}
	span := int(a.bits.Span)
	return or(left(right(joined, span+int(a.bits.Lane)), span), low(joined, span))
}

func (a arithmetic) laneOf(id string) string {
	return low(right(id, a.below()+int(a.bits.Span)), int(a.bits.Lane))
}

// join returns a tick with a lane inside, shifted to where an id has it.
func (a arithmetic) join(tick, lane string) string {
	joined := tick
	if a.bits.Lane > 0 {
		span := int(a.bits.Span)
		joined = or(left(right(tick, span), span+int(a.bits.Lane)), left(lane, span), low(tick, span))
	}
	return left(joined, a.below())
}

// when returns an expression that is NULL unless the condition is true.
func when(condition, then string) string { return "CASE WHEN " + condition + " THEN " + then + " END" }

// isID is the condition that Layout.Decompose accepts an id.
func (a arithmetic) isID(id string) string {
	if a.sum() == 63 {
		return id + " > 0"
	}
	return fmt.Sprintf("%s > 0 AND %s < %d", id, id, uint64(1)<<a.sum())
}

// div is the integer division of numbers that are not negative.
func (a arithmetic) div(x string, by int64) string {
	switch {
	case by == 1:
		return x
	case a.dialect == sqldialect.MySQL:
		return fmt.Sprintf("(%s DIV %d)", x, by)
	}
	return fmt.Sprintf("(%s / %d)", x, by)
}

// wideDiv is div for a dividend that may have up to 40 digits.
func (a arithmetic) wideDiv(x string, by int64) string {
	if a.dialect == sqldialect.MySQL {
		return fmt.Sprintf("(%s DIV %d)", x, by)
	}
	return fmt.Sprintf("CAST(div(%s, %d) AS bigint)", x, by)
}

func (a arithmetic) wide(x string) string {
	if a.dialect == sqldialect.MySQL {
		return "CAST(" + x + " AS DECIMAL(40,0))"
	}
	return "CAST(" + x + " AS numeric)"
}

// isWhole reports whether epoch and tick are whole microseconds, which are what times have in SQL.
func (a arithmetic) isWhole() bool { return a.epoch%1000 == 0 && a.tick%1000 == 0 }

func plus(x string, n int64) string {
	switch {
	case n == 0:
		return x
	case n < 0:
		return fmt.Sprintf("(%s - %d)", x, -n)
	}
	return fmt.Sprintf("(%s + %d)", x, n)
}

// firstTick returns the first tick that starts at a time or later, from 0 to one past the last. The time is in
// microseconds since 1970.
func (a arithmetic) firstTick(us string) string {
	var tick string
	if a.isWhole() {
		tick = a.div(plus("GREATEST("+plus(us, -a.epoch/1000)+", 0)", a.tick/1000-1), a.tick/1000)
	} else {
		tick = a.wideDiv(plus("GREATEST("+plus("("+a.wide(us)+" * 1000)", -a.epoch)+", 0)", a.tick-1), a.tick)
	}
	return fmt.Sprintf("LEAST(%s, %d)", tick, a.last+1)
}

// tickAt returns the tick that a time is in, 0 before the epoch. The time is in nanoseconds since 1970.
func (a arithmetic) tickAt(ns string) string {
	return a.div("GREATEST("+plus(ns, -a.epoch)+", 0)", a.tick)
}

// microseconds returns the time at which a tick starts, in microseconds since 1970, rounded down.
func (a arithmetic) microseconds(tick string) string {
	if a.dialect == sqldialect.MySQL { // the result of a shift is unsigned, and times before 1970 are negative
		tick = "CAST(" + tick + " AS SIGNED)"
	}
	if a.isWhole() {
		return plus("("+tick+" * "+fmt.Sprint(a.tick/1000)+")", a.epoch/1000)
	}
	const shift = 2_300_000_000_000_000 // makes the dividend positive, as epochs are 1900 or later
	return plus(a.wideDiv(plus("("+a.wide(tick)+" * "+fmt.Sprint(a.tick)+")", a.epoch+shift*1000), 1000), -shift)
}

// latest returns the last tick that starts before the year 10000, which is the end of MySQL's calendar.
func (a arithmetic) latest() uint64 {
	end := big.NewInt(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	end.Mul(end, big.NewInt(1e9)).Sub(end, big.NewInt(a.epoch+1)).Div(end, big.NewInt(a.tick))
	if !end.IsUint64() {
		return a.last
	}
	return min(a.last, end.Uint64())
}

// bound returns the lowest id of a tick and a lane. The tick may be one past the last: with 63 bits, the bound is
// then the highest id, as in Layout.Between.
func (a arithmetic) bound(tick, lane string) string {
	past := uint64(math.MaxInt64)
	if a.sum() < 63 {
		past = 1 << a.sum()
	}
	return fmt.Sprintf("CASE WHEN %s > %d THEN %d ELSE %s END", tick, a.last, past, a.join(tick, lane))
}
