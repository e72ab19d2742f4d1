package main

import (
	"bytes"
	"image/color"
	"os"
	"strings"

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
	faint  = color.RGBA{0x57, 0x60, 0x6a, 0xff}
	grid   = color.RGBA{0xe6, 0xe9, 0xed, 0xff}
	ours   = color.RGBA{0x1f, 0x6f, 0xeb, 0xff}
	theirs = color.RGBA{0xae, 0xb8, 0xc4, 0xff}
	floors = color.RGBA{0xdf, 0xb8, 0x74, 0xff}
)

// A page shows charts 400 pixels wide or wider, so a unit is a pixel or more, and the
// smallest text has 11 pixels.
const (
	chartWidth vg.Length = 400
	margin     vg.Length = 12
	titleSize            = 14.0
	textSize             = 12.0
	smallSize            = 11.0
	lineHeight           = 1.35
	wider                = 1.2 // how much more room texts take in other fonts
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

// A caption is the text around a chart.
type caption struct {
	title string
	below string // the title: the conditions
	foot  string // the machine and the date
}

// A paragraph is text in lines that fit the width of a chart.
type paragraph struct {
	style text.Style
	lines []string
}

func newParagraph(s text.Style, words string) paragraph {
	p := paragraph{style: s}
	for _, word := range strings.Fields(words) {
		if last := len(p.lines) - 1; last >= 0 && wider*s.Width(p.lines[last]+" "+word) <= chartWidth-2*margin {
			p.lines[last] += " " + word
		} else {
			p.lines = append(p.lines, word)
		}
	}
	return p
}

func (p paragraph) pitch() vg.Length  { return lineHeight * vg.Length(p.style.Font.Size) }
func (p paragraph) height() vg.Length { return vg.Length(len(p.lines)) * p.pitch() }

// paint draws the lines from the top down.
func (p paragraph) paint(c draw.Canvas, top vg.Length) {
	for i, line := range p.lines {
		c.FillText(p.style, vg.Point{X: c.Min.X, Y: top - vg.Length(i)*p.pitch()}, line)
	}
}

// writeChart draws a caption around what paint draws, which has that height.
func writeChart(path string, text caption, height vg.Length, paint func(draw.Canvas)) error {
	const gap vg.Length = 8
	title := newParagraph(bold(style(titleSize, ink, 0, -1)), text.title)
	below := newParagraph(style(smallSize, faint, 0, -1), text.below)
	foot := newParagraph(style(smallSize, faint, 0, -1), text.foot)
	above := title.height() + below.height() + gap

	svg := vgsvg.New(chartWidth, above+height+gap+foot.height()+2*margin)
	c := draw.New(svg)
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	c = draw.Crop(c, margin, -margin, margin, -margin)
	title.paint(c, c.Max.Y)
	below.paint(c, c.Max.Y-title.height())
	foot.paint(c, c.Min.Y+foot.height())
	paint(draw.Crop(c, 0, 0, foot.height()+gap, -above))

	var b bytes.Buffer
	if _, err := svg.WriteTo(&b); err != nil {
		return err
	}
	// Without the font a viewer uses one of the same widths, or any without serifs.
	out := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	return os.WriteFile(path, out, 0o666)
}
