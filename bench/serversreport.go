package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/bench/merge"
)

// serversReport returns the part of RESULTS.md about merges from one server to another.
func serversReport(s *section[merge.ServersResult]) string {
	var b strings.Builder
	b.WriteString("## Merges from server to server\n\n" + s.about([]string{"github.com/go-sql-driver/mysql"}))
	b.WriteString("MariaDB " + s.Result.Version + ".\n\n" +
		"Two databases of ten tables on one server, with " + grouped(int64(s.Result.Rows)) + " rows together, are merged into one database on another server,\n" +
		"beside the program. Keys get new ids, references follow, and all rows are verified. The yardstick is `mariadb-dump | mariadb` of the\n" +
		"same rows without any change, which also loads them without checks of foreign keys. All take turns; times are from the middle round, and ± is half the distance between the fastest\n" +
		"and the slowest. Processor time is listed for the server with the sources, the server with the target, and the programs.\n\n")
	t := newTable(1, "work", "time", "of the yardstick's", "wanted", "met", "±", "source", "target", "program", "of the yardstick's processor time", "memory")
	for _, w := range s.Result.Work {
		yardstick := s.Result.Work[0]
		ratio := w.Took.Seconds() / yardstick.Took.Seconds()
		wanted, ok, memory := "", "", ""
		if w.Target > 0 {
			wanted, ok = fmt.Sprintf("≤ %.2f×", w.Target), met(ratio <= w.Target)
		}
		if w.Bytes > 0 {
			memory = fmt.Sprintf("%.1f MB", float64(w.Bytes)/1e6)
		}
		t.add(w.Name, seconds(w.Took), fmt.Sprintf("%.2f×", ratio), wanted, ok, percent(w.Spread, 0), seconds(w.Source), seconds(w.Written), seconds(w.Program),
			fmt.Sprintf("%.2f×", w.Processor().Seconds()/cmp.Or(yardstick.Processor().Seconds(), 1)), memory)
	}
	b.WriteString(t.String())
	for _, w := range s.Result.Work {
		var parts []string
		for _, p := range w.Phases {
			parts = append(parts, p.Name+" "+seconds(p.Took))
		}
		if len(parts) > 0 {
			b.WriteString("- " + w.Name + ": " + strings.Join(parts, ", ") + "\n")
		}
	}
	return b.String() + "\n"
}
