package main

import (
	"bytes"
	"image/color"
	"os"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

var (
	ink    = color.RGBA{0x24, 0x29, 0x2f, 0xff}
	faint  = color.RGBA{0x6a, 0x73, 0x7d, 0xff}
	grid   = color.RGBA{0xe6, 0xe9, 0xed, 0xff}
	ours   = color.RGBA{0x1f, 0x6f, 0xeb, 0xff}
	theirs = color.RGBA{0xae, 0xb8, 0xc4, 0xff}
	floors = color.RGBA{0xdd, 0xe2, 0xe8, 0xff}
)

const (
	chartWidth vg.Length = 640
	margin     vg.Length = 14
	titleSize  vg.Length = 48
	barPitch   vg.Length = 17
	barHeight  vg.Length = 11
)

func style(size float64, c color.Color, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: c, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, font.Length(size)),
		XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
	}
}

func bold(s text.Style) text.Style {
	s.Font.Weight = xfont.WeightBold
	return s
}

// writeChart draws a title, a line below it, and what draw paints on the rest.
func writeChart(path, title, below string, height vg.Length, paint func(draw.Canvas)) error {
	svg := vgsvg.New(chartWidth, height)
	c := draw.New(svg)
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	c = draw.Crop(c, margin, -margin, margin, -margin)
	c.FillText(bold(style(14, ink, text.XLeft, text.YTop)), vg.Point{X: c.Min.X, Y: c.Max.Y}, title)
	c.FillText(style(10, faint, text.XLeft, text.YTop), vg.Point{X: c.Min.X, Y: c.Max.Y - 20}, below)
	paint(draw.Crop(c, 0, 0, 0, -titleSize))

	var b bytes.Buffer
	if _, err := svg.WriteTo(&b); err != nil {
		return err
	}
	// Without the font a viewer uses one of the same widths, or any without serifs.
	out := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	return os.WriteFile(path, out, 0o666)
}

// A bar is one line of a chart: a name, a bar and its value.
type bar struct {
	name  string
	value float64
	label string
	color color.Color
}

// paintBars draws horizontal bars from the top, on a scale that norm maps to
// lengths from 0 to 1. Texts have room to be a fifth wider, in other fonts.
func paintBars(c draw.Canvas, bars []bar, norm func(float64) float64) {
	normal := style(10, ink, text.XLeft, text.YCenter)
	var left, right vg.Length
	for _, b := range bars {
		left, right = max(left, bold(normal).Width(b.name)), max(right, bold(normal).Width(b.label))
	}
	left, right = c.Min.X+1.2*left, c.Max.X-1.2*right
	for i, b := range bars {
		y := c.Max.Y - vg.Length(i)*barPitch - barPitch/2
		end := left + max(2, (right-left)*vg.Length(norm(b.value)))
		lo, hi := y-barHeight/2, y+barHeight/2
		c.FillPolygon(b.color, []vg.Point{{X: left, Y: lo}, {X: end, Y: lo}, {X: end, Y: hi}, {X: left, Y: hi}})
		s := normal
		if b.color == ours {
			s = bold(s)
		}
		c.FillText(s, vg.Point{X: c.Min.X, Y: y}, b.name)
		c.FillText(s, vg.Point{X: end + 5, Y: y}, b.label)
	}
}

func barsHeight(n int) vg.Length { return vg.Length(n)*barPitch + titleSize + 2*margin }
