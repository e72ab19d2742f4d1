package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// modules returns the directories of the modules.
func (r *repository) modules() (dirs []string) {
	for _, name := range r.files {
		if path.Base(name) == "go.mod" && !strings.Contains(name, "testdata/") {
			dirs = append(dirs, path.Dir(name))
		}
	}
	return dirs
}

// brokenModules finds modules that do not build without the workspace, which their
// users don't have, or whose go.mod is not tidy. If there are tags, it also finds
// modules for import that require another version of the root than the last tag.
func brokenModules(ctx context.Context, r *repository) (found []string, err error) {
	list, err := r.published()
	if err != nil {
		return nil, err
	}
	for _, dir := range r.modules() {
		for _, command := range [][]string{{"go", "build", "-o", os.DevNull, "./..."}, {"go", "vet", "./..."}, {"go", "mod", "tidy", "-diff"}} {
			if out, err := r.run(ctx, dir, command...); err != nil {
				found = append(found, fmt.Sprintf("%s: %v\n%s", dir, err, firstLines(out, 12)))
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		if r.tag == "" || dir == "." || !slices.ContainsFunc(list, func(m module) bool { return m.dir == dir }) {
			continue
		}
		text, err := r.run(ctx, dir, "go", "mod", "edit", "-json")
		if err != nil {
			return nil, err
		}
		if problem, err := untaggedRequire(text, r.tag); err != nil || problem != "" {
			found = append(found, fmt.Sprintf("%s: %s", dir, problem))
		}
	}
	return found, nil
}

// firstLines returns no more than n lines of text.
func firstLines(text string, n int) string {
	lines := strings.SplitAfterN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "")
}

// untaggedRequire returns a problem if a go.mod, in JSON, requires another version
// of the root than the last tag.
func untaggedRequire(text, tag string) (string, error) {
	var file struct {
		Module  struct{ Path string }
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return "", err
	}
	for _, q := range file.Require {
		if strings.HasPrefix(file.Module.Path, q.Path+"/") && q.Version != tag {
			return fmt.Sprintf("it requires %s %s, and the last tag is %s", q.Path, q.Version, tag), nil
		}
	}
	return "", nil
}
