package questions

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A plan that somebody else has changed is not replaced, through a link as by its name.
func TestReplace(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "plan.yaml"), filepath.Join(folder, "link.yaml")
	if err := os.WriteFile(file, []byte("read"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	if err := Replace(link, []byte("read"), []byte("settled")); err != nil || contents(t, file) != "settled" {
		t.Errorf("%v: %s", err, contents(t, file))
	}
	if err := Replace(file, []byte("read"), []byte("again")); !errors.Is(err, ErrChanged) || contents(t, file) != "settled" {
		t.Errorf("%v: %s", err, contents(t, file))
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 2 {
		t.Errorf("%v: %v", err, entries)
	}
	if is, err := os.Lstat(link); err != nil || is.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v: the link is a file now", err)
	}
}
