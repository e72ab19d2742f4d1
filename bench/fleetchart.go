package main

import (
	"fmt"
	"image/color"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/shardsnow/snow/bench/fleet"
)

// fleetMost is how many leases the chart of fleets goes to.
const fleetMost = 100_000

// fleetColors tell the stores apart.
var fleetColors = []color.Color{ours, color.RGBA{0xe1, 0x6f, 0x24, 0xff}, color.RGBA{0x2d, 0xa4, 0x4e, 0xff}, color.RGBA{0xb3, 0x5b, 0xc9, 0xff}}

// fleetChart draws the cores that a registry needs over the leases that it has: what was measured as points, and the
// line through them.
func fleetChart(dir string, s *section[[]fleet.Result]) error {
	most := 0
	for _, r := range s.Result {
		most = max(most, r.Loads[len(r.Loads)-1].Leases)
	}
	below := fmt.Sprintf("Processor time of the servers while all leases renew. Points were measured. The lines beyond %s leases are extrapolated.", grouped(int64(most)))
	return writeChart(filepath.Join(dir, "fleet.svg"), caption{"Cores of a registry of worker numbers", below, s.foot()}, 230, func(c draw.Canvas) {
		paintFleets(c, s.Result)
	})
}

// paintFleets draws a line for each store, and the legend to the right of the lines.
func paintFleets(c draw.Canvas, list []fleet.Result) {
	const pitch vg.Length = 19
	name, legend := style(textSize, ink, text.XLeft, text.YCenter), vg.Length(0)
	for _, r := range list {
		legend = max(legend, 26+wider*name.Width(storeName(r)))
	}
	p := plot.New()
	p.BackgroundColor = color.Transparent
	p.Add(&plotter.Grid{Horizontal: draw.LineStyle{Color: grid, Width: 0.7}})
	p.X.Min, p.Y.Min, p.X.Max, p.Y.Max = 0, 0, fleetMost/1000, 1
	for i, r := range list {
		line := draw.LineStyle{Color: fleetColors[i%len(fleetColors)], Width: 1.4}
		points := make(plotter.XYs, 0, len(r.Loads))
		for _, l := range r.Loads {
			points = append(points, plotter.XY{X: float64(l.Leases) / 1000, Y: l.Cores()})
		}
		last := r.Loads[len(r.Loads)-1].Leases
		ends := func(from, to int) plotter.XYs {
			return plotter.XYs{{X: float64(from) / 1000, Y: r.CoresAt(from)}, {X: float64(to) / 1000, Y: r.CoresAt(to)}}
		}
		beyond := line
		beyond.Dashes = []vg.Length{3, 3}
		p.Add(&plotter.Line{XYs: ends(0, last), LineStyle: line}, &plotter.Line{XYs: ends(last, fleetMost), LineStyle: beyond},
			&plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: line.Color, Radius: 3, Shape: draw.CircleGlyph{}}})
		x, y := c.Max.X-legend+8, c.Max.Y-vg.Length(i)*pitch-pitch/2
		c.StrokeLine2(line, x, y, x+14, y)
		c.FillText(name, vg.Point{X: x + 18, Y: y}, storeName(r))
	}
	styleAxes(p, "thousand leases", "cores of the server")
	p.Draw(draw.Crop(c, 0, -legend, 0, 0))
}

// storeName returns the name of a store with its version, such as MariaDB 10.11.19.
func storeName(r fleet.Result) string {
	name, version, _ := strings.Cut(r.Version, " ")
	version, _, _ = strings.Cut(version, "-")
	version, _, _ = strings.Cut(version, " ")
	return name + " " + version
}
