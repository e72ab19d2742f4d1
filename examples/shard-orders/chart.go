package main

import (
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"
	"time"
)

// Charts are inline SVG; page.html has their colours. The plot is the part of a
// chart that is left between its margins.
const (
	chartWidth = 480 // texts of 13 px can be read at a width of 400
	plotLeft   = 68
	plotRight  = chartWidth - 14
	plotTop    = 34
)

// classes are the colours of A, of B, and of the process that took over.
var classes = []string{"a", "b", "c"}

// A chart builds an SVG.
type chart struct {
	strings.Builder
	height float64
}

func newChart(title string, height float64) *chart {
	c := &chart{height: height}
	c.add(`<svg viewBox="0 0 %d %v" role="img" aria-label="%s">`, chartWidth, height, html.EscapeString(title))
	return c
}

func (c *chart) add(format string, args ...any) { fmt.Fprintf(c, format+"\n", args...) }

func (c *chart) text(x, y float64, anchor, text string) {
	c.add(`<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(text))
}

func (c *chart) line(class string, x1, y1, x2, y2 float64) {
	c.add(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (c *chart) bar(class string, x, y, width, height float64, tip string) {
	c.add(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s</title></rect>`, class, x, y, width, height, html.EscapeString(tip))
}

// axes writes what the axes show: below the plot, and to the left of it.
func (c *chart) axes(below, left string, bottom float64) {
	c.text((plotLeft+plotRight)/2, bottom+36, "middle", below)
	y := (plotTop + bottom) / 2
	c.add(`<text transform="translate(13 %.1f) rotate(-90)" text-anchor="middle">%s</text>`, y, html.EscapeString(left))
}

// legend names the colours, in one line at the top.
func (c *chart) legend(names ...string) {
	x := float64(plotLeft)
	for i, name := range names {
		c.bar(classes[i], x, 6, 10, 10, name)
		c.text(x+15, 15, "start", name)
		x += 32 + 7.5*float64(len(name))
	}
}

// scale draws a vertical axis from 0 to most, and returns where a value is.
func (c *chart) scale(most int, bottom float64) func(n int) float64 {
	at := func(n int) float64 { return bottom - (bottom-plotTop)*float64(n)/float64(max(most, 1)) }
	for _, n := range []int{0, most / 2, most} {
		c.line("grid", plotLeft, at(n), plotRight, at(n))
		c.text(plotLeft-6, at(n)+4, "end", count(n))
	}
	return at
}

func (c *chart) end() template.HTML {
	c.add(`</svg>`)
	return template.HTML(c.String()) // all text in it is escaped
}

// lineChart draws the growing count of each series over time, and the moment at
// which a process was killed.
func lineChart(title string, names []string, series [][]time.Time, killed time.Time) template.HTML {
	const bottom = 240
	c := newChart(title, bottom+44)
	all := slices.Concat(series...)
	if len(all) == 0 {
		return c.end()
	}
	first, last := slices.MinFunc(all, time.Time.Compare), slices.MaxFunc(all, time.Time.Compare)
	span := max(last.Sub(first), time.Millisecond)
	x := func(t time.Time) float64 {
		return plotLeft + (plotRight-plotLeft)*min(max(0, float64(t.Sub(first))/float64(span)), 1)
	}
	most := 0
	for i, times := range series {
		most = max(most, len(times))
		names[i] += " (" + count(len(times)) + ")"
	}
	c.legend(names...)
	y := c.scale(most, bottom)
	for i, times := range series {
		if len(times) == 0 {
			continue
		}
		slices.SortFunc(times, time.Time.Compare)
		path := fmt.Sprintf("M%.1f %.1f", x(times[0]), y(0))
		for n, t := range times {
			if n+1 == len(times) || !times[n+1].Equal(t) {
				path += fmt.Sprintf("H%.1fV%.1f", x(t), y(n+1))
			}
		}
		c.add(`<path class="line %s" d="%s"/>`, classes[i], path)
	}
	c.line("kill", x(killed), plotTop, x(killed), bottom)
	c.text(x(killed)+4, plotTop+10, "start", "killed")
	c.text(plotLeft, bottom+18, "start", first.UTC().Format("15:04:05.000"))
	c.text(plotRight, bottom+18, "end", first.Add(span).UTC().Format("15:04:05.000"))
	c.axes("time in the key, in UTC", "orders stored", bottom)
	return c.end()
}

// barChart draws stacked bars of rows in A and B, numbered from 0, and their mean.
func barChart(title, axis, rows string, bars [][2]int) template.HTML {
	const bottom = 200
	c := newChart(title, bottom+44)
	c.legend("A", "B")
	most, sum := 0, 0
	for _, b := range bars {
		most, sum = max(most, b[0]+b[1]), sum+b[0]+b[1]
	}
	y := c.scale(most, bottom)
	step := (plotRight - plotLeft) / float64(len(bars))
	for i, b := range bars {
		left, below := plotLeft+step*(float64(i)+0.15), 0
		for k, n := range b {
			if n > 0 {
				c.bar(classes[k], left, y(below+n), step*0.7, y(below)-y(below+n), fmt.Sprintf("%d: %s", i, count(n)))
			}
			below += n
		}
		c.text(left+step*0.35, bottom+16, "middle", fmt.Sprint(i))
	}
	mean := sum / max(len(bars), 1)
	c.line("mean", plotLeft, y(mean), plotRight, y(mean))
	c.axes(axis+" (dashed: even)", rows, bottom)
	return c.end()
}

// A share is a bar of shareChart.
type share struct {
	name  string
	tally tally
}

func shareChart(title string, shares []share) template.HTML {
	const row, names = 34, 190
	c := newChart(title, float64(row*len(shares)+44))
	full := float64(plotRight - names - 110)
	for i, s := range shares {
		top := float64(i*row + 8)
		c.text(names-10, top+15, "end", s.name)
		c.bar("rest", names, top, full, 20, s.name)
		if s.tally.clash > 0 {
			c.bar("bad", names, top, full*float64(s.tally.clash)/float64(max(s.tally.all, 1)), 20, s.tally.String())
		}
		c.text(names+full+8, top+15, "start", s.tally.String())
	}
	bottom := float64(row*len(shares) + 16)
	c.text(names, bottom, "start", "0")
	c.text(names+full, bottom, "end", "100 %")
	c.text(names+full/2, bottom+18, "middle", "share of the rows")
	return c.end()
}

// A strip is a line of stripChart: where the keys of A and of B are.
type strip struct {
	name string
	keys [2][]float64
}

func stripChart(strips []strip) template.HTML {
	const row, names = 56, 134
	c := newChart("where the keys of both databases are, from the first to the last", float64(row*len(strips)+plotTop+24))
	c.legend("A", "B")
	for i, s := range strips {
		top := float64(plotTop + i*row)
		c.text(names-10, top+26, "end", s.name)
		most := slices.Max(append(slices.Concat(s.keys[:]...), 1))
		for k, keys := range s.keys {
			path, drawn := "", -1
			for _, key := range keys {
				if at := int((plotRight - names) * key / most); at != drawn {
					path += fmt.Sprintf("M%d %.1fv18", names+at, top+float64(k)*20)
					drawn = at
				}
			}
			c.add(`<path class="line %s" d="%s"/>`, classes[k], path)
		}
	}
	c.text((names+plotRight)/2, float64(plotTop+row*len(strips))+12, "middle", "key, from the first to the last")
	return c.end()
}
