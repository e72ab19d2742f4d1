package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// The limits of Go files, in lines, and of folders, in files without tests.
const (
	mostLines     = 400
	mostTestLines = 500
	mostFiles     = 25
)

// oversized finds Go files that are too long, and folders with too many of them.
func oversized(_ context.Context, r *repository) (found []string, err error) {
	files := make(map[string]int) // by folder
	for _, name := range r.files {
		if path.Ext(name) != ".go" {
			continue
		}
		text, err := r.read(name)
		if err != nil {
			return nil, err
		}
		if text == "" {
			continue // deleted
		}
		most := mostTestLines
		if !strings.HasSuffix(name, "_test.go") {
			most = mostLines
			files[path.Dir(name)]++
		}
		if lines := strings.Count(text, "\n"); lines > most {
			found = append(found, fmt.Sprintf("%s has %d lines, want at most %d", name, lines, most))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		if files[dir] > mostFiles {
			found = append(found, fmt.Sprintf("%s has %d files without tests, want at most %d", dir, files[dir], mostFiles))
		}
	}
	return found, nil
}
