package ids

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// A Target is a goal of this project, and the measurement of it in the run. If
// nothing is wanted, the measurement is only for comparison.
type Target struct {
	What     string
	Want     string
	Measured string
	Met      bool
}

// atMost and atLeast make Targets. A measurement that is missing is NaN, which
// meets no target.
func atMost(what string, got, want float64, unit string) Target {
	return Target{what, "≤ " + number(want) + unit, measured(got, unit), got <= want}
}

func atLeast(what string, got, want float64, unit string) Target {
	return Target{what, "≥ " + number(want) + unit, measured(got, unit), got >= want}
}

func below(what string, got, want time.Duration) Target {
	return Target{what, "< " + Duration(want), Duration(got), got > 0 && got < want}
}

func measured(x float64, unit string) string {
	if math.IsNaN(x) {
		return "–"
	}
	return number(x) + unit
}

func number(x float64) string {
	if math.Abs(x) >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// Duration prints d with three digits.
func Duration(d time.Duration) string {
	switch x := float64(d); {
	case x < 1e3:
		return fmt.Sprintf("%d ns", d)
	case x < 1e6:
		return number(x/1e3) + " µs"
	case x < 1e9:
		return number(x/1e6) + " ms"
	default:
		return number(x/1e9) + " s"
	}
}

// Targets computes the targets from what was measured in r.
func (r *Result) Targets() []Target {
	next, wide, floor := r.row(SnowNext), r.row(SnowNextWide), r.row(FloorID)
	fill, many, write := r.row(SnowFill64), r.row(SnowFill1000Wide), r.row(FloorWrite)
	bw, bwWide := r.row(Bwmarrin), r.row(BwmarrinWide)
	sf, sfWide := r.row(Sonyflake12), r.row(Sonyflake20)

	list := []Target{
		atMost("Next over its floor, 1 goroutine", wide.At(1).PerID()/floor.At(1).PerID(), 1.15, "×"),
		atMost("Next over its floor, 2 goroutines", wide.At(2).PerID()/floor.At(2).PerID(), 1.15, "×"),
	}
	for _, n := range []int{1, 64} {
		list = append(list, atMost("Next with 16 lanes over Next without, "+Goroutines(n), r.row(SnowNextLanes).At(n).PerID()/wide.At(n).PerID(), 1.1, "×"))
	}
	for _, peer := range []*Row{bwWide, sfWide} {
		list = append(list, atLeast("ids/s of Next over "+peer.Name+", 64 goroutines",
			wide.At(64).PerSecond()/peer.At(64).PerSecond(), 3, "×"))
	}
	list = append(list, Target{
		What:     "ids/s of Next over " + Influx + ", which has no mutex, 64 goroutines",
		Measured: measured(wide.At(64).PerSecond()/r.row(Influx).At(64).PerSecond(), "×"),
	})
	for _, pair := range [][2]*Row{{wide, bwWide}, {wide, sfWide}, {next, bw}, {next, sf}} {
		list = append(list, below(fmt.Sprintf("p99.9 of a call at saturation, 64 goroutines: %s against %s", pair[0].Name, pair[1].Name),
			pair[0].latency(64).P999, pair[1].latency(64).P999))
	}
	list = append(list, atMost("Fill(1000) over writing the slice, for one id", many.At(1).PerID()-write.At(1).PerID(), 0.5, " ns"))
	for _, row := range []*Row{next, fill} {
		for _, n := range latencyGoroutines {
			list = append(list, share(row, n))
		}
	}
	for _, n := range latencyGoroutines {
		list = append(list,
			atLeast(fmt.Sprintf("CPU time of %s over Next, for one id at saturation, %s", Bwmarrin, Goroutines(n)),
				bw.At(n).CPUPerMillion()/next.At(n).CPUPerMillion(), 5, "×"),
			atLeast(fmt.Sprintf("CPU time of %s over Fill(64), for one id at saturation, %s", Bwmarrin, Goroutines(n)),
				bw.At(n).CPUPerMillion()/fill.At(n).CPUPerMillion(), 15, "×"))
	}
	list = append(list, below("worst call of Next at saturation, 64 goroutines", next.latency(64).Max, 10*time.Millisecond))
	return append(list, r.allocTarget(), r.evenTarget(), r.textTarget(), r.textAllocTarget())
}

// Goroutines returns n with its unit.
func Goroutines(n int) string {
	if n == 1 {
		return "1 goroutine"
	}
	return fmt.Sprintf("%d goroutines", n)
}

// row returns the row with this name, or one without measurements.
func (r *Result) row(name string) *Row { return cmp.Or(r.Row(name), &Row{Name: name}) }

func (r *Row) latency(goroutines int) Percentiles {
	return *cmp.Or(r.LatencyAt(goroutines), &Percentiles{})
}

// Share returns the ids that were made with this number of goroutines, in percent
// of the format's limit. It is NaN if the format does not limit the rate.
func (r *Row) Share(goroutines int) float64 {
	if r.PerSecond == 0 {
		return math.NaN()
	}
	return 100 * r.At(goroutines).PerSecond() / r.PerSecond
}

func share(row *Row, goroutines int) Target {
	got, text := row.Share(goroutines), "–"
	if !math.IsNaN(got) {
		text = fmt.Sprintf("%.2f %%", got)
	}
	return Target{fmt.Sprintf("share of the layout's rate, %s, %s", row.Name, Goroutines(goroutines)), "≥ 99.9 %", text, got >= 99.9}
}

func (r *Result) allocTarget() Target {
	most, n := int64(0), 0
	for _, row := range r.Rows {
		if row.Kind == Snow {
			most, n = max(most, row.Allocs), n+1
		}
	}
	return Target{"allocations of Next and Fill", "0", fmt.Sprint(most), n > 0 && most == 0}
}

func (r *Result) evenTarget() Target {
	row := r.row(SnowNext)
	passed := 0
	for _, e := range row.Evenness {
		if e.Passes() {
			passed++
		}
	}
	return Target{
		"moduli with even ids of Next", fmt.Sprintf("all %d", len(Moduli)),
		fmt.Sprint(passed), passed == len(Moduli),
	}
}

func (r *Result) textTarget() Target {
	if len(r.Texts) == 0 {
		return atMost("texts over strconv", math.NaN(), 1.3, "×")
	}
	worst := slices.MaxFunc(r.Texts, func(a, b Text) int { return cmp.Compare(a.Ratio(), b.Ratio()) })
	return atMost(fmt.Sprintf("texts over strconv, the slowest: %s", worst.Name), worst.Ratio(), 1.3, "×")
}

func (r *Result) textAllocTarget() Target {
	most := int64(0)
	for _, t := range r.Texts {
		most = max(most, t.Allocs)
	}
	return Target{"allocations of a text", "≤ 1", fmt.Sprint(most), len(r.Texts) > 0 && most <= 1}
}
