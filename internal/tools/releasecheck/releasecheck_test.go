package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newRepository returns one with these files in a commit.
func newRepository(t *testing.T, files map[string]string) *repository {
	t.Helper()
	dir := t.TempDir()
	for _, name := range golden {
		if _, ok := files[name]; !ok {
			write(t, dir, name, "a,1\nb,2\n")
		}
	}
	for name, text := range files {
		write(t, dir, name, text)
	}
	git(t, dir, "init", "--quiet")
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "a")
	return reopen(t, &repository{dir: dir})
}

func reopen(t *testing.T, r *repository) *repository {
	t.Helper()
	r, err := openRepository(t.Context(), r.dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("git is not installed")
	} else if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
}

func want(t *testing.T, find func(context.Context, *repository) ([]string, error), r *repository, want ...string) {
	t.Helper()
	got, err := find(t.Context(), r)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s\n%v", strings.Join(got, "\n"), strings.Join(want, "\n"), err)
	}
}

func TestLeftovers(t *testing.T) {
	mark := "TO" + "DO"
	r := newRepository(t, map[string]string{
		"a.go":     "package a\n// " + mark + ": tidy\n",
		"b.md":     mark + "\n(fix" + "me)\n(FIX" + "ME)\n",
		"c.go":     "ctx := context." + mark + "()\n" + mark + "S\n",
		"d.png":    "\x00" + mark,
		"new.go":   "",
		".gitkeep": "",
	})
	write(t, r.dir, "new.go", "x // "+mark+"\n")
	write(t, r.dir, "newer.go", "// "+mark+"\n")
	want(t, leftovers, reopen(t, r), "a.go:2: // "+mark+": tidy", "b.md:1: "+mark, "b.md:3: (FIX"+"ME)",
		"new.go:1: x // "+mark, "newer.go:1: // "+mark)
}

func TestBrokenLinks(t *testing.T) {
	r := newRepository(t, map[string]string{
		"README.md": "# A `b`, c-d: E\n[1](docs/a.md) [2](docs) [3](docs/) [4](docs/none.md) [5](https://example.org/none)\n" +
			"![6](docs/c.svg) [7](#a-b-c-d-e) [8](#none) [9](docs/a.md#below) [13](docs/a.md#代理与集群) [10](docs/a.md#none) [11](doc)\n```text\n[12](none)\n```\n",
		"docs/a.md":  "## Below\n## 代理、与集群\n[1](../README.md) [2](README.md)\n```\n## none\n```\n",
		"docs/c.svg": "",
	})
	want(t, brokenLinks, r,
		"README.md: docs/none.md: there is no docs/none.md", "README.md: #none: the heading does not exist",
		"README.md: docs/a.md#none: the heading does not exist", "README.md: doc: there is no doc", "docs/a.md: README.md: there is no docs/README.md")
}

func TestChangedGolden(t *testing.T) {
	r := newRepository(t, nil)
	want(t, changedGolden, r)
	write(t, r.dir, golden[0], "new,0\na,1\nb,2\nc,3\n")
	want(t, changedGolden, r)
	write(t, r.dir, golden[1], "a,1\nb,3\n")
	want(t, changedGolden, r, golden[1]+": since HEAD this line is gone: b,2")
	git(t, r.dir, "tag", "v1.2.3")
	want(t, changedGolden, reopen(t, r), golden[1]+": since v1.2.3 this line is gone: b,2")
}

func TestOversized(t *testing.T) {
	files := map[string]string{
		"a.go": strings.Repeat("\n", 400), "b.go": strings.Repeat("\n", 401), "c.md": strings.Repeat("\n", 600),
		"a_test.go": strings.Repeat("\n", 500), "b_test.go": strings.Repeat("\n", 501), "empty.go": "",
	}
	for i := range 26 {
		files[fmt.Sprintf("many/%d.go", i)] = "package many\n"
		files[fmt.Sprintf("tests/%d_test.go", i)] = "package tests\n"
		files[fmt.Sprintf("full/%d/a.go", i)] = "package full\n"
	}
	want(t, oversized, newRepository(t, files),
		"b.go has 401 lines, want at most 400", "b_test.go has 501 lines, want at most 500", "many has 26 files without tests, want at most 25")
}

func TestBrokenModules(t *testing.T) {
	const root, nested = "module example.org/a\n\ngo 1.25\n", "module example.org/a/b\n\ngo 1.25\n\nrequire example.org/a v0.0.0\n\nreplace example.org/a => ../\n"
	r := newRepository(t, map[string]string{
		"go.mod": root, "a.go": "package a\n",
		"b/go.mod": nested, "b/b.go": "package b\n\nimport _ \"example.org/a\"\n",
		"examples/c/go.mod": strings.Replace(strings.Replace(nested, "a/b", "a/c", 1), "../", "../../", 1), "examples/c/c.go": "package c\n\nimport _ \"example.org/a\"\n",
	})
	want(t, brokenModules, r)
	git(t, r.dir, "tag", "v1.2.3")
	r = reopen(t, r)
	want(t, brokenModules, r, "b: it requires example.org/a v0.0.0, and the last tag is v1.2.3")
	write(t, r.dir, "examples/c/c.go", "package c\n")
	found, err := brokenModules(t.Context(), r)
	if err != nil || len(found) != 2 || !strings.HasPrefix(found[1], "examples/c: go mod tidy -diff: ") {
		t.Errorf("a go.mod that requires too much: %q, %v", found, err)
	}
}

func TestIncompatible(t *testing.T) {
	const changes = `Ignoring internal package example.org/a/internal/b
Incompatible changes:
- F: removed
- ./internal/x.G: removed
Compatible changes:
- H: added
`
	if got := incompatible(changes); !slices.Equal(got, []string{"- F: removed"}) {
		t.Errorf("got %q", got)
	}
}

func TestUnpinned(t *testing.T) {
	const digest = "11d5960a326750d5838078e36cf38b85af677262"
	want(t, unpinned, newRepository(t, map[string]string{
		".github/workflows/a.yml": "steps:\n  - uses: actions/checkout@" + digest + " # v4.4.0\n  - name: b\n    uses: actions/setup-go@v5\n  - uses: ./own\n",
		".github/workflows/b.yml": "  - uses: actions/cache@" + digest + "\n", "c.yml": "uses: actions/checkout@v4\n",
	}), ".github/workflows/a.yml: actions/setup-go@v5: want a digest and # with the version",
		".github/workflows/b.yml: actions/cache@"+digest+": want a digest and # with the version")
}

// The actions of this repository are pinned.
func TestOwnActions(t *testing.T) {
	r, err := openRepository(t.Context(), "../../..")
	if err != nil {
		t.Skip(err)
	}
	want(t, unpinned, r)
}
