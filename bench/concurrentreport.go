package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"

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

// concurrentChart draws the sizes of MariaDB's clustered index with 16 connections.
func concurrentChart(dir string, s *section[[]rows.Table]) error {
	var bars []bar
	var pool string
	for _, statement := range []int{1, 20} {
		for _, r := range s.Result {
			if r.Engine != rows.MariaDB || r.Connections != 16 || r.PerStatement != statement {
				continue
			}
			pool = grouped(r.Pool >> 20)
			name := map[string]string{rows.AutoIncrement: "AUTO_INCREMENT", rows.Snow: "Default", rows.Clustered: "Clustered", rows.OneProcess: "Clustered, one process"}[r.Key]
			if name == "" {
				name = r.Key
			}
			color := theirs
			if r.Key == rows.Clustered || r.Key == rows.OneProcess {
				color = ours
			}
			bars = append(bars, bar{fmt.Sprintf("%s, %d", name, statement), perRow(r.Index, r), fmt.Sprintf("%.0f", perRow(r.Index, r)), color})
		}
	}
	if len(bars) == 0 {
		return nil
	}
	text := caption{"Clustered index where 16 connections insert", fmt.Sprintf("MariaDB, 1 and 20 rows a statement, two secondary indexes, "+
		"buffer pool of %s MB for all tables. Default and Clustered are layouts of snow.", pool), s.foot()}
	return writeChart(filepath.Join(dir, "clustered.svg"), text, barsHeight(len(bars)), func(c draw.Canvas) { paintBars(c, bars, "bytes a row") })
}
