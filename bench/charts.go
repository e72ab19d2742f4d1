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
			if err := chart.write(dir, r.IDs.Result, r.IDs.foot()); err != nil {
				return err
			}
		}
	}
	if r.Rows != nil {
		if err := rowsChart(dir, r.Rows); err != nil {
			return err
		}
	}
	if r.Concurrent != nil {
		if err := concurrentCharts(dir, r.Concurrent); err != nil {
			return err
		}
	}
	if r.Fleet != nil && len(r.Fleet.Result) > 0 {
		return fleetChart(dir, r.Fleet)
	}
	return nil
}

// foot is the line of a chart that says where and when it was measured.
func (s *section[T]) foot() string {
	m := s.Machine
	cpu := strings.NewReplacer("(R)", "", " Processor", "").Replace(orUnknown(m.CPU))
	foot := fmt.Sprintf("%s, %d cores, %s, %s", cpu, m.Cores, m.Go, s.Date.Format(time.DateOnly))
	if s.Quick {
		foot += ", a quick run"
	}
	return foot
}

// An idsChart shows one figure of some rows.
type idsChart struct {
	file         string
	title, below string
	unit         string
	names        map[string]string                        // names of the rows that can be compared
	goroutines   []int                                    // one or two numbers of them, with a bar each
	value        func(r *ids.Row, goroutines int) float64 // NaN leaves the row out
	label        func(x float64) string
}

var idsCharts = []idsChart{
	{
		file: "evenness.svg", title: "Ids in the fullest of 64 tables",
		below: "The table is id % 64, and an id is made every 2 ms. Evenly spread, each table has 1.6 % of them.",
		unit:  "% of all ids",
		names: map[string]string{
			ids.SnowNext: "snow", ids.Bwmarrin: "bwmarrin", "sony/sonyflake v1": "sonyflake v1", "sony/sonyflake v2": "sonyflake v2",
			ids.Influx: "influxdb", "google/uuid v4": "uuid v4, at random",
		},
		goroutines: []int{1},
		value: func(row *ids.Row, _ int) float64 {
			for _, e := range row.Evenness {
				if e.Modulus == 64 {
					return 100 * e.Largest()
				}
			}
			return math.NaN()
		},
		label: func(x float64) string { return fmt.Sprintf("%.1f %%", x) },
	},
	{
		file: "speed.svg", title: "Time for one id, where no format sets a limit",
		below: "1 goroutine, and 64 at once, make as many as they can. A Snowflake id needs at least the reading of a clock and an atomic addition.",
		unit:  "nanoseconds for one id",
		names: map[string]string{
			ids.SnowNextWide: "snow, 20 bits", ids.BwmarrinWide: "bwmarrin, 20 bits", ids.Sonyflake20: "sonyflake v2, 20 bits", ids.Influx: "influxdb",
			"rs/xid": "xid", "oklog/ulid, Make": "ulid", "google/uuid v4": "uuid v4", "google/uuid v7": "uuid v7", "segmentio/ksuid": "ksuid",
			"nats-io/nuid": "nuid", ids.FloorID: "clock and addition",
		},
		goroutines: []int{1, 64},
		value:      func(row *ids.Row, n int) float64 { return row.At(n).PerID() },
		label:      func(x float64) string { return three(x) + " ns" },
	},
	{
		file: "cpu.svg", title: "CPU time of a million ids, at a format's limit",
		below: "64 goroutines ask for more ids than the format allows, so they wait, asleep or spinning. 4,096 ids a millisecond are allowed for snow, " +
			"bwmarrin and sonyflake v2 with 12 bits, and 256 in 10 ms for the others.",
		unit: "seconds of CPU time",
		names: map[string]string{
			ids.SnowNext: "snow, Next", "snow Fill(64)": "snow, Fill(64)", ids.Bwmarrin: "bwmarrin", ids.Sonyflake12: "sonyflake v2, 12 bits",
			"sony/sonyflake v1": "sonyflake v1", "sony/sonyflake v2": "sonyflake v2",
		},
		goroutines: []int{64},
		value:      func(row *ids.Row, n int) float64 { return row.At(n).CPUPerMillion() },
		label:      func(x float64) string { return fmt.Sprintf("%.3f s", x) },
	},
}

func (ch idsChart) write(dir string, r *ids.Result, foot string) error {
	b := bars{unit: ch.unit}
	if len(ch.goroutines) == 2 {
		b.legend = [2]string{inWords(ch.goroutines[0]), inWords(ch.goroutines[1])}
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		n := namedBars{name: ch.names[row.Name], color: rowColor(row.Kind)}
		if n.name == "" {
			continue
		}
		for _, goroutines := range ch.goroutines {
			if x := ch.value(row, goroutines); x > 0 {
				n.bars = append(n.bars, bar{x, ch.label(x)})
			}
		}
		if len(n.bars) == len(ch.goroutines) {
			b.names = append(b.names, n)
		}
	}
	if len(b.names) == 0 {
		return nil
	}
	slices.SortStableFunc(b.names, func(x, y namedBars) int { return cmp.Compare(x.bars[0].value, y.bars[0].value) })
	return writeChart(filepath.Join(dir, ch.file), caption{ch.title, ch.below, foot}, b.height(), b.paint)
}

func inWords(goroutines int) string {
	if goroutines == 1 {
		return "1 goroutine"
	}
	return fmt.Sprintf("%d goroutines", goroutines)
}

func rowColor(k ids.Kind) color.RGBA {
	switch k {
	case ids.Snow:
		return ours
	case ids.Floor:
		return floors
	default:
		return theirs
	}
}

// rowsChart draws the rate of each key over the rows in MariaDB. In PostgreSQL the lines of the keys cross too often to
// be told apart: the report has their figures.
func rowsChart(dir string, s *section[[]rows.Result]) error {
	list := of(s.Result, rows.MariaDB)
	if len(list) == 0 {
		return nil
	}
	version, _, _ := strings.Cut(strings.Fields(list[0].Version + " ?")[0], "-")
	below := fmt.Sprintf("%s %s, buffer pool of %s MB, two secondary indexes, every commit flushed. Each key has a server of its own.",
		rows.MariaDB, version, grouped(list[0].Pool>>20))
	text := caption{"Inserted rows a second as the table grows", below, s.foot()}
	return writeChart(filepath.Join(dir, "rows-mariadb.svg"), text, 250, func(c draw.Canvas) { paintRates(c, list) })
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
	const legend, pitch vg.Length = 112, 19
	p := plot.New()
	p.BackgroundColor = color.Transparent
	p.Add(&plotter.Grid{Horizontal: draw.LineStyle{Color: grid, Width: 0.7}})
	p.X.Min, p.Y.Min = 0, 0
	byRate := slices.SortedStableFunc(slices.Values(list), func(a, b rows.Result) int { return cmp.Compare(b.Overall, a.Overall) })
	for i, r := range byRate {
		points := make(plotter.XYs, 0, len(r.RowsPerSecond))
		for _, at := range r.RowsPerSecond {
			points = append(points, plotter.XY{X: float64(at.Rows) / 1e6, Y: at.PerSecond / 1e3})
		}
		line, name := draw.LineStyle{Color: keyColors[r.Key], Width: 1.4}, style(textSize, ink, text.XLeft, text.YCenter)
		if line.Color == nil {
			line.Color = theirs
		}
		if r.Key == rows.Snow {
			line.Width, name = 2.4, bold(name)
		}
		p.Add(&plotter.Line{XYs: points, LineStyle: line})
		x, y := c.Max.X-legend+8, c.Max.Y-vg.Length(i)*pitch-pitch/2
		c.StrokeLine2(line, x, y, x+14, y)
		c.FillText(name, vg.Point{X: x + 18, Y: y}, r.Key)
	}
	styleAxes(p, "million rows in the table", "thousand rows a second")
	p.Draw(draw.Crop(c, 0, -legend, 0, 0))
}

func styleAxes(p *plot.Plot, x, y string) {
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = faint, faint
		axis.Tick.Label.Font, axis.Tick.Label.Color = style(smallSize, faint, 0, 0).Font, faint
		axis.Label.TextStyle.Font, axis.Label.TextStyle.Color = style(smallSize, faint, 0, 0).Font, faint
		axis.Padding, axis.Label.Padding = 0, 4
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
}
