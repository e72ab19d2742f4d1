package questions

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The widths of texts on a terminal.
const (
	narrowest = 40
	widest    = 110
	usual     = 80
)

// A writer writes texts within the width of a terminal.
type writer struct {
	io.Writer
	width int
}

func newWriter(w io.Writer, width int) *writer {
	if width <= 0 {
		width = usual
	}
	return &writer{w, min(max(width, narrowest), widest)}
}

// line writes a text, broken between words. Lines after the first begin with as many spaces as before has characters.
func (w *writer) line(before, format string, args ...any) {
	_, _ = io.WriteString(w, wrap(before, fmt.Sprintf(format, args...), w.width)) // the reader went away
}

// wrap breaks a text between words. A word that is too long has a line of its own, and is broken as well.
func wrap(before, text string, width int) string {
	indent := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	room := max(width-indent, 10)
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(printable(text)) {
		for _, part := range broken(word, room) {
			switch {
			case line == "":
				line = part
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(part) <= room:
				line += " " + part
			default:
				lines = append(lines, line)
				line = part
			}
		}
	}
	lines = append(lines, line)
	return before + strings.Join(lines, "\n"+strings.Repeat(" ", indent)) + "\n"
}

// broken cuts a word into parts that have room.
func broken(word string, room int) (parts []string) {
	runes := []rune(word)
	for len(runes) > room {
		parts = append(parts, string(runes[:room]))
		runes = runes[room:]
	}
	return append(parts, string(runes))
}
