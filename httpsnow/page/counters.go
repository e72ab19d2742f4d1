package page

import (
	"fmt"
	"math"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/timetext"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// A counterView is a counter of dense numbers.
type counterView struct {
	Anchor, Tag, State, Next, Numbers, Rate string
	Regressed                               bool
	Limits                                  []string // how long it lasts
	Line                                    sparkView

	hidden bool // the filter leaves it out
}

// The bounds that numbers meet, one after the other.
var bounds = []struct {
	last snow.ID
	name string
}{
	{math.MaxInt32, "32 bits with a sign"},
	{1<<53 - 1, "numbers of JavaScript"},
	{math.MaxInt64, "63 bits"},
}

func counterViewOf(c segments.Counter, r rate, anchor string) counterView {
	v := counterView{Anchor: anchor, Tag: c.Tag, Regressed: c.Regressed, Line: r.line, State: "open", Next: c.Next.String(), Numbers: "all"}
	switch {
	case c.New:
		v.State = "new: not compared with the other databases yet"
	case c.Regressed:
		v.State = `regressed: gives no numbers until "snow segments raise"`
	}
	if c.Databases > 1 {
		v.Numbers = fmt.Sprintf("%d modulo %d", c.Residue, c.Databases)
	}
	if r.over <= 0 {
		v.Rate = "not known yet"
		return v
	}
	v.Rate = fmt.Sprintf("%.3g a second over %s", r.perSecond, timetext.Span(r.over.Seconds()))
	if r.perSecond <= 0 {
		return v
	}
	for _, b := range bounds {
		if c.Next > b.last {
			v.Limits = append(v.Limits, b.name+": passed")
			continue
		}
		left := float64(b.last-c.Next) / (r.perSecond * float64(max(c.Databases, 1)))
		v.Limits = append(v.Limits, b.name+": "+timetext.Span(left))
	}
	return v
}
