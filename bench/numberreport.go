package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/bench/numbercost"
)

// numbersReport returns the part of RESULTS.md about numbers for people.
func numbersReport(s *section[[]numbercost.Result]) string {
	var b strings.Builder
	b.WriteString("## Numbers for people\n\n" + s.about([]string{"github.com/go-sql-driver/mysql", "github.com/jackc/pgx/v5"}))
	b.WriteString("Rows a second, each stored and committed in a transaction of its own, with a number that the program has at hand\n" +
		"(plain insert), a gap-free number, or a fast one of blocks of 1,000, or of 10,000 with a LossWindow. Blocks of the ways take turns. The figure is the\n" +
		"median, the range is without the lowest and the highest turn, and the ratio is of the medians.\n\n")
	t := newTable(2, "server", "way", "connections", "rows/s", "range", "of the plain insert")
	var plain float64
	for _, r := range s.Result {
		sorted := slices.Sorted(slices.Values(r.PerSecond))
		if len(sorted) == 0 {
			continue
		}
		median := sorted[len(sorted)/2]
		if r.Way == numbercost.Plain {
			plain = median
		}
		low, high := sorted[min(1, len(sorted)-1)], sorted[max(0, len(sorted)-2)]
		t.add(r.Version, r.Way, fmt.Sprint(r.Connections), grouped(int64(median)), grouped(int64(low))+"–"+grouped(int64(high)), times(median/plain))
	}
	return b.String() + t.String()
}
