//go:build unix

package dbtest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// templates are the initialised data directories of this process, one for each engine.
var templates templateSet

type templateSet struct{ all sync.Map } // engine → func() (string, error)

// templatesVariable names a folder for the templates of several processes. Servers of all of them have one password, which is
// in the folder, too.
const templatesVariable = "SNOW_TEST_TEMPLATES"

// get returns the engine's template. The first call makes it, in a directory of its own.
func (set *templateSet) get(e engine, make func(dir string) (string, error)) (string, error) {
	once, _ := set.all.LoadOrStore(e, sync.OnceValues(func() (string, error) {
		if folder := os.Getenv(templatesVariable); folder != "" {
			return common(folder, e, make)
		}
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

// common returns a template that several processes use. The first one makes it, and the others wait.
func common(folder string, e engine, make func(dir string) (string, error)) (string, error) {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%#v", e) // has the folder of the programs
	dir := filepath.Join(folder, fmt.Sprintf("%s-%x", strings.ToLower(e.name()), sum.Sum64()))
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close() // unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if done, err := os.ReadFile(dir + ".done"); err == nil {
		return string(done), nil
	}
	if err := os.RemoveAll(dir); err != nil { // of a process that was killed
		return "", err
	}
	if err := os.Mkdir(dir, 0o711); err != nil {
		return "", err
	}
	data, err := make(dir)
	if err != nil {
		return "", err
	}
	return data, os.WriteFile(dir+".done", []byte(data), 0o600)
}

// secret returns the password of the private servers of this process, or of all processes with a folder of templates.
// Nobody else on the machine knows it.
var secret = sync.OnceValue(func() string { return secretOf(os.Getenv(templatesVariable)) })

// secretOf returns the password that the first process has left in a folder, or a new one without a folder.
func secretOf(folder string) string {
	word := rand.Text()
	if folder == "" {
		return word
	}
	path := filepath.Join(folder, "password")
	mine := filepath.Join(folder, word[:8]+".new")
	defer os.Remove(mine)
	if err := os.WriteFile(mine, []byte(word), 0o600); err != nil {
		return word
	}
	if err := os.Link(mine, path); !errors.Is(err, fs.ErrExist) { // in one step, so that nobody reads half of it
		return word
	}
	if theirs, err := os.ReadFile(path); err == nil {
		return string(theirs)
	}
	return word
}
