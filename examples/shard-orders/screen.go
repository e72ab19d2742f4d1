package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shardsnow/snow"
)

const (
	width  = 80 // columns of the output
	indent = "    "
)

// A screen writes text for the reader, and counts the claims that it shows.
type screen struct {
	w      io.Writer
	colour bool
	held   int
	failed int
	last   block // the kind of the last output
}

// A block is a kind of output. An empty line separates different kinds.
type block int

const (
	nothing block = iota
	heading
	prose
	rows
	claims
	drawing
)

// A style is the number of an ANSI colour or weight.
type style string

const (
	bold    style = "1"
	dim     style = "2"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	blue    style = "94"
	magenta style = "35"
	cyan    style = "36"
)

// newScreen returns a screen on w, in colour if w is a terminal that can show it.
func newScreen(w io.Writer) *screen {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return &screen{w: w}
	}
	info, err := f.Stat()
	return &screen{w: w, colour: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (s *screen) paint(st style, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// printf does not report errors: if the reader has gone away, as `| head` does,
// the program must still clean up.
func (s *screen) printf(format string, args ...any) { _, _ = fmt.Fprintf(s.w, format, args...) }

func (s *screen) begin(b block) {
	if b != s.last || b == prose {
		s.printf("\n")
	}
	s.last = b
}

// title starts a part.
func (s *screen) title(text string) {
	s.begin(heading)
	s.printf("%s\n%s\n", s.paint(bold, text), s.paint(dim, strings.Repeat("─", width)))
}

// say writes a paragraph.
func (s *screen) say(format string, args ...any) {
	s.begin(prose)
	for _, line := range wrap(fmt.Sprintf(format, args...), width-2*len(indent)) {
		s.printf("%s%s\n", indent, line)
	}
}

// row writes a value next to its label.
func (s *screen) row(label, format string, args ...any) {
	const labels = 22
	s.begin(rows)
	for _, line := range wrap(fmt.Sprintf(format, args...), width-len(indent)-labels) {
		s.printf("%s%s%s\n", indent, s.paint(dim, fmt.Sprintf("%-*s", labels, label)), line)
		label = ""
	}
}

// draw writes lines as they are.
func (s *screen) draw(lines ...string) {
	s.begin(drawing)
	for _, line := range lines {
		s.printf("%s%s\n", indent, line)
	}
	s.last = nothing
}

// check shows whether a claim holds.
func (s *screen) check(holds bool, format string, args ...any) {
	s.begin(claims)
	mark := s.paint(green, "✓")
	if holds {
		s.held++
	} else {
		s.failed++
		mark = s.paint(red, "✗")
	}
	for _, line := range wrap(fmt.Sprintf(format, args...), width-2*len(indent)) {
		s.printf("  %s %s\n", mark, line)
		mark = " "
	}
}

// end writes how many claims held.
func (s *screen) end() {
	s.begin(nothing)
	if s.failed == 0 {
		s.printf("%s\n", s.paint(green, fmt.Sprintf("All %d claims hold.", s.held)))
		return
	}
	s.printf("%s\n", s.paint(red, fmt.Sprintf("%d of %d claims do not hold.", s.failed, s.held+s.failed)))
}

// wrap breaks text into lines of at most n characters, at spaces where it can.
func wrap(text string, n int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		for utf8.RuneCountInString(word) > n {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			head := string([]rune(word)[:n])
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= n:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

// abbreviate writes the first n keys and the last one.
func abbreviate[K int64 | snow.ID](keys []K, n int) string {
	n = min(n, len(keys)-1)
	text := ""
	for _, k := range keys[:n] {
		text += strconv.FormatInt(int64(k), 10) + ", "
	}
	if n < len(keys)-1 {
		text = strings.TrimSuffix(text, ", ") + " ... "
	}
	return text + strconv.FormatInt(int64(keys[len(keys)-1]), 10)
}

// count writes a number with commas between thousands: 2,000.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
