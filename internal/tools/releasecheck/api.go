package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const apidiff = "golang.org/x/exp/cmd/apidiff@v0.0.0-20261014143641-f0251eb4aa3e"

// brokenAPI finds incompatible changes of exported names since the last tag, in every
// module that had that tag. Before version 1.0.0 a minor version may make them: then it
// prints them only.
func brokenAPI(ctx context.Context, r *repository) (found []string, err error) {
	if r.tag == "" {
		fmt.Println("       there is no tag to compare the API with")
		return nil, nil
	}
	list, err := r.published()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "releasecheck-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tagged := &repository{dir: filepath.Join(dir, "tagged")}
	if _, err := r.run(ctx, "", "git", "clone", "--quiet", "--branch", r.tag, ".", tagged.dir); err != nil {
		return nil, err
	}
	for i, m := range list {
		if _, err := r.run(ctx, "", "git", "rev-parse", "--verify", "--quiet", "refs/tags/"+m.tag(r.tag)); err != nil {
			fmt.Printf("       there is no tag %s to compare the API with\n", m.tag(r.tag))
			continue
		}
		old := filepath.Join(dir, fmt.Sprintf("%d.api", i))
		if _, err := tagged.run(ctx, m.dir, "go", "run", apidiff, "-m", "-w", old, m.path); err != nil {
			return nil, err
		}
		changes, err := r.run(ctx, m.dir, "go", "run", apidiff, "-m", old, m.path)
		if err != nil {
			return nil, err
		}
		fmt.Print(changes)
		for _, change := range incompatible(changes) {
			found = append(found, m.path+": "+strings.TrimPrefix(change, "- "))
		}
	}
	next, err := r.next()
	if err != nil {
		return nil, err
	}
	if mayBreak(r.tag, next) {
		return nil, nil
	}
	return found, nil
}

// mayBreak reports whether the next version may have another API than the tag.
func mayBreak(tag, next string) bool {
	old, later := strings.Split(tag, "."), strings.Split(next, ".")
	return len(old) == 3 && len(later) == 3 && (old[0] != later[0] || old[0] == "v0" && old[1] != later[1])
}

// incompatible returns the changes that apidiff calls incompatible, except in
// internal packages.
func incompatible(changes string) (found []string) {
	below := false
	for line := range strings.Lines(changes) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasSuffix(line, "changes:"):
			below = strings.HasPrefix(line, "Incompatible")
		case below && line != "" && !strings.Contains(line, "/internal/"):
			found = append(found, line)
		}
	}
	return found
}
