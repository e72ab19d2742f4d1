package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/shardsnow/snow/bench/merge"
)

// mergeReport returns the part of RESULTS.md about merges.
func mergeReport(s *section[merge.Result]) string {
	var b strings.Builder
	b.WriteString("## Merges\n\n" + s.about([]string{"github.com/go-sql-driver/mysql"}))
	b.WriteString("MariaDB " + s.Result.Version + ".\n\n" +
		"`merge` with two writers, source and target on one server beside it. The floor is INSERT … SELECT of the same\n" +
		"rows between the same databases: a statement and a transaction for each table; no row leaves the server. Each\n" +
		"round has a new target. Times are from the middle round; ± is half the distance between the fastest and the slowest\n" +
		"run. Rows of the tables that are referred to are counted as well.\n\n")
	t := newTable(1, "table", "rows", "floor", "run", "rows/s", "of the floor's", "wanted", "met", "±", "without verification")
	for _, c := range s.Result.Cases {
		t.add(c.Name, grouped(int64(c.Rows)), seconds(c.Floor), seconds(c.Run), grouped(int64(float64(c.Rows)/c.Run.Seconds())),
			fmt.Sprintf("%.2f×", c.Ratio()), fmt.Sprintf("≥ %.2f×", c.Target), met(c.Ratio() >= c.Target), percent(c.Spread, 0),
			fmt.Sprintf("%.2f×", c.Floor.Seconds()/c.Copying().Seconds()))
	}
	b.WriteString(t.String())
	for _, c := range s.Result.Cases {
		var parts []string
		for _, p := range c.Phases {
			parts = append(parts, p.Name+" "+seconds(p.Took))
		}
		b.WriteString("- " + c.Name + ": " + strings.Join(parts, ", ") + "\n")
	}
	if len(s.Result.Memory) > 1 {
		b.WriteString("\n### Memory\n\n" + memoryTarget(s.Result.Memory))
		t := newTable(0, "rows", "peak of resident memory", "time")
		for _, p := range s.Result.Memory {
			t.add(grouped(int64(p.Rows)), fmt.Sprintf("%.1f MB", float64(p.Bytes)/1e6), seconds(p.Took))
		}
		b.WriteString(t.String())
	}
	return strings.TrimRight(b.String(), "\n") + "\n\n"
}

// memoryTarget says whether memory is the same for any number of rows.
func memoryTarget(list []merge.Peak) string {
	first, last := float64(list[0].Bytes), float64(list[len(list)-1].Bytes)
	off := last/first - 1
	return fmt.Sprintf("A process that merges the last of the tables above, with three references in each row, and does nothing else. Target:\n"+
		"the same peak ± 10 %% for any number of rows. Measured: **%+.1f %%: %s**.\n\n", 100*off, map[bool]string{true: "met", false: "not met"}[math.Abs(off) <= 0.1])
}

func met(ok bool) string {
	if ok {
		return "yes"
	}
	return "**no**"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
