package docs_test

import (
	"os"
	"path/filepath"
	"testing"
)

// pages returns the names of the pages, and reads them. The tests call t.Chdir: paths begin in the root of the
// repository.
func pages(t *testing.T, patterns ...string) (names []string, texts map[string]string) {
	t.Helper()
	texts = make(map[string]string)
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		for _, name := range found {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			name = filepath.ToSlash(name)
			names, texts[name] = append(names, name), string(text)
		}
	}
	return names, texts
}
