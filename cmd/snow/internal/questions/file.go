package questions

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shardsnow/snow/merge/plan"
)

// ErrChanged is returned if somebody else has changed the plan since it was read: nothing was written. It has been read
// again then.
var ErrChanged = errors.New("the plan was changed meanwhile by somebody else: it was read again, and the answer was not written")

// A file is a plan in its short form, as it was when it was read or written last.
type file struct {
	path string
	data []byte
}

// openFile reads a plan.
func openFile(path string) (*file, error) {
	path, err := filepath.EvalSymlinks(path) // the file is replaced, and not the link to it
	if err != nil {
		return nil, err
	}
	f := &file{path: path}
	if f.data, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	if plan.VersionOf(f.data) == 1 {
		return nil, errors.New("it is a complete plan: questions are asked of its short form, which inspect writes without --full to a .yaml file")
	}
	return f, nil
}

// Replace writes a plan whose file had some data when it was read. If it is another one now, nothing is written, and Replace
// returns [ErrChanged].
func Replace(path string, read, data []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	return (&file{path: path, data: read}).replace(data)
}

// isChanged reads the file again if it is another one than before, and reports whether it was.
func (f *file) isChanged() (bool, error) {
	data, err := os.ReadFile(f.path)
	if err != nil || bytes.Equal(data, f.data) {
		return false, err
	}
	f.data = data
	return true, nil
}

// replace writes the file, or leaves it as it was. It returns ErrChanged if somebody else has changed it.
func (f *file) replace(data []byte) (err error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(f.path), ".plan-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(next.Name()))
		}
	}()
	_, err = next.Write(data)
	if err = errors.Join(err, next.Chmod(info.Mode().Perm()), next.Sync(), next.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	switch changed, err := f.isChanged(); {
	case err != nil:
		return err
	case changed:
		return ErrChanged
	}
	if err = os.Rename(next.Name(), f.path); err == nil {
		f.data = data
	}
	return err
}
