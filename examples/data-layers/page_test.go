//go:build unix

package datalayers

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unindented returns the lines of text without the spaces around them.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// The code of the page is that of this directory, line by line.
func TestPage(t *testing.T) {
	var source strings.Builder
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		source.WriteString("\n" + unindented(string(text)) + "\n")
		return err
	})
	check(t, err)
	page, err := os.ReadFile("../../docs/data-layers.md")
	check(t, err)
	blocks := regexp.MustCompile("(?s)```\\w*\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) < 10 {
		t.Errorf("the page has %d blocks of code, want more", len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(source.String(), "\n"+unindented(string(block[1]))) {
			t.Errorf("not in this directory:\n%s", block[1])
		}
	}
}
