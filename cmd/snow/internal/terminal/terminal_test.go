package terminal

import (
	"strings"
	"testing"
)

func TestRedraw(t *testing.T) {
	for _, tt := range []struct {
		text          string
		columns, rows int
		want          string
	}{
		{"a\nb\n", 80, 24, "\x1b[Ha\x1b[K\r\nb\x1b[K\r\n\x1b[J"},
		{"äöü\n", 2, 24, "\x1b[Hä…\x1b[K\r\n\x1b[J"},
		{"a\nb\nc\nd\n", 80, 4, "\x1b[Ha\x1b[K\r\nb\x1b[K\r\n…\x1b[K\r\n\x1b[J"},
	} {
		var b strings.Builder
		if err := Redraw(&b, tt.text, tt.columns, tt.rows); err != nil || b.String() != tt.want {
			t.Errorf("%q: %q, %v", tt.text, b.String(), err)
		}
	}
}
