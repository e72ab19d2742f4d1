//go:build unix

package dbtest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// Of several processes with one folder, one makes the template, and the others wait until it is there. Their servers
// have one password.
func TestCommonTemplate(t *testing.T) {
	folder := t.TempDir()
	var made atomic.Int32
	make := func(dir string) (string, error) {
		data := filepath.Join(dir, "data")
		if made.Add(1) == 1 {
			return "", errors.Join(os.Mkdir(data, 0o700), errors.New("no room"))
		}
		return data, os.Mkdir(data, 0o700)
	}
	if data, err := common(folder, mariadb{}, make); err == nil || err.Error() != "no room" {
		t.Errorf("a program that fails: got %q, %v", data, err)
	}
	var all sync.WaitGroup
	var found, secrets [4]string
	for i := range found {
		all.Go(func() {
			var err error
			if found[i], err = common(folder, mariadb{}, make); err != nil {
				t.Error(err)
			}
			secrets[i] = secretOf(folder)
		})
	}
	all.Wait()
	for i, path := range found {
		if info, err := os.Stat(path); err != nil || !info.IsDir() || path != found[0] || secrets[i] != secrets[0] {
			t.Errorf("got %q, %v, and the password %q; want %q and %q", path, err, secrets[i], found[0], secrets[0])
		}
	}
	if n := made.Load(); n != 2 {
		t.Errorf("it was made %d times, want once after the failure", n)
	}
	if other, err := common(folder, mariadb{installation: installation{"elsewhere"}}, make); err != nil || other == found[0] {
		t.Errorf("programs of another folder: got %q, %v", other, err)
	}
	if one, other := secretOf(""), secretOf(""); one == other {
		t.Errorf("without a folder, two processes have the password %q", one)
	}
}
