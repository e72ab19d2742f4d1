package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of exported names")

func TestChangedNames(t *testing.T) {
	files := map[string]string{
		"a.go": `package a
const A, b = 1, 2
var C int
type D struct { E, f int; *G; h.I }
type G interface { J(); k() }
type l struct { M int }
func N() {}
func o() {}
func (d *D) P() {}
func (q[T]) R() {}
func (l) S() {}
type T[U any] struct{}
func (t *T[U]) V() {}
`,
		"b/a.go": "//go:build windows\n\npackage b\nfunc W() {}\n", "b/a_test.go": "package b\nfunc X() {}\n",
		"c/main.go": "package main\nfunc X() {}\n", "internal/a.go": "package x\nfunc X() {}\n", "bench/a.go": "package x\nfunc X() {}\n",
		exportedList: strings.Join([]string{
			".: const A", ".: field D.E", ".: field D.G", ".: field D.I", ".: func N", ".: func Gone", ".: method D.P", ".: method G.J",
			".: method T.V", ".: type D", ".: type G", ".: type T", ".: var C",
		}, "\n") + "\n",
	}
	want(t, changedNames, newRepository(t, files),
		"b: func W is exported, and not in "+exportedList, ".: func Gone is in "+exportedList+", and not exported any more")
}

// The names that this repository exports are those in the list. It shows what a change adds to the names that users
// may depend on.
func TestOwnNames(t *testing.T) {
	root := &repository{dir: "../../.."}
	if *update {
		names, err := exportedNames(root.dir)
		if err == nil {
			err = os.WriteFile(filepath.FromSlash(root.path(exportedList)), []byte(strings.Join(names, "\n")+"\n"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	found, err := changedNames(t.Context(), root)
	if err != nil || len(found) > 0 {
		t.Errorf("go test ./internal/tools/releasecheck -update writes the list again:\n%s\n%v", strings.Join(found, "\n"), err)
	}
}
