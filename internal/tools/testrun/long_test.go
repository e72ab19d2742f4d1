package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What make test skips because it takes long, make test-long runs.
func TestLongJobsAreAll(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
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
			if test, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(test.Name.Name, "Test") && needsLong(test) {
				if found++; !slices.ContainsFunc(longJobs, func(j job) bool { return j.covers(folder, test.Name.Name) }) {
					t.Errorf("%s: %s is skipped by make test, and no long job runs it", folder, test.Name.Name)
				}
			}
		}
		return nil
	})
	if err != nil || found < 5 {
		t.Errorf("found %d tests that take long, %v; want more", found, err)
	}
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
	run := ""
	for _, arg := range j.args {
		if pattern, ok := strings.CutPrefix(arg, "-run="); ok {
			run = pattern
		}
	}
	return slices.ContainsFunc(j.args, func(arg string) bool {
		below, all := strings.CutSuffix(arg, "/...")
		dir := filepath.Join(j.dir, below)
		return dir == folder || all && strings.HasPrefix(folder, dir+"/")
	}) && regexp.MustCompile(run).MatchString(test)
}
