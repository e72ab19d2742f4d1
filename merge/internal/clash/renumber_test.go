package clash

import (
	"fmt"
	"strings"
	"testing"
)

func TestNumbering(t *testing.T) {
	for _, tt := range []struct {
		name   string
		most   int64
		places string // of the target, and then of sources: the numbers of their rows, with the old group before a dot
		want   string // - where there is no number left
	}{
		{"the first keep theirs", 9, "| 0 5 | 1 7", "| 0 5 | 1 7"},
		{"a clash changes all of a source, in their order", 9, "| 0 1 | 2 0 7", "| 0 1 | 3 2 4"},
		{"gaps are filled", 9, "| 0 2 | 2 4", "| 0 2 | 1 3"},
		{"the next source sees the new numbers", 9, "| 0 1 | 0 1 | 3 8", "| 0 1 | 2 3 | 4 5"},
		{"the target keeps its own", 9, "3 0 | 0 | 0", "3 0 | 1 | 2"},
		{"two groups of a source become one", 9, "| 7.1 8.0 7.0 8.5", "| 1 2 0 3"},
		{"or do not clash", 9, "| 7.1 8.0 7.2", "| 1 0 2"},
		{"numbers outside of the bounds stay", 3, "| 200 0 | 1 250", "| 200 0 | 1 250"},
		{"there are enough", 3, "| 0 1 | 0 9", "| 0 1 | 2 3"},
		{"there are not", 3, "| 0 1 | 0 8 9", "| 0 1 | 2 3 -"},
		{"nor for those that come later", 1, "| 0 1 | 0 | 0 5", "| 0 1 | - | - -"},
	} {
		n := &numbering{most: tt.most, taken: map[int64]string{}}
		var got []string
		for at, place := range strings.Split(tt.places, "|") {
			var rows []numbered
			for i, text := range strings.Fields(place) {
				var group, number int64
				if _, err := fmt.Sscanf(text, "%d.%d", &group, &number); err != nil {
					_, _ = fmt.Sscanf(text, "%d", &number)
				}
				rows = append(rows, numbered{group: []any{group}, number: number, key: []any{int64(i)}})
			}
			name := inTarget
			if at > 0 {
				name = fmt.Sprint("s", at)
			}
			of := len(rows)
			n.add(name, rows)
			var numbers []string
			for i := range of {
				text := "-"
				if number, ok := n.given[fmt.Sprintf("[%d]", i)]; ok {
					text = fmt.Sprint(number)
				}
				numbers = append(numbers, text)
			}
			got = append(got, strings.Join(numbers, " "))
		}
		if text := strings.TrimSpace(strings.Join(got, " | ")); text != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, text, tt.want)
		}
	}
}
