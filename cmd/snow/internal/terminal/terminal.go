// Package terminal knows how large a terminal is, and draws on it.
package terminal

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Columns returns how many columns a terminal has, or 0 if the file is none.
func Columns(f *os.File) int {
	columns, _ := Size(f)
	return columns
}

// Redraw puts a text in the place of all that a terminal of that size shows, and leaves out what has no room.
func Redraw(w io.Writer, text string, columns, rows int) error {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if rows > 1 && len(lines) > rows-1 { // the cursor takes a row
		lines = append(lines[:max(rows-2, 0)], "…")
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for _, line := range lines {
		if columns > 0 && utf8.RuneCountInString(line) > columns {
			line = string([]rune(line)[:columns-1]) + "…"
		}
		b.WriteString(line + "\x1b[K\r\n")
	}
	b.WriteString("\x1b[J")
	_, err := io.WriteString(w, b.String())
	return err
}
