package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// forUsers are a root, a module with a command that requires another one, and one that
// nobody imports.
var forUsers = map[string]string{
	"CHANGELOG.md": "# Changelog\n\n## 0.1.0, not released yet\n",
	"go.mod":       "module example.org/a\n\ngo 1.25\n", "a.go": "package a\n\nimport _ \"example.org/a/internal/x\"\n", "internal/x/x.go": "package x\n",
	"b/go.mod":  "module example.org/a/b\n\ngo 1.25\n\nrequire example.org/a v0.0.0\n\nreplace example.org/a => ../\n",
	"b/b.go":    "package b\n\nimport (\n\t_ \"example.org/a\"\n\t_ \"example.org/a/internal/x\"\n)\n",
	"a1/go.mod": "module example.org/a/a1\n\ngo 1.25\n\nrequire (\n\texample.org/a v0.0.0 // indirect\n\texample.org/a/b v0.0.0\n)\n" + replaced,
	"a1/main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"runtime/debug\"\n\n\t_ \"example.org/a/b\"\n)\n\n" +
		"func main() {\n\tinfo, _ := debug.ReadBuildInfo()\n\tfmt.Println(\"a1\", info.Main.Version)\n}\n",
	"examples/go.mod": "module example.org/a/examples\n\ngo 1.25\n\nrequire example.org/a v0.0.0\n",
}

const replaced = "\nreplace (\n\texample.org/a => ../\n\texample.org/a/b => ../b\n)\n"

func TestUnprepared(t *testing.T) {
	r := newRepository(t, forUsers)
	list, err := r.published()
	if err != nil || len(list) != 3 || list[0].tag("v1.0.0") != "v1.0.0" || list[1].tag("v1.0.0") != "b/v1.0.0" || list[2].dir != "a1" {
		t.Errorf("tags in the order %+v, %v", list, err)
	}
	want(t, unprepared, r)
	git(t, r.dir, "tag", "v0.1.0")
	want(t, unprepared, reopen(t, r), `CHANGELOG.md does not begin with a section of a version after "v0.1.0"`)
	write(t, r.dir, "CHANGELOG.md", "## Unreleased\n\n## 0.1.0\n")
	want(t, unprepared, reopen(t, r), `CHANGELOG.md does not begin with a section of a version after "v0.1.0"`)
	write(t, r.dir, "CHANGELOG.md", "## 0.1.1\n\n## 0.1.0\n")
	want(t, unprepared, reopen(t, r))
	write(t, r.dir, "go.mod", "module example.org/a\n\nrequire example.org/a/a1 v0.0.0\n")
	if _, err := reopen(t, r).published(); err == nil || !strings.Contains(err.Error(), "circle") {
		t.Errorf("a circle of modules: %v", err)
	}
}

func TestRequire(t *testing.T) {
	r := newRepository(t, forUsers)
	if err := r.require("v0.1.0"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"go.mod":          forUsers["go.mod"],
		"b/go.mod":        "module example.org/a/b\n\ngo 1.25\n\nrequire example.org/a v0.1.0\n\nreplace example.org/a => ../\n",
		"a1/go.mod":       "module example.org/a/a1\n\ngo 1.25\n\nrequire (\n\texample.org/a v0.1.0 // indirect\n\texample.org/a/b v0.1.0\n)\n" + replaced,
		"examples/go.mod": "module example.org/a/examples\n\ngo 1.25\n\nrequire example.org/a v0.1.0\n",
	} {
		if got, err := os.ReadFile(filepath.Join(r.dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is\n%s\nwant\n%s\n%v", name, got, want, err)
		}
	}
}

func TestUnfetched(t *testing.T) {
	t.Setenv("GOPROXY", "off") // what is not in the proxy of the check is nowhere
	r := newRepository(t, forUsers)
	want(t, unfetched, r)

	// What the workspace and replace hide: a package that is in no module that is tagged.
	write(t, r.dir, "b/b.go", "package b\n\nimport _ \"example.org/a/examples\"\n")
	write(t, r.dir, "examples/e.go", "package examples\n")
	found, err := unfetched(t.Context(), reopen(t, r))
	if err != nil || len(found) != 2 || !strings.HasPrefix(found[0], "go get example.org/a/b@v0.1.0: ") || !strings.HasPrefix(found[1], "go install example.org/a/a1@v0.1.0: ") {
		t.Errorf("an import of what is not tagged: %q, %v", found, err)
	}

	// A command that does not know its version.
	write(t, r.dir, "b/b.go", forUsers["b/b.go"])
	write(t, r.dir, "a1/main.go", "package main\n\nimport _ \"example.org/a/b\"\n\nfunc main() { println(\"a1\") }\n")
	found, err = unfetched(t.Context(), reopen(t, r))
	if err != nil || len(found) != 1 || found[0] != `a1 version: it said "a1\n", without v0.1.0` {
		t.Errorf("a command without a version: %q, %v", found, err)
	}

	// go install refuses a module with replace lines, unless they are dropped for the tag.
	write(t, r.dir, "b/b.go", forUsers["b/b.go"])
	write(t, r.dir, "a1/go.mod", forUsers["a1/go.mod"]+"\nreplace example.org/other => ../b\n")
	found, err = unfetched(t.Context(), reopen(t, r))
	if err != nil || len(found) != 1 || !strings.Contains(found[0], "replace") {
		t.Errorf("a command with replace: %q, %v", found, err)
	}
}

func TestMayBreak(t *testing.T) {
	for versions, want := range map[[2]string]bool{
		{"v0.1.0", "v0.1.1"}: false, {"v0.1.0", "v0.2.0"}: true, {"v0.9.0", "v1.0.0"}: true, {"v1.1.0", "v1.2.0"}: false, {"v1.1.0", "v2.0.0"}: true, {"v0.1.0", ""}: false,
	} {
		if got := mayBreak(versions[0], versions[1]); got != want {
			t.Errorf("from %s to %q: %v", versions[0], versions[1], got)
		}
	}
}
