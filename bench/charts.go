package main

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/shardsnow/snow/bench/ids"
	"github.com/shardsnow/snow/bench/rows"
)

func (r results) writeCharts(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if r.IDs != nil {
		for _, chart := range idsCharts {
			if err := chart.write(dir, r.IDs.Result); err != nil {
				return err
			}
		}
	}
	if r.Rows != nil {
		for _, engine := range engines(r.Rows.Result) {
			if err := rowsCharts(dir, engine, of(r.Rows.Result, engine)); err != nil {
				return err
			}
		}
	}
	return nil
}

// An idsChart shows one figure of each row.
type idsChart struct {
	file, title, below string
	linear             bool
	value              func(row *ids.Row) float64 // NaN leaves the row out
	label              func(x float64) string
}

var idsCharts = []idsChart{
	{
		file: "serial.svg", title: "Nanoseconds for one id, 1 goroutine",
		below: "Wall time; the bars are logarithmic. * at the limit of its format. Pale: what can't be done without.",
		value: func(row *ids.Row) float64 { return ifShown(row, row.At(1).PerID()) },
		label: func(x float64) string { return three(x) + " ns" },
	},
	{
		file: "speed.svg", title: "Nanoseconds for one id, 64 goroutines",
		below: "Wall time; the bars are logarithmic. * at the limit of its format. Pale: what can't be done without.",
		value: func(row *ids.Row) float64 { return ifShown(row, row.At(64).PerID()) },
		label: func(x float64) string { return three(x) + " ns" },
	},
	{
		file: "cpu.svg", title: "CPU seconds for a million ids at the limit of the format, 64 goroutines",
		below: "Callers wait there, asleep or spinning. The bars are logarithmic.",
		value: func(row *ids.Row) float64 {
			if row.PerSecond == 0 {
				return math.NaN()
			}
			return row.At(64).CPUPerMillion()
		},
		label: func(x float64) string { return fmt.Sprintf("%.3f s", x) },
	},
	{
		file: "latency.svg", title: "One call in a thousand takes longer than this: p99.9, 64 goroutines",
		below: "The bars are logarithmic. Fill(n) makes n ids in a call. * at the limit of its format. Pale: what timing itself takes.",
		value: func(row *ids.Row) float64 {
			if p := row.LatencyAt(64); p != nil {
				return float64(p.P999)
			}
			return math.NaN()
		},
		label: func(x float64) string { return ids.Duration(time.Duration(x)) },
	},
	{
		file: "evenness.svg", title: "Share of ids in the fullest of 64 tables, by id modulo 64",
		below: "One id every 2 ms. Even is 1.6 %.", linear: true,
		value: func(row *ids.Row) float64 {
			for _, e := range row.Evenness {
				if e.Modulus == 64 {
					return 100 * e.Largest()
				}
			}
			return math.NaN()
		},
		label: func(x float64) string { return fmt.Sprintf("%.1f %%", x) },
	},
}

// ifShown returns x, or NaN for floors that are not worth a bar.
func ifShown(row *ids.Row, x float64) float64 {
	if row.Kind == ids.Floor && row.Name != ids.FloorID && row.Name != ids.FloorWrite {
		return math.NaN()
	}
	return x
}

func (ch idsChart) write(dir string, r *ids.Result) error {
	var bars []bar
	for i := range r.Rows {
		row := &r.Rows[i]
		x := ch.value(row)
		if math.IsNaN(x) || x <= 0 {
			continue
		}
		name := row.Name
		if row.PerSecond > 0 && strings.Contains(ch.below, "*") {
			name += " *"
		}
		bars = append(bars, bar{name, x, ch.label(x), rowColor(row.Kind)})
	}
	if len(bars) == 0 {
		return nil
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Compare(a.value, b.value) })
	low, high := bars[0].value, bars[len(bars)-1].value
	norm := func(x float64) float64 { return x / high }
	if !ch.linear {
		low /= 2 // so that the shortest bar is visible
		norm = func(x float64) float64 { return math.Log(x/low) / math.Log(high/low) }
	}
	return writeChart(filepath.Join(dir, ch.file), ch.title, ch.below, barsHeight(len(bars)), func(c draw.Canvas) {
		paintBars(c, bars, norm)
	})
}

func rowColor(k ids.Kind) color.Color {
	switch k {
	case ids.Snow:
		return ours
	case ids.Floor:
		return floors
	default:
		return theirs
	}
}

// rowsCharts draws the rate of each key over the rows, and the sizes.
func rowsCharts(dir, engine string, list []rows.Result) error {
	name := strings.ToLower(engine)
	below := fmt.Sprintf("%s, buffer pool of %s MB, two secondary indexes, every commit flushed.", engine, grouped(list[0].Pool>>20))
	err := writeChart(filepath.Join(dir, "rows-"+name+".svg"), "Rows a second as the table grows", below, 330, func(c draw.Canvas) {
		paintRates(c, list)
	})
	if err != nil {
		return err
	}
	var bars []bar
	for _, r := range list {
		perRow := float64(r.Bytes) / float64(max(r.Rows, 1))
		color := color.Color(theirs)
		if r.Key == rows.Snow {
			color = ours
		}
		bars = append(bars, bar{r.Key, perRow, fmt.Sprintf("%.0f bytes", perRow), color})
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Compare(a.value, b.value) })
	high := bars[len(bars)-1].value
	return writeChart(filepath.Join(dir, "size-"+name+".svg"), "Size on disk of a row with its indexes", below, barsHeight(len(bars)), func(c draw.Canvas) {
		paintBars(c, bars, func(x float64) float64 { return x / high })
	})
}

// keyColors tell the keys apart, next to snow's.
var keyColors = map[string]color.Color{
	rows.Snow:          ours,
	rows.AutoIncrement: color.RGBA{0x24, 0x29, 0x2f, 0xff},
	rows.UUIDv7:        color.RGBA{0x2d, 0xa4, 0x4e, 0xff},
	rows.UUIDv4:        color.RGBA{0xe1, 0x6f, 0x24, 0xff},
	rows.UUIDv4Text:    color.RGBA{0xb3, 0x5b, 0xc9, 0xff},
}

// paintRates draws a line for each key, and the legend to the right of the lines.
func paintRates(c draw.Canvas, list []rows.Result) {
	const legend, pitch vg.Length = 110, 18
	p := plot.New()
	p.BackgroundColor = color.Transparent
	p.Add(&plotter.Grid{Horizontal: draw.LineStyle{Color: grid, Width: 0.7}})
	p.X.Min, p.Y.Min = 0, 0
	byRate := slices.SortedStableFunc(slices.Values(list), func(a, b rows.Result) int { return cmp.Compare(b.Overall, a.Overall) })
	for i, r := range byRate {
		points := make(plotter.XYs, 0, len(r.RowsPerSecond))
		for _, at := range r.RowsPerSecond {
			points = append(points, plotter.XY{X: float64(at.Rows), Y: at.PerSecond})
		}
		line, name := draw.LineStyle{Color: keyColors[r.Key], Width: 1.4}, style(10, ink, text.XLeft, text.YCenter)
		if line.Color == nil {
			line.Color = theirs
		}
		if r.Key == rows.Snow {
			line.Width, name = 2.4, bold(name)
		}
		p.Add(&plotter.Line{XYs: points, LineStyle: line})
		x, y := c.Max.X-legend+16, c.Max.Y-vg.Length(i)*pitch-pitch/2
		c.StrokeLine2(line, x, y, x+16, y)
		c.FillText(name, vg.Point{X: x + 22, Y: y}, r.Key)
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = faint, faint
		axis.Tick.Label.Font, axis.Tick.Label.Color = style(9, faint, 0, 0).Font, faint
		axis.Label.TextStyle.Font, axis.Label.TextStyle.Color = style(10, faint, 0, 0).Font, faint
		axis.Tick.Marker = thousands{}
		axis.Padding = 0
	}
	p.X.Label.Text, p.Y.Label.Text = "rows in the table", "rows/s"
	p.X.Label.Padding, p.Y.Label.Padding = 4, 4
	p.Draw(draw.Crop(c, 0, -legend, 0, 0))
}

// thousands labels ticks with whole numbers.
type thousands struct{}

func (thousands) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = grouped(int64(math.Round(ticks[i].Value)))
		}
	}
	return ticks
}
