package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/bench/ids"
	"github.com/shardsnow/snow/bench/rows"
)

// rowsReport returns the part of RESULTS.md about primary keys.
func rowsReport(s *section[[]rows.Result]) string {
	var b strings.Builder
	b.WriteString("## Primary keys\n\n" + s.about([]string{
		"github.com/go-sql-driver/mysql", "github.com/jackc/pgx/v5", "github.com/google/uuid",
	}))
	b.WriteString("A table of orders with two secondary indexes, loaded over one connection with INSERT statements of 500 rows, each\n" +
		"committed and flushed to disk; the data grows past the server's buffer pool. Each load has a server and a data\n" +
		"directory of its own. Reads are by primary key, of rows drawn evenly from all. ± is half the distance between the\n" +
		"fastest and the slowest of several loads, and the other figures are from the middle one. A load that reached its\n" +
		"time limit shows the rows that it had inserted: its size and rates belong to a smaller table, which is an\n" +
		"advantage.\n\n")
	for _, engine := range engines(s.Result) {
		list := of(s.Result, engine)
		fmt.Fprintf(&b, "### %s\n\n%s, buffer pool of %s MB.\n\n%s",
			engine, list[0].Version, grouped(list[0].Pool>>20), keyTable(list))
	}
	return b.String()
}

// turnsReport returns the part of RESULTS.md about snow's keys beside
// AUTO_INCREMENT.
func turnsReport(s *section[[]rows.Turn]) string {
	var b strings.Builder
	b.WriteString("## Snow's keys beside AUTO_INCREMENT\n\n" + s.about([]string{"github.com/go-sql-driver/mysql", "github.com/jackc/pgx/v5"}))
	b.WriteString("The same table twice in one server, once with each key; INSERT statements of 500 rows take turns, so that whatever else\n" +
		"happens to the machine happens to both. The ratio is of the time of all statements. The range is from the ratios of\n" +
		"each twentieth of the load, without the two highest and the two lowest. The numbers that the database has assigned are\n" +
		"not read back. MySQL returns them at no cost, PostgreSQL only with RETURNING, so the target is for MariaDB only.\n\n")
	t := newTable(1, "server", "pool", "rows, each", "rows/s of snow over auto-increment", "range", "wanted", "met")
	for _, r := range s.Result {
		wanted, met, sorted := "≥ 1.00×", "yes", slices.Sorted(slices.Values(r.Blocks))
		switch {
		case r.Engine != rows.MariaDB:
			wanted, met = "–", "–"
		case r.Ratio < 1:
			met = "**no**"
		}
		span := "–"
		if n := len(sorted); n > 4 {
			span = fmt.Sprintf("%.2f–%.2f", sorted[2], sorted[n-3])
		}
		t.add(r.Engine+" "+r.Version, fmt.Sprintf("%d MB", r.Pool>>20), grouped(int64(r.Rows)), fmt.Sprintf("%.3f×", r.Ratio), span, wanted, met)
	}
	return b.String() + t.String()
}

// rateOf returns the rows per second of a key, or 0.
func rateOf(list []rows.Result, key string) float64 {
	for _, r := range list {
		if r.Key == key {
			return r.Overall
		}
	}
	return 0
}

func keyTable(list []rows.Result) string {
	base := rateOf(list, rows.AutoIncrement)
	t := newTable(2, "key", "column", "rows", "rows/s", "±", "of auto-increment", "last quarter", "size", "bytes/row", "read p50", "read p99")
	for _, r := range list {
		n := grouped(int64(r.Rows))
		if r.Rows < r.Target {
			n += " of " + grouped(int64(r.Target))
		}
		ratio := "–"
		if base > 0 {
			ratio = fmt.Sprintf("%.2f×", r.Overall/base)
		}
		spread := "–"
		if len(r.Runs) > 1 {
			spread = percent((slices.Max(r.Runs)-slices.Min(r.Runs))/2/r.Overall, 0)
		}
		t.add(r.Key, r.Column, n, grouped(int64(r.Overall)), spread, ratio, grouped(int64(r.LastQuarter)),
			fmt.Sprintf("%.0f MB", float64(r.Bytes)/1e6), fmt.Sprintf("%.0f", float64(r.Bytes)/float64(max(r.Rows, 1))),
			micros(r.ReadP50), micros(r.ReadP99))
	}
	return t.String()
}

func micros(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return ids.Duration(d)
}

// engines returns the engines in the order of their results.
func engines(list []rows.Result) []string {
	var names []string
	for _, r := range list {
		if !slices.Contains(names, r.Engine) {
			names = append(names, r.Engine)
		}
	}
	return names
}

func of(list []rows.Result, engine string) []rows.Result {
	return slices.DeleteFunc(slices.Clone(list), func(r rows.Result) bool { return r.Engine != engine })
}
