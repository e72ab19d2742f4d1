package main

import (
	"fmt"
	"image/color"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shardsnow/snow/bench/rows"
)

// concurrentReport returns the part of RESULTS.md about keys that many connections insert.
func concurrentReport(s *section[[]rows.Table]) string {
	var b strings.Builder
	b.WriteString("## Many connections\n\n" + s.about([]string{"github.com/go-sql-driver/mysql", "github.com/jackc/pgx/v5", "github.com/google/uuid"}))
	b.WriteString("The same orders, inserted by many connections at once, each with a worker number of its own, or all with one process's,\n" +
		"whose generator they share. One server has the tables of all keys, which take turns.\n" +
		"Index is what is in the order of the primary key: InnoDB's clustered index, which has the rows, and PostgreSQL's index\n" +
		"of the primary key, which has not. Rates are medians of twenty turns, and so is the ratio to auto-increment's rate of\n" +
		"the same turn. Wanted: with `Clustered` an index of at most 1.12 × auto-increment's at one row a statement and 0.8 ×\n" +
		"at 20, and as many rows a second; in PostgreSQL an index no larger than `DefaultLayout`'s, which `Clustered`\n" +
		"has in one lane.\n\n")
	t := newTable(1, "server", "connections", "rows a statement", "key", "rows", "index, bytes/row", "of auto-increment", "table, bytes/row", "rows/s", "of auto-increment")
	for _, r := range s.Result {
		base := baseOf(s.Result, r)
		t.add(r.Engine+" "+r.Version, fmt.Sprint(r.Connections), fmt.Sprint(r.PerStatement), r.Key, grouped(int64(r.Rows)),
			fmt.Sprintf("%.0f", perRow(r.Index, r)), fmt.Sprintf("%.2f×", perRow(r.Index, r)/perRow(base.Index, base)),
			fmt.Sprintf("%.0f", perRow(r.Bytes, r)), grouped(int64(median(r.Blocks))), fmt.Sprintf("%.2f×", rateRatio(r, base)))
	}
	return b.String() + t.String()
}

func perRow(bytes int64, r rows.Table) float64 { return float64(bytes) / float64(max(r.Rows, 1)) }

// baseOf returns the table of auto-increment that was measured with r.
func baseOf(list []rows.Table, r rows.Table) rows.Table {
	for _, b := range list {
		if b.Key == rows.AutoIncrement && b.Engine == r.Engine && b.Connections == r.Connections && b.PerStatement == r.PerStatement {
			return b
		}
	}
	return r
}

// rateRatio is the median of the ratios of the turns.
func rateRatio(r, base rows.Table) float64 {
	var ratios []float64
	for i := range min(len(r.Blocks), len(base.Blocks)) {
		ratios = append(ratios, r.Blocks[i]/base.Blocks[i])
	}
	return median(ratios)
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// concurrentNames are the keys of the charts, from the top down.
var concurrentNames = []struct {
	key, name string
	color     color.RGBA
}{
	{rows.OneProcess, "snow Clustered, shared", ours},
	{rows.Clustered, "snow Clustered", ours},
	{rows.Snow, "snow Default", ours},
	{rows.AutoIncrement, "AUTO_INCREMENT", theirs},
	{rows.UUIDv7, "UUIDv7", theirs},
	{rows.UUIDv4, "UUIDv4", theirs},
}

// concurrentCharts draws the sizes of clustered indexes with 16 connections: a chart for 1 row a statement and one for
// 20, in which bars of the same length are the same size.
func concurrentCharts(dir string, s *section[[]rows.Table]) error {
	statements := []int{1, 20}
	charts, high := make([]bars, len(statements)), 0.0
	below := make([]string, len(statements))
	for i, statement := range statements {
		charts[i], below[i] = concurrentBars(s.Result, statement)
		high = max(high, charts[i].highest())
	}
	for i, statement := range statements {
		if len(charts[i].names) == 0 {
			continue
		}
		charts[i].high = high
		title := "Clustered index, 1 row a statement"
		if statement > 1 {
			title = fmt.Sprintf("Clustered index, %d rows a statement", statement)
		}
		path := filepath.Join(dir, fmt.Sprintf("clustered-%d.svg", statement))
		if err := writeChart(path, caption{title, below[i], s.foot()}, charts[i].height(), charts[i].paint); err != nil {
			return err
		}
	}
	return nil
}

// concurrentBars returns the sizes of the keys that were measured in MariaDB and MySQL, or in the only one of the two
// that was measured, and says how.
func concurrentBars(list []rows.Table, statement int) (b bars, below string) {
	var engines, pools []string
	tables := make(map[string]map[string]rows.Table) // by key and engine
	for _, r := range list {
		if r.Connections != 16 || r.PerStatement != statement || r.Engine == rows.PostgreSQL {
			continue
		}
		if tables[r.Key] == nil {
			tables[r.Key] = make(map[string]rows.Table)
		}
		tables[r.Key][r.Engine] = r
		if !slices.Contains(engines, r.Engine) {
			engines = append(engines, r.Engine)
			version, _, _ := strings.Cut(r.Version, "-")
			pools = append(pools, fmt.Sprintf("%s MB in %s %s", grouped(r.Pool>>20), r.Engine, version))
		}
	}
	b.unit = "bytes a row"
	if len(engines) == 2 {
		b.legend = [2]string(engines)
	}
	for _, key := range concurrentNames {
		if len(tables[key.key]) < max(len(engines), 1) {
			continue
		}
		n := namedBars{name: key.name, color: key.color}
		for _, engine := range engines {
			size := perRow(tables[key.key][engine].Index, tables[key.key][engine])
			n.bars = append(n.bars, bar{size, fmt.Sprintf("%.0f", size)})
		}
		b.names = append(b.names, n)
	}
	return b, "Rows from 16 connections at once. The buffer pool for all tables has " + strings.Join(pools, ", and ") +
		". Default and Clustered are layouts of snow. Each connection has a worker number of its own. In “shared” all use one generator."
}
