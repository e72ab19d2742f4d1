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

// brokenAPI finds incompatible changes of exported names since the last tag.
func brokenAPI(ctx context.Context, r *repository) (found []string, err error) {
	if r.tag == "" {
		fmt.Println("       there is no tag to compare the API with")
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "releasecheck-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tagged := filepath.Join(dir, "tagged")
	if _, err := r.run(ctx, "", "git", "clone", "--quiet", "--branch", r.tag, ".", tagged); err != nil {
		return nil, err
	}
	out, err := r.run(ctx, "", "go", "list", "-m")
	if err != nil {
		return nil, err
	}
	module, old := strings.TrimSpace(out), filepath.Join(dir, "tagged.api")
	if _, err := (&repository{dir: tagged}).run(ctx, "", "go", "run", apidiff, "-m", "-w", old, module); err != nil {
		return nil, err
	}
	changes, err := r.run(ctx, "", "go", "run", apidiff, "-m", old, module)
	if err != nil {
		return nil, err
	}
	fmt.Print(changes)
	return incompatible(changes), nil
}

// incompatible returns the changes that apidiff calls incompatible, except those of
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
