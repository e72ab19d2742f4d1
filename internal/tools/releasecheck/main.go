// Command releasecheck finds what must not be in a release. make release-check runs
// it in the root of the repository:
//
//	go run ./internal/tools/releasecheck
//	go run ./internal/tools/releasecheck -require v0.1.0    # in every go.mod, of the modules of this repository
//
// It compares with the last tag, or with the last commit if there is no tag.
// .ci/fresh-clone has the only slow check: it runs the commands of the README in a
// bare Debian.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

// A repository is a checkout and what to compare it with.
type repository struct {
	dir   string
	files []string // files that git tracks, and new ones that it does not ignore
	tag   string   // the last tag; empty if there is none
}

// base is the revision to compare files with.
func (r *repository) base() string {
	if r.tag == "" {
		return "HEAD"
	}
	return r.tag
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	require := flag.String("require", "", "only set this `version` of the modules of this repository in every go.mod")
	flag.Parse()
	if err := run(ctx, ".", *require); err != nil {
		fmt.Fprintln(os.Stderr, "releasecheck:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir, require string) error {
	r, err := openRepository(ctx, dir)
	if err != nil {
		return err
	}
	if require != "" {
		return r.require(require)
	}
	return check(ctx, r)
}

func check(ctx context.Context, r *repository) error {
	failed := 0
	for _, c := range []struct {
		name string
		find func(context.Context, *repository) ([]string, error)
	}{
		{"nothing is left to do", leftovers},
		{"links lead to files and headings that exist", brokenLinks},
		{"golden files are only added to", changedGolden},
		{"actions are pinned by digest", unpinned},
		{"exported names are those of the list", changedNames},
		{"files and folders keep their limits", oversized},
		{"the CHANGELOG has the next version", unprepared},
		{"modules build without the workspace", brokenModules},
		{"modules can be had by go get and go install", unfetched},
		{"the API is compatible with the last tag", brokenAPI},
	} {
		found, err := c.find(ctx, r)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", c.name, err)
		case len(found) == 0:
			fmt.Println("ok    ", c.name)
		default:
			failed++
			fmt.Printf("FAILED %s:\n  %s\n", c.name, strings.Join(found, "\n  "))
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d checks failed", failed)
	}
	return nil
}

func openRepository(ctx context.Context, dir string) (*repository, error) {
	r := &repository{dir: dir}
	out, err := r.run(ctx, "", "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil {
		return nil, err
	}
	r.files = strings.FieldsFunc(out, func(c rune) bool { return c == 0 })
	slices.Sort(r.files)
	if tag, err := r.run(ctx, "", "git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"); err == nil {
		r.tag = strings.TrimSpace(tag)
	}
	return r, nil
}

// run runs a command in a directory below the root, without the workspace, and
// returns its standard output.
func (r *repository) run(ctx context.Context, dir string, command ...string) (string, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = r.path(dir), append(os.Environ(), "GOWORK=off")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

func (r *repository) path(name string) string {
	if name == "" {
		return r.dir
	}
	return r.dir + string(os.PathSeparator) + name
}

// read returns a file, or nothing for one that is deleted but known to git.
func (r *repository) read(name string) (string, error) {
	text, err := os.ReadFile(r.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}
