package main

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	barPitch   vg.Length = 20
	barHeight  vg.Length = 13
	pairPitch  vg.Length = 35 // of two bars, which touch
	pairHeight vg.Length = 14 // each of them has room for its label
	legendLine vg.Length = 24
	axisHeight vg.Length = 36 // the labels of the ticks, and the unit
)

// Bars is a chart of horizontal bars. Its axis begins at 0.
type bars struct {
	unit   string
	legend [2]string // what the two bars of a name are, if there are two
	high   float64   // the end of the axis; default: the highest value
	names  []namedBars
}

// namedBars are the bars of one name: one in charts without a legend, otherwise two.
type namedBars struct {
	name  string
	color color.RGBA // the second bar is paler
	bars  []bar
}

type bar struct {
	value float64
	label string
}

func (b bars) pairs() bool { return b.legend[1] != "" }

func (b bars) pitch() vg.Length {
	if b.pairs() {
		return pairPitch
	}
	return barPitch
}

func (b bars) height() vg.Length {
	height := vg.Length(len(b.names))*b.pitch() + axisHeight
	if b.pairs() {
		height += legendLine
	}
	return height
}

// highest returns the highest value.
func (b bars) highest() float64 {
	high := 0.0
	for _, n := range b.names {
		for _, one := range n.bars {
			high = max(high, one.value)
		}
	}
	return high
}

// paint draws the legend and the bars from the top down, and below them their axis.
func (b bars) paint(c draw.Canvas) {
	normal, small := style(textSize, ink, text.XLeft, text.YCenter), style(smallSize, faint, text.XCenter, text.YTop)
	top, high := c.Max.Y, max(b.high, b.highest())
	var left, right vg.Length
	for _, n := range b.names {
		left = max(left, n.style(normal).Width(n.name))
		for _, one := range n.bars {
			right = max(right, n.style(normal).Width(one.label))
		}
	}
	left, right = c.Min.X+wider*left+6, c.Max.X-wider*right-5
	at := func(x float64) vg.Length { return left + (right-left)*vg.Length(x/high) }
	if b.pairs() {
		x := left
		for i, what := range b.legend {
			fill(c, shade(theirs, i), x, top-5-8, x+12, top-5+1)
			c.FillText(normal, vg.Point{X: x + 17, Y: top - 9}, what)
			x += 17 + wider*normal.Width(what) + 16
		}
		top -= legendLine
	}
	bottom := top - vg.Length(len(b.names))*b.pitch()
	for _, tick := range (plot.DefaultTicks{}).Ticks(0, high) {
		if tick.Label != "" {
			x := at(tick.Value)
			c.StrokeLine2(draw.LineStyle{Color: grid, Width: 1}, x, bottom-3, x, top)
			c.FillText(small, vg.Point{X: x, Y: bottom - 5}, tick.Label)
		}
	}
	c.FillText(small, vg.Point{X: (left + right) / 2, Y: bottom - 5 - lineHeight*smallSize}, b.unit)
	for i, n := range b.names {
		thick := barHeight
		if b.pairs() {
			thick = pairHeight
		}
		middle := top - (vg.Length(i)+0.5)*b.pitch()
		c.FillText(n.style(normal), vg.Point{X: c.Min.X, Y: middle}, n.name)
		edge := middle + thick*vg.Length(len(n.bars))/2
		for j, one := range n.bars {
			end := max(left+2, at(one.value))
			fill(c, shade(n.color, j), left, edge-vg.Length(j+1)*thick, end, edge-vg.Length(j)*thick)
			c.FillText(n.style(normal), vg.Point{X: end + 5, Y: edge - (vg.Length(j)+0.5)*thick}, one.label)
		}
	}
}

// style is bold for what is of this repository.
func (n namedBars) style(s text.Style) text.Style {
	if n.color == ours {
		return bold(s)
	}
	return s
}

// shade returns the color of a first bar, or for a second one halfway to white.
func shade(c color.RGBA, second int) color.RGBA {
	if second == 0 {
		return c
	}
	pale := func(x uint8) uint8 { return x + (0xff-x)/2 }
	return color.RGBA{pale(c.R), pale(c.G), pale(c.B), c.A}
}

func fill(c draw.Canvas, with color.Color, left, low, right, high vg.Length) {
	c.FillPolygon(with, []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
}
