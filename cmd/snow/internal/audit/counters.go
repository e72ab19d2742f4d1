package audit

import (
	"fmt"
	"math/big"
	"time"

	"github.com/shardsnow/snow/internal/idcolumn"
)

// near is the percentage of used numbers that makes a counter an error.
const near = 80

// A Counter is how far a counter is on its way to its end.
type Counter struct {
	Used    string  `json:"used"`
	Limit   string  `json:"limit"`
	Percent float64 `json:"percent"`
	PerDay  float64 `json:"per_day,omitempty"` // 0 if the server does not know
	End     string  `json:"end,omitempty"`     // the date on which no number is left at that rate
	Basis   string  `json:"basis,omitempty"`   // how the rate is estimated
}

// A counter is what makes up numbers for a column, or a sequence of no column.
type counter struct {
	sequence    string // quoted for a statement; empty if there is none
	name        string // the same for people
	last        *big.Int
	least, most *big.Int // both can be used
	down        bool     // it counts down
	cycles      bool     // it begins again after its end
	reserved    bool     // the server may have some of the used numbers in its cache
	own         bool     // it ends before the type of the column does
	step        float64  // how many numbers a row takes; 0 if that is not known
	rate        rate
}

// A rate is how many numbers a counter uses.
type rate struct {
	perDay float64 // 0 if it is unknown
	since  time.Time
	atMost bool // it may be less
}

// observed is how long numbers must have been counted for a rate.
const observed = 24 * time.Hour

// newRate returns the rate of a count since some time; it is unknown if that was less than a day ago.
func newRate(count float64, since, now time.Time, atMost bool) rate {
	days := now.Sub(since).Hours() / 24
	if since.IsZero() || now.Sub(since) < observed || count <= 0 {
		return rate{}
	}
	return rate{count / days, since, atMost}
}

// typed returns a counter from 1 to the end of a column's type.
func typed(c idcolumn.Column, last uint64) *counter {
	return &counter{last: new(big.Int).SetUint64(last), least: big.NewInt(1), most: new(big.Int).SetUint64(c.Most())}
}

// within ends the counter where the type of a column ends.
func (c *counter) within(column idcolumn.Column) {
	if column.Kind != idcolumn.Integer {
		return
	}
	most := new(big.Int).SetUint64(column.Most())
	least := new(big.Int)
	if column.Sign == idcolumn.Signed {
		least.Not(most)
	}
	c.own = c.most.Cmp(most) < 0
	if c.down {
		c.own = c.least.Cmp(least) > 0
	}
	if c.most.Cmp(most) > 0 {
		c.most = most
	}
	if c.least.Cmp(least) < 0 {
		c.least = least
	}
}

func (c *counter) limit() *big.Int { return distance(c.least, c.most) }

func (c *counter) used() *big.Int {
	switch {
	case c.last == nil:
		return new(big.Int)
	case c.down:
		return clamp(distance(c.last, c.most), c.limit())
	}
	return clamp(distance(c.least, c.last), c.limit())
}

// distance returns how many numbers there are from least to most.
func distance(least, most *big.Int) *big.Int {
	n := new(big.Int).Sub(most, least)
	return n.Add(n, big.NewInt(1))
}

func clamp(n, most *big.Int) *big.Int {
	switch {
	case n.Sign() < 0:
		return new(big.Int)
	case n.Cmp(most) > 0:
		return most
	}
	return n
}

// shown returns the counter for people. The end is a date only if it is within a century.
func (c *counter) shown(now time.Time) *Counter {
	used, limit := c.used(), c.limit()
	u, _ := new(big.Float).SetInt(used).Float64()
	l, _ := new(big.Float).SetInt(limit).Float64()
	s := &Counter{Used: used.String(), Limit: limit.String()}
	if l > 0 {
		s.Percent = float64(int(u/l*1000)) / 10
	}
	if c.rate.perDay > 0 {
		s.PerDay = float64(int(c.rate.perDay*10)) / 10
		s.Basis = "rows inserted since " + c.rate.since.UTC().Format(time.DateOnly) + ", when the server's statistics begin"
		if c.rate.atMost {
			s.Basis = "at most: all its numbers since " + c.rate.since.UTC().Format(time.DateOnly) + ", when the table was made or rebuilt"
		}
		if days := (l - u) / c.rate.perDay; days < 36525 {
			s.End = now.Add(time.Duration(days * 24 * float64(time.Hour))).UTC().Format(time.DateOnly)
		}
	}
	return s
}

// String says it in words.
func (s *Counter) String() string {
	text := fmt.Sprintf("%.1f %% of its numbers are used, %s of %s", s.Percent, s.Used, s.Limit)
	if s.PerDay > 0 {
		text += fmt.Sprintf("; about %.0f a day", s.PerDay)
		if s.End != "" {
			text += ", so the last one on " + s.End
		}
		text += " (" + s.Basis + ")"
	}
	return text
}
