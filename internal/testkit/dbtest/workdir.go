//go:build unix

package dbtest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// guard is a shell that outlives the test process for a moment. It waits for the end of its input, which the system
// closes when the process ends for any reason. Then it ends the servers that are left, which may be stopped, and
// removes all files. It tries that several times, because a server that is still ending may write more.
const guard = `
trap '' HUP INT TERM
read -r _
for note in "$0"/*/pid; do pid=$(cut -d ' ' -f 2 "$note"); kill -$(cat "$note"); kill -CONT "$pid"; rm -f /dev/shm/*faketime_*_"$pid"; done
for _ in $(seq 100); do rm -rf "$0" && exit; sleep 0.1; done
`

// workdir is the directory of this process. The package writes all its files there.
var workdir = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "dbtest-")
	if err != nil {
		return "", err
	}
	// Only the guard removes the directory: a test that ends does not know whether it is the last one.
	cmd := exec.Command("/bin/sh", "-c", guard, dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that Ctrl-C does not reach it
	if _, err := cmd.StdinPipe(); err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	go func() { _ = cmd.Wait() }() // never returns, so that the pipe is not garbage-collected, which would close it
	// Others may enter, but not list it: a server may run as another user than the test.
	return dir, os.Chmod(dir, 0o711)
})

// give makes an account the owner of a directory with all that is in it.
func give(dir string, account *syscall.Credential) error {
	if account == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(account.Uid), int(account.Gid))
	})
}
