package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/shardsnow/snow/bench/ids"
	"github.com/shardsnow/snow/bench/routecost"
)

// routeReport returns the part of RESULTS.md about the router of gormsnow/route.
func routeReport(s *section[routecost.Result]) string {
	var b strings.Builder
	b.WriteString("## GORM over all databases\n\n" + s.about([]string{"gorm.io/gorm", "gorm.io/driver/mysql"}))
	b.WriteString("What a router over four databases adds to a statement on one of them, in CPU time, with databases that answer at\n" +
		"once. Statements of both take turns; the figure is the median difference over the rounds. The control is the plain\n" +
		"variant beside itself: its difference from 0 is error.\n\n")
	t := newTable(1, "statement", "plain", "more with the router", "wanted", "met", "control", "allocs", "more", "wanted", "met")
	yes := func(met bool) string {
		if met {
			return "yes"
		}
		return "**no**"
	}
	for _, c := range s.Result.Cases {
		more, control := c.More()
		extra := c.RoutedAllocs - c.Allocs
		t.add(c.Name, nanos(c.Plain), added(more), "≤ 1.50 µs", yes(more <= 1500), added(control),
			fmt.Sprintf("%.0f", c.Allocs), fmt.Sprintf("%.1f", extra), "≤ 6", yes(extra <= 6))
	}
	b.WriteString(t.String())
	alone, asked := s.Result.Scatter.Medians()
	fmt.Fprintf(&b, "A page of 25 rows from %d databases that take 3 to 6 ms: the slowest alone takes %s, and all together take\n"+
		"%s. Wanted is at most a twentieth and 0.2 ms more, %s: %s.\n\n", s.Result.Scatter.Databases,
		ids.Duration(time.Duration(alone)), ids.Duration(time.Duration(asked)), ids.Duration(time.Duration(s.Result.Scatter.Allowed())), yes(asked <= s.Result.Scatter.Allowed()))
	return b.String()
}

func added(nanoseconds float64) string {
	if math.IsNaN(nanoseconds) {
		return "–"
	}
	return fmt.Sprintf("%.2f µs", nanoseconds/1000)
}
