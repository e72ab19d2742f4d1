package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A table is printed as Markdown whose columns line up, so that it can also be read
// in a terminal. Columns are aligned to the right, except the first ones.
type table struct {
	left   int // how many columns are aligned to the left
	header []string
	rows   [][]string
}

func newTable(left int, header ...string) *table { return &table{left: left, header: header} }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) String() string {
	width := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell), 3)
		}
	}
	var b strings.Builder
	line := func(row []string) {
		for i, w := range width {
			cell, pad := "", w
			if i < len(row) {
				cell, pad = row[i], w-utf8.RuneCountInString(row[i])
			}
			if i < t.left {
				b.WriteString("| " + cell + strings.Repeat(" ", pad) + " ")
			} else {
				b.WriteString("| " + strings.Repeat(" ", pad) + cell + " ")
			}
		}
		b.WriteString("|\n")
	}
	line(t.header)
	for i, w := range width {
		if i < t.left {
			b.WriteString("|" + strings.Repeat("-", w+2))
		} else {
			b.WriteString("|" + strings.Repeat("-", w+1) + ":")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.rows {
		line(row)
	}
	return b.String() + "\n"
}

// three prints x with three digits, or all that are before the point.
func three(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x):
		return "–"
	case a >= 99.95:
		return grouped(int64(math.Round(x)))
	case a >= 9.995:
		return fmt.Sprintf("%.1f", x)
	case a >= 0.9995:
		return fmt.Sprintf("%.2f", x)
	default:
		return fmt.Sprintf("%.3f", x)
	}
}

// grouped prints n with commas between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

func percent(share float64, digits int) string {
	if math.IsNaN(share) {
		return "–"
	}
	return strconv.FormatFloat(100*share, 'f', digits, 64) + " %"
}
