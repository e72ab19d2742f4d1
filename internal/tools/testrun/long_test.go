package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// everyTest calls f for the tests of all folders.
func everyTest(t *testing.T, f func(folder string, test *ast.FuncDecl)) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			test, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(test.Name.Name, "Test") || test.Name.Name == "TestMain" {
				continue
			}
			f(folder, test)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What make test skips because it takes long, make test-long runs. It runs nothing that there isn't.
func TestLongJobsAreAll(t *testing.T) {
	found := 0
	all := map[string][]string{} // tests of folders
	everyTest(t, func(folder string, test *ast.FuncDecl) {
		all[folder] = append(all[folder], test.Name.Name)
		if needsLong(test) {
			if found++; !slices.ContainsFunc(longJobs, func(j job) bool { return j.covers(folder, test.Name.Name) }) {
				t.Errorf("%s: %s is skipped by make test, and no long job runs it", folder, test.Name.Name)
			}
		}
	})
	if found < 5 {
		t.Errorf("found %d tests that take long; want more", found)
	}
	for _, j := range longJobs {
		for _, name := range regexp.MustCompile(`Test\w+`).FindAllString(j.pattern(), -1) {
			is := func(folder string) bool {
				return slices.ContainsFunc(all[folder], func(test string) bool { return strings.HasPrefix(test, name) && j.covers(folder, test) })
			}
			if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), is) {
				t.Errorf("%s: a long job runs %s, and there is no such test", j.dir, name)
			}
		}
	}
}

// What -before-long leaves out, make test-long runs, and with the race detector if the usual job does.
func TestBeforeLong(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := modules(root)
	if err != nil {
		t.Fatal(err)
	}
	usual, err := usual(root, dirs)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	everyTest(t, func(folder string, test *ast.FuncDecl) {
		for _, j := range usual {
			pkg := strings.TrimSuffix(module+filepath.ToSlash(folder), "/.")
			if !slices.Contains(j.args, pkg) || !j.chooses(test.Name.Name) || j.beforeLong().chooses(test.Name.Name) {
				continue
			}
			left++
			if !slices.ContainsFunc(longJobs, func(l job) bool { return (l.races() || !j.races()) && l.covers(folder, test.Name.Name) }) {
				t.Errorf("%s: %s is left out, and no long job runs it", folder, test.Name.Name)
			}
		}
	})
	if left < 20 {
		t.Errorf("%d tests are left out, want more", left)
	}
}

// chooses reports whether a job runs a test of its packages.
func (j job) chooses(test string) bool {
	for _, arg := range j.args {
		if pattern, ok := strings.CutPrefix(arg, "-skip="); ok && regexp.MustCompile(pattern).MatchString(test) {
			return false
		}
	}
	return j.pattern() == "" || regexp.MustCompile(j.pattern()).MatchString(test)
}

// needsLong reports whether a test skips itself, or is a suite that skips some of its tests.
func needsLong(test *ast.FuncDecl) (needs bool) {
	ast.Inspect(test, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			pkg, _ := s.X.(*ast.Ident)
			needs = needs || s.Sel.Name == "NeedLong" || pkg != nil && pkg.Name == "leasefaults"
		}
		return !needs
	})
	return needs
}

// covers reports whether a job runs a test of a folder.
func (j job) covers(folder, test string) bool {
	return slices.ContainsFunc(j.args, func(arg string) bool {
		below, all := strings.CutSuffix(arg, "/...")
		dir := filepath.Join(j.dir, below)
		return dir == folder || all && strings.HasPrefix(folder, dir+"/")
	}) && regexp.MustCompile(j.pattern()).MatchString(test)
}
