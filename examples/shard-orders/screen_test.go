package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
)

func TestScreenCountsClaims(t *testing.T) {
	var out strings.Builder
	s := newScreen(&out)
	s.check(true, "%d holds", 1)
	s.check(false, "%d does not, %s", 2, strings.Repeat("and goes on ", 8))
	s.end()
	const want = `
  ✓ 1 holds
  ✗ 2 does not, and goes on and goes on and goes on and goes on and goes on
    and goes on and goes on and goes on

1 of 2 claims do not hold.
`
	if out.String() != want || s.failed != 1 {
		t.Errorf("%d failed, output %q, want %q", s.failed, out.String(), want)
	}
}

func TestScreenColour(t *testing.T) {
	if s := (&screen{colour: true}).paint(green, "x"); s != "\x1b[32mx\x1b[0m" {
		t.Errorf("painted %q", s)
	}
	if s := (&screen{}).paint(green, "x"); s != "x" {
		t.Errorf("painted %q without colour", s)
	}
	// A character device passes for a terminal.
	device, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, device)
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, file)
	for _, tt := range []struct {
		name          string
		file          *os.File
		noColor, term string
		want          bool
	}{
		{"terminal", device, "", "xterm", true},
		{"file", file, "", "xterm", false},
		{"NO_COLOR", device, "1", "xterm", false},
		{"dumb terminal", device, "", "dumb", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("NO_COLOR", tt.noColor)
			t.Setenv("TERM", tt.term)
			if got := newScreen(tt.file).colour; got != tt.want {
				t.Errorf("colour %v, want %v", got, tt.want)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"one two", []string{"one two"}},
		{"one two three", []string{"one two", "three"}},
		{"é  zwölf\nelf", []string{"é zwölf", "elf"}},
		{"a incomprehensible b", []string{"a", "incompreh", "ensible b"}},
	} {
		if got := wrap(tt.text, 9); !slices.Equal(got, tt.want) {
			t.Errorf("wrap(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -123: "-123", -1234: "-1,234"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestAbbreviate(t *testing.T) {
	for _, tt := range []struct {
		keys []snow.ID
		n    int
		want string
	}{
		{[]snow.ID{7}, 3, "7"},
		{[]snow.ID{7, 8}, 1, "7, 8"},
		{[]snow.ID{7, 8, 9}, 1, "7 ... 9"},
		{[]snow.ID{1, 2, 3, 4}, 3, "1, 2, 3, 4"},
		{[]snow.ID{1, 2, 3, 4, 5}, 3, "1, 2, 3 ... 5"},
	} {
		if got := abbreviate(tt.keys, tt.n); got != tt.want {
			t.Errorf("abbreviate(%v, %d) = %q, want %q", tt.keys, tt.n, got, tt.want)
		}
	}
}
