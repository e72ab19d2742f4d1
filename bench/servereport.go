package main

import (
	"fmt"
	"strings"

	"github.com/shardsnow/snow/bench/gormcost"
	"github.com/shardsnow/snow/bench/serve"
)

// serveReport returns the part of RESULTS.md about the service of ids.
func serveReport(s *section[serve.Result]) string {
	r := s.Result
	var b strings.Builder
	b.WriteString("## The service of ids\n\n" + s.about([]string{"github.com/go-sql-driver/mysql"}))
	fmt.Fprintf(&b, "`httpsnow` on loopback with %d connections, each sending its next request after an answer, beside an empty handler\n"+
		"of net/http and SELECT NEXTVAL of MariaDB %s, from one process. All of them take turns. Ratios are the medians\n"+
		"of %d rounds.\n\n", r.Connections, orUnknown(r.Version), len(r.Rounds))
	t := newTable(1, "target", "wanted", "measured", "met")
	single, p99, batch := r.SingleRate(), r.SingleP99(), r.BatchRate()
	t.add("rate of single ids over the empty handler's", "≥ 0.9×", times(single), met(single >= 0.9))
	t.add("their p99 over the empty handler's", "≤ 1.2×", times(p99), met(p99 <= 1.2))
	t.add(fmt.Sprintf("ids a second, %d a request in binary, over single ids", serve.Batch), "≥ 50×", times(batch), met(batch >= 50))
	b.WriteString(t.String() + "\n")
	t = newTable(1, "request", "answers/s", "ids/s", "p99", "single ids over it")
	add := func(name string, ids float64, load func(serve.Round) serve.Load) {
		var rates, times99, over []float64
		for _, round := range r.Rounds {
			l := load(round)
			rates, times99, over = append(rates, l.Rate), append(times99, float64(l.P99)), append(over, round.Single.Rate/l.Rate)
		}
		rate := gormcost.Median(rates)
		t.add(name, grouped(int64(rate)), grouped(int64(rate*ids)), nanos(times99), times(gormcost.Median(over)))
	}
	add("an empty handler", 0, func(r serve.Round) serve.Load { return r.Empty })
	add("one id, JSON", 1, func(r serve.Round) serve.Load { return r.Single })
	add(fmt.Sprintf("%d ids, binary", serve.Batch), serve.Batch, func(r serve.Round) serve.Load { return r.Batch })
	add("a value of a sequence, SQL", 1, func(r serve.Round) serve.Load { return r.Sequence })
	return b.String() + t.String() + "\n"
}
