package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/shardsnow/snow"
)

// findings are the data of the page.
type findings struct {
	before, after [2]tally // of orders, and after also of their lines
	orders, lines [2][]snow.ID
	killed        time.Time
	workers       []uint64 // of A, of B until it was killed, of the one that took over
}

// A tally says how many rows have a key that is also in the other database.
type tally struct{ clash, all int }

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page returns a self-contained HTML page.
func (s *story) page() []byte {
	var out bytes.Buffer
	f := s.seen
	err := pageTemplate.Execute(&out, map[string]any{
		"Orders":  count(f.after[0].all),
		"Before":  count(f.before[0].clash / 2),
		"After":   count(f.after[0].clash / 2),
		"Held":    s.held,
		"Claims":  s.held + s.failed,
		"Layout":  s.layout.String(),
		"Workers": f.workers,
		"Time":    s.overTime(),
		"Clashes": clashChart(f),
		"Shards":  s.spread("orders of each shard", "shard", "orders", f.orders),
		"Lines":   s.spread("order lines by the last 4 bits of the key", "id % 16", "order lines", f.lines),
		"Ranges":  s.ranges(),
	})
	if err != nil { // the template is part of the program
		return []byte(err.Error())
	}
	return out.Bytes()
}

// overTime draws how many keys each process had made at each moment, as the
// keys say.
func (s *story) overTime() template.HTML {
	names := []string{"A", "B, killed", "B, taken over"}
	made := make([][]time.Time, len(names))
	for database, ids := range s.seen.orders {
		// the last process may have got the number that A gave back
		of := s.seen.workers[min(database, len(s.seen.workers)):]
		for _, id := range ids {
			p, err := s.layout.Decompose(id)
			if i := slices.Index(of, p.Worker); err == nil && i >= 0 {
				made[database+i] = append(made[database+i], p.Time)
			}
		}
	}
	return lineChart("orders stored, by the time in their keys", names, made, s.seen.killed)
}

// ranges draws the keys of both databases on a line from the first key to the last.
func (s *story) ranges() template.HTML {
	var auto, snows [2][]float64
	for i, p := range s.purchases {
		for n := range p {
			auto[i] = append(auto[i], float64(n+1))
		}
	}
	first := min(s.seen.orders[0][0], s.seen.orders[1][0])
	for i, ids := range s.seen.orders {
		for _, id := range ids {
			snows[i] = append(snows[i], float64(id-first))
		}
	}
	return stripChart([]strip{{"AUTO_INCREMENT", auto}, {"snow", snows}})
}

// spread draws how many ids of A and of B end in each of the 16 values of the
// last bits.
func (s *story) spread(title, axis, rows string, ids [2][]snow.ID) template.HTML {
	var bars [16][2]int
	for i, some := range ids {
		for _, id := range some {
			bars[id%16][i]++
		}
	}
	return barChart(title, axis, rows, bars[:])
}

func clashChart(f findings) template.HTML {
	return shareChart("rows whose key is in the other database as well", []share{
		{"AUTO_INCREMENT, orders", f.before[0]},
		{"snow, orders", f.after[0]},
		{"snow, order lines", f.after[1]},
	})
}

func (t tally) String() string { return fmt.Sprintf("%s of %s", count(t.clash), count(t.all)) }
