package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/bench/ids"
)

// idsReport returns the part of RESULTS.md about generators.
func idsReport(s *section[*ids.Result]) string {
	r := s.Result
	var paths []string
	for _, row := range r.Rows {
		paths = append(paths, row.Source)
	}
	slices.Sort(paths)
	paths = slices.DeleteFunc(slices.Compact(paths), func(p string) bool { return p == "" })

	var b strings.Builder
	b.WriteString("## Generators\n\n" + s.about(paths))
	b.WriteString("### Targets\n\n" + targetTable(r))
	b.WriteString("### Wall time for one id\n\n" + speedTable(r))
	b.WriteString("### CPU time and rate at saturation\n\n" + saturationTable(r))
	b.WriteString("### Latency of one call at saturation\n\n" + latencyTables(r))
	b.WriteString("### Latency of one call at 1,000 calls a second\n\n" + trickleTable(r))
	b.WriteString("### Evenness\n\n" + evennessTables(r))
	b.WriteString("### Texts\n\n" + textTable(r))
	b.WriteString("### Measured earlier, elsewhere\n\n" + earlier)
	return b.String()
}

func targetTable(r *ids.Result) string {
	t := newTable(1, "target", "wanted", "measured", "met")
	for _, x := range r.Targets() {
		switch {
		case x.Want == "":
			t.add(x.What, "–", x.Measured, "–")
		case x.Met:
			t.add(x.What, x.Want, x.Measured, "yes")
		default:
			t.add(x.What, x.Want, x.Measured, "**no**")
		}
	}
	return "Computed from the medians in the tables below. A format binds if it limits the rate. \"20 bits\" and \"24 bits\" of sequence\n" +
		"are layouts that do not bind; all other rows of snow have the layout 41+10+12 (timestamp, worker, sequence), which\n" +
		"allows 4,096 ids a millisecond. `Next` with 20 bits is compared with its floor, and with peers whose format does not\n" +
		"bind. `Fill(1000)` is compared with writing the slice, and has 24 bits, because 20 allow no more than an id per\n" +
		"0.95 ns. The floor is a reading of the monotonic clock and an atomic addition to one word, both inlined in the loop.\n" +
		"No target includes sony/sonyflake v1, whose fixed format allows 25,600 ids/s.\n\n" + t.String()
}

func speedTable(r *ids.Result) string {
	header := []string{"generator", "format"}
	for _, n := range r.Goroutines {
		header = append(header, ids.Goroutines(n), "±")
	}
	t := newTable(2, append(header, "allocs", "bytes")...)
	for _, row := range r.Rows {
		cells := []string{row.Name, row.Format}
		for _, n := range r.Goroutines {
			s := row.At(n)
			cells = append(cells, three(s.PerID()), percent(s.Spread(), 0))
		}
		t.add(append(cells, grouped(row.Allocs), grouped(row.Bytes))...)
	}
	return fmt.Sprintf("Nanoseconds of wall time for one id while that number of goroutines make as many ids as they can, GOMAXPROCS %d: with\n"+
		"several goroutines it is the inverse of their common rate. Medians of %d rounds of %v (%d of %v where the format\n"+
		"binds), after a warm-up that also uses up what a generator may borrow from the future. A round measures all generators.\n"+
		"± is half the distance from the fastest round to the slowest. Allocations and bytes are per call.\n\n",
		r.Procs, r.Options.Rounds, r.Options.Speed, r.Options.Rounds/max(r.Options.BoundEvery, 1), r.Options.SpeedBound) + t.String()
}

func saturationTable(r *ids.Result) string {
	header := []string{"generator", "format allows"}
	for _, what := range []string{"CPU s/M", "ids/s", "of format"} {
		for _, n := range r.Goroutines {
			if what == "CPU s/M" || n == 1 || n == 64 {
				header = append(header, fmt.Sprintf("%s, %d", what, n))
			}
		}
	}
	t := newTable(1, header...)
	for _, row := range r.Rows {
		if row.Kind == ids.Floor {
			continue
		}
		allows := "–"
		if row.PerSecond > 0 {
			allows = grouped(int64(row.PerSecond))
		}
		cells := []string{row.Name, allows}
		for _, n := range r.Goroutines {
			cells = append(cells, fmt.Sprintf("%.3f", row.At(n).CPUPerMillion()))
		}
		for _, n := range []int{1, 64} {
			cells = append(cells, grouped(int64(row.At(n).PerSecond())))
		}
		for _, n := range []int{1, 64} {
			cells = append(cells, percent(row.Share(n)/100, 2))
		}
		t.add(cells...)
	}
	return fmt.Sprintf("From the same rounds: seconds of CPU time of the whole process, in its code and in the kernel, for a million ids; ids in\n"+
		"a second; and their share of what the format allows. The number of goroutines is in the heading. Ids come a tick at a\n"+
		"time, and a tick of 1 ms more or less is %.2f %% of a round. influxdb/pkg/snowflake borrows from the future without\n"+
		"bound, so its format does not bind.\n\n", 100*ratio(time.Millisecond, r.Options.SpeedBound)) + t.String()
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

func percentileCells(p *ids.Percentiles) []string {
	if p == nil {
		return []string{"–", "–", "–", "–", "–"}
	}
	return []string{
		ids.Duration(p.P50), ids.Duration(p.P99), ids.Duration(p.P999), ids.Duration(p.P9999), ids.Duration(p.Max),
	}
}

func latencyTable(r *ids.Result, of func(*ids.Row) *ids.Percentiles) string {
	t := newTable(1, "generator", "p50", "p99", "p99.9", "p99.99", "max", "calls")
	for i := range r.Rows {
		if p := of(&r.Rows[i]); p != nil {
			t.add(append(append([]string{r.Rows[i].Name}, percentileCells(p)...), grouped(int64(p.Calls)))...)
		}
	}
	return t.String()
}

func latencyTables(r *ids.Result) string {
	at := func(n int) func(*ids.Row) *ids.Percentiles {
		return func(row *ids.Row) *ids.Percentiles { return row.LatencyAt(n) }
	}
	return fmt.Sprintf("Each call timed by itself for %v, after the warm-up. Nothing is subtracted: the empty call shows what timing costs. A\n"+
		"percentile is at most 3 %% too high. A call of `Fill` makes as many ids as its name says.\n\n1 goroutine:\n\n", r.Options.Latency) +
		latencyTable(r, at(1)) +
		"64 goroutines. If the format does not bind, they never wait. Go's scheduler interrupts a goroutine that does not wait\n" +
		"after 10 ms, and lets the others run. The maximum, and sometimes p99.99, is then that pause and says nothing about the\n" +
		"generator, as the empty call shows. If the format binds, goroutines sleep, and the maximum is the generator's.\n\n" +
		latencyTable(r, at(64))
}

func trickleTable(r *ids.Result) string {
	return fmt.Sprintf("%s calls of a new generator, one each millisecond. All generators are called in one goroutine, one after the\n"+
		"other in an order that rotates, so the processor's caches are cold.\n\n", grouped(int64(r.Options.TrickleCalls))) +
		latencyTable(r, func(row *ids.Row) *ids.Percentiles { return row.Trickle })
}

func evennessTables(r *ids.Result) string {
	header := []string{"generator"}
	for _, m := range ids.Moduli {
		header = append(header, fmt.Sprintf("mod %d", m))
	}
	shares, chis := newTable(1, header...), newTable(1, header...)
	even := []string{"*even*"}
	for _, m := range ids.Moduli {
		even = append(even, percent(1/float64(m), 1))
	}
	shares.add(even...)
	for _, row := range r.Rows {
		if len(row.Evenness) == 0 {
			continue
		}
		share, chi := []string{row.Name}, []string{row.Name}
		for _, e := range row.Evenness {
			c := three(e.ChiSquare)
			if !e.Passes() {
				c += " **fails**"
			}
			share, chi = append(share, percent(e.Largest(), 1)), append(chi, c)
		}
		shares.add(share...)
		chis.add(chi...)
	}
	return fmt.Sprintf("%s ids of a new generator, one each two milliseconds. An id is read as a number: the lowest 64 bits of longer ids,\n"+
		"and the counting part of nuid's text, in base 62. A process of nuid chooses its step at random when it starts, so its\n"+
		"row differs from run to run. A package that starts each tick at sequence 0 puts all ids into one residue of the powers\n"+
		"of two.\n\nShare of the fullest residue; results.json has all of them:\n\n",
		grouped(int64(r.Options.EvennessIDs))) + shares.String() +
		"Chi-square, and whether it fails at p = 0.01. Truly random ids fail one modulus in a hundred. A counter is more even\n" +
		"than random ids, and passes:\n\n" + chis.String()
}

func textTable(r *ids.Result) string {
	t := newTable(2, "call", "against", "ns", "±", "ratio", "allocs", "bytes")
	for _, x := range r.Texts {
		t.add(x.Name, x.Against, three(x.PerCall()), percent(x.Spread(), 0), fmt.Sprintf("%.2f×", x.Ratio()),
			grouped(x.Allocs), grouped(x.Bytes))
	}
	return fmt.Sprintf("One goroutine, 1,024 ids in turn, medians of %d rounds of %v. The ratio is to package strconv in the same rounds, with\n"+
		"as many decimal digits.\n\n", r.Options.Rounds, r.Options.Text) + t.String()
}

// earlier quotes figures that are not measured by this program.
var earlier = func() string {
	t := newTable(1, "generator", "ns, 1 goroutine", "2", "64", "allocs", "CPU s/M, 2", "64", "p99.9, 64", "max, 64", "fullest residue mod 64")
	t.add("godruoyi/go-snowflake", "244", "244", "244", "0", "0.483", "0.485", "381 ns", "912 ms", "100 %")
	t.add("yitter/idgenerator-go, default, 6 bits", "16,012", "17,808", "16,007", "0", "0.764", "0.934", "1.2 ms", "2.0 s", "100 %")
	t.add("yitter/idgenerator-go, 12 bits", "56.7", "478", "98.6", "0", "0.081", "0.198", "2.1 ms", "833 ms", "100 %")
	t.add("edwingeng/wuid", "2.49", "10.9", "3.99", "0", "0.024", "0.003", "160 ns", "937 ms", "1.6 %")
	t.add("gorm.io/sharding", "244", "243", "245", "0", "0.259", "0.243", "624 µs", "423 ms", "100 %")
	t.add("*bwmarrin/snowflake*", "244", "244", "243", "0", "0.258", "0.279", "4.1 ms", "60.0 ms", "100 %")
	t.add("*floor: time.Since and atomic Add*", "30.2", "25.5", "24.3", "0", "–", "–", "–", "–", "–")
	return "These packages are not part of this program. Their figures are from a run of another program, on a machine with two\n" +
		"cores, with Go 1.26.8. For scale, the last two rows are a package and a floor of the same run. Don't compare the figures\n" +
		"with the tables above. The ids of wuid have no time; it reserves blocks of numbers in a store. gorm.io/sharding calls\n" +
		"bwmarrin/snowflake.\n\n" + t.String()
}()
