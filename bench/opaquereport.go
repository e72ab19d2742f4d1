package main

import (
	"fmt"
	"strings"

	"github.com/shardsnow/snow/bench/opaquecost"
)

// opaqueReport returns the part of RESULTS.md about texts of ids for people outside.
func opaqueReport(s *section[opaquecost.Result]) string {
	var b strings.Builder
	b.WriteString("## Texts of ids for people outside\n\n" + s.about([]string{"github.com/sqids/sqids-go", "github.com/speps/go-hashids/v2"}))
	b.WriteString("What it takes to write an id as a text and to read it, in CPU time. All ways take turns; the figure is the median of\n" +
		"the rounds. Wanted of package opaque are at most 1.5 µs and one allocation for each. Ways that are no cipher hide\n" +
		"nothing from people who try.\n\n")
	t := newTable(1, "way", "write", "read", "allocs, write", "read", "characters", "wanted", "met")
	for _, w := range s.Result.Ways {
		write, read := opaquecost.Median(w.Write), opaquecost.Median(w.Read)
		wanted, met := "–", "–"
		if strings.HasPrefix(w.Name, "opaque") {
			wanted, met = "≤ 1.5 µs, 1", "**no**"
			if write <= 1500 && read <= 1500 && w.WriteAllocs <= 1 && w.ReadAllocs <= 1 {
				met = "yes"
			}
		}
		t.add(w.Name, nanosOf(write), nanosOf(read), fmt.Sprintf("%.0f", w.WriteAllocs), fmt.Sprintf("%.0f", w.ReadAllocs),
			fmt.Sprint(len(w.Example)), wanted, met)
	}
	return b.String() + t.String()
}

func nanosOf(ns float64) string { return fmt.Sprintf("%.0f ns", ns) }
