//go:build unix

package dbtest

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// templates are the initialised data directories of this process, one for each engine.
var templates templateSet

type templateSet struct{ all sync.Map } // engine → func() (string, error)

// get returns the engine's template. The first call makes it, in a directory of its own.
func (set *templateSet) get(e engine, make func(dir string) (string, error)) (string, error) {
	once, _ := set.all.LoadOrStore(e, sync.OnceValues(func() (string, error) {
		home, err := workdir()
		if err != nil {
			return "", err
		}
		dir, err := os.MkdirTemp(home, filepath.Base(strings.ToLower(e.name()))+"-")
		if err != nil {
			return "", err
		}
		return make(dir)
	}))
	return once.(func() (string, error))()
}
