//go:build unix

package datalayers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The tests of testdata/ent run beside the code that ent generates for them,
// in a copy of this module. That code is too long to keep.
func TestGeneratedByEnt(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a code generator: left out under -short")
	}
	dir := t.TempDir()
	check(t, os.CopyFS(dir, os.DirFS("testdata/ent")))
	root, err := filepath.Abs("../..")
	check(t, err)
	for _, name := range []string{"go.mod", "go.sum", "open_test.go"} {
		text, err := os.ReadFile(name)
		check(t, err)
		text = bytes.ReplaceAll(text, []byte("=> ../../"), []byte("=> "+root))
		check(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	for _, args := range [][]string{{"tool", "ent", "generate", "--feature", "sql/upsert", "./ent/schema"}, {"test", "-count=1", "."}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %q: %v\n%s", args, err, out)
		}
	}
}
