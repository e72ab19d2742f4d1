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

// The code of the pages is the code of their directories, line by line.
func TestPage(t *testing.T) {
	for name, dir := range map[string]string{"data-layers.md": ".", "edges.md": "../edges"} {
		var source strings.Builder
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			source.WriteString("\n" + unindented(string(text)) + "\n")
			return err
		})
		check(t, err)
		page, err := os.ReadFile("../../docs/" + name)
		check(t, err)
		blocks := regexp.MustCompile("(?s)```\\w*\n(.*?)```").FindAllSubmatch(page, -1)
		if len(blocks) < 10 {
			t.Errorf("%s has %d blocks of code, want more", name, len(blocks))
		}
		for _, block := range blocks {
			if !strings.Contains(source.String(), "\n"+unindented(string(block[1]))) {
				t.Errorf("%s: not in %s:\n%s", name, dir, block[1])
			}
		}
	}
}
