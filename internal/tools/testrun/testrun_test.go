//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree is a repository of two modules. Everything that may happen to tests happens in it.
var tree = map[string]string{
	installer: "#!/bin/sh\n[ \"$1\" != -n ] || echo some-server\n",
	"go.mod":  "module github.com/shardsnow/snow\n\ngo 1.25\n",
	"ok_test.go": `package snow
import "testing"
func TestPasses(t *testing.T) {}
func TestIsSkipped(t *testing.T) { t.Skip("no such server") }`,
	"fails/fails_test.go": `package fails
import "testing"
func TestFails(t *testing.T) {
	t.Run("a part (1)", func(t *testing.T) { t.Log("before"); t.Error("got 1, want 2") })
	t.Run("another", func(t *testing.T) {})
}`,
	"panics/panics_test.go": `package panics
import "testing"
func TestPanics(t *testing.T) { panic("oh") }`,
	"broken/broken_test.go": `package broken
import "testing"
func TestBroken(t *testing.T) { undefined() }`,
	"exits/exits_test.go": `package exits
import ("os"; "testing")
func TestExits(t *testing.T) { os.Exit(3) }`,
	"sub/go.mod": "module github.com/shardsnow/snow/sub\n\ngo 1.25\n",
	"sub/sub_test.go": `package sub
import "testing"
func TestPassesToo(t *testing.T) {}`,
	"gone/go.mod": "module github.com/shardsnow/snow/gone\n\ngo 1.25\n\nrequire example.invalid/none v1.0.0\n",
	"gone/gone_test.go": `package gone
import _ "example.invalid/none"`,
}

func TestSummary(t *testing.T) {
	root := t.TempDir()
	for name, text := range tree {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	was := apart // packages that the tree does not have
	t.Cleanup(func() { apart = was })
	apart = nil
	t.Chdir(root)
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	var out bytes.Buffer
	failed, err := run(t.Context(), &out, kind{})
	if err != nil || !failed {
		t.Errorf("got %v, %v; want failures and no error", failed, err)
	}
	t.Log(out.String())
	for _, want := range []string{
		"tests of 3 Go modules",
		"installs:  some-server\n",
		"FAIL  github.com/shardsnow/snow/fails TestFails/a_part_(1): fails_test.go:4: got 1, want 2 |",
		`RUN='^TestFails$$/^a_part_\(1\)$$'`,
		"FAIL  github.com/shardsnow/snow/panics TestPanics: panic: oh",
		"FAIL  github.com/shardsnow/snow/broken: broken/broken_test.go:3:33: undefined: undefined",
		"FAIL  github.com/shardsnow/snow/exits: TestExits: ",
		"FAIL  github.com/shardsnow/snow/gone: gone_test.go:2:8: ",
		"skip  1: no such server\n",
		"\n3 passed, 5 failed, 1 skipped\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the summary lacks %q", want)
		}
	}
	log, err := os.ReadFile(filepath.Join(logs, "snow-panics.log"))
	if err != nil || !strings.Contains(string(log), "goroutine ") {
		t.Errorf("the log of a panic: %v, %q, want its goroutines", err, log)
	}
}

// A failure of one job does not hide the failure of another one that tests the same package.
func TestJobsOfOnePackage(t *testing.T) {
	all := newResults(t.TempDir(), io.Discard)
	one, other := job{"sub", []string{"-run=A", "."}}, job{"sub", []string{"-run=B", "."}}
	for _, j := range []job{one, other} {
		for _, test := range []string{"Test" + j.args[0][5:], ""} {
			if err := all.add(j, event{Action: "fail", Package: "sub", Test: test}); err != nil {
				t.Fatal(err)
			}
		}
		all.ended(j, "", errors.New("exit status 1"))
	}
	all.ended(job{"sub", []string{"-run=C", "."}}, "", errors.New("exit status 1"))
	if len(all.failures) != 3 || all.failures[0].test != "TestA" || all.failures[1].test != "TestB" || all.failures[2].pkg != "sub" {
		t.Errorf("got %v, want TestA, TestB and the third job", all.failures)
	}
}

// Each package of a module with jobs apart is in one job, or in two whose names of tests complete each other.
func TestUsualJobsAreAll(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]bool{}
	for _, j := range apart {
		dirs[j.dir] = true
	}
	for dir := range dirs {
		jobs, err := usual(root, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		all, err := packages(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, pkg := range all {
			var names []string // of the tests that its jobs choose
			for _, j := range jobs {
				if !slices.Contains(j.args, pkg) {
					continue
				}
				i := slices.IndexFunc(j.args, func(arg string) bool { return strings.HasPrefix(arg, "-run=") || strings.HasPrefix(arg, "-skip=") })
				if i < 0 {
					names = append(names, "all")
					continue
				}
				names = append(names, j.args[i])
			}
			slices.Sort(names)
			if isAll := slices.Equal(names, []string{"all"}); !isAll && (len(names) != 2 || names[1] != strings.Replace(names[0], "-run=", "-skip=", 1)) {
				t.Errorf("%s: its jobs have the tests %q", pkg, names)
			}
		}
		for _, j := range apart {
			for _, arg := range j.args {
				if j.dir == dir && !strings.HasPrefix(arg, "-") && !slices.Contains(all, arg) {
					t.Errorf("%s: there is no package %s", dir, arg)
				}
			}
		}
	}
}
