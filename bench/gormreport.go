package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/shardsnow/snow/bench/gormcost"
	"github.com/shardsnow/snow/bench/ids"
)

// gormReport returns the part of RESULTS.md about the plugin of gormsnow.
func gormReport(s *section[gormcost.Result]) string {
	var b strings.Builder
	b.WriteString("## The GORM plugin\n\n" + s.about([]string{"gorm.io/gorm", "gorm.io/driver/mysql", "github.com/go-sql-driver/mysql"}))
	fmt.Fprintf(&b, "Rows created through GORM with the plugin, and with ids that the caller set, from the same generator. The server is\n"+
		"%s. Statements of both take turns. The ratio is the median, over %d rounds, of the\n"+
		"ratio of the median times in a round; ± is half the distance between the rounds' extremes. The control is the variant\n"+
		"without the plugin over itself: its difference from 1 is error. Dry runs send nothing, so there the plugin is\n"+
		"compared with GORM alone. Allocations and bytes are for a statement by hand; the plugin's are what it adds.\n\n",
		orUnknown(s.Result.Version), rounds(s.Result))
	b.WriteString("### Targets\n\n" + gormTargets(s.Result.Cases))
	b.WriteString("### Cost of a statement\n\n")
	t := newTable(1, "statement", "by hand", "plugin", "ratio", "±", "control", "±", "allocs", "plugin's", "bytes", "plugin's")
	for _, c := range s.Result.Cases {
		ratio, spread := c.Ratio()
		control, wide := c.Control()
		t.add(statement(c), nanos(c.ByHand), nanos(c.Plugin), times(ratio), percent(spread, 1), times(control), percent(wide, 1),
			grouped(int64(math.Round(c.Allocs))), fmt.Sprintf("%+.1f", c.PluginAllocs-c.Allocs),
			grouped(int64(math.Round(c.Bytes))), grouped(int64(math.Round(c.PluginBytes-c.Bytes))))
	}
	b.WriteString(t.String())
	return b.String()
}

// gormTargets says whether the plugin costs no more than its targets allow.
func gormTargets(cases []gormcost.Case) string {
	t := newTable(1, "target", "wanted", "measured", "met")
	add := func(name, wanted, measured string, met bool) {
		yes := "yes"
		if !met {
			yes = "**no**"
		}
		t.add(name, wanted, measured, yes)
	}
	for _, c := range cases {
		if !c.DryRun {
			wanted := 1.03
			if c.Rows > 1 {
				wanted = 1.02
			}
			ratio, _ := c.Ratio()
			add("time of "+statement(c)+" over ids set by hand", "≤ "+times(wanted), times(ratio), ratio <= wanted)
		}
		// A tenth more, because the rest of the program allocates at the same time.
		extra := c.PluginAllocs - c.Allocs
		add("allocations of the plugin, "+statement(c), "≤ 2", fmt.Sprintf("%.1f", extra), extra <= 2.1)
	}
	return t.String()
}

func statement(c gormcost.Case) string {
	name := "one row"
	if c.Rows != 1 {
		name = grouped(int64(c.Rows)) + " rows"
	}
	if c.DryRun {
		name += ", dry run"
	}
	return name
}

func rounds(r gormcost.Result) (n int) {
	for _, c := range r.Cases {
		n = max(n, len(c.ByHand))
	}
	return n
}

func nanos(list []float64) string {
	m := gormcost.Median(list)
	if math.IsNaN(m) {
		return "–"
	}
	return ids.Duration(time.Duration(m))
}

func times(ratio float64) string {
	if math.IsNaN(ratio) {
		return "–"
	}
	return fmt.Sprintf("%.3f×", ratio)
}
