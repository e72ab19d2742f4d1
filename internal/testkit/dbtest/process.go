//go:build unix

package dbtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// process is a server with the processes that it forked.
type process struct {
	cmd    *exec.Cmd
	quit   syscall.Signal // ends it at once
	exited chan struct{}  // closed when the process is gone
}

// launch starts a command. While the process lives, a file in the directory tells the guard how to end it.
func launch(cmd *exec.Cmd, dir string, quit syscall.Signal) (*process, error) {
	p := &process{cmd: cmd, quit: quit, exited: make(chan struct{})}
	note := filepath.Join(dir, "pid")
	started := make(chan error)
	go func() {
		// Linux signals the child when the thread that forked it ends, so the thread must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			if err = os.WriteFile(note, fmt.Appendf(nil, "%d %d", quit, cmd.Process.Pid), 0o600); err != nil {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}
		}
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // how it ended is in its log
		_ = os.Remove(note)
		sweepClock(cmd.Process.Pid)
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// ended reports whether the process is gone.
func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// stop halts the process, so that it can't fork, and then its children, whose ids it returns. When stop returns,
// none of them runs.
func (p *process) stop() (family []int, err error) {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return nil, err
	}
	if err := AwaitStop(p.cmd.Process.Pid); err != nil {
		return nil, err
	}
	family = children(p.cmd.Process.Pid)
	signal(family, syscall.SIGSTOP)
	for _, pid := range family {
		if !await(func() bool { return allIn(states(pid), "TtZX") }) {
			return family, fmt.Errorf("child still running after %v", timeout)
		}
	}
	return family, nil
}

// AwaitStop returns when no thread of a process runs that was sent SIGSTOP. The signal alone is delivered later.
func AwaitStop(pid int) error {
	if !await(func() bool { return allIn(states(pid), "TtZX") }) {
		return fmt.Errorf("still running after %v", timeout)
	}
	return nil
}

// resume undoes stop.
func (p *process) resume() error {
	signal(children(p.cmd.Process.Pid), syscall.SIGCONT)
	return p.cmd.Process.Signal(syscall.SIGCONT)
}

// kill ends the process and its children, and returns when all are gone. It ends the children first: while their
// parent is stopped, it can't reap them, so their ids can't be reused.
func (p *process) kill() error {
	family, err := p.stop()
	signal(family, syscall.SIGKILL)
	for _, pid := range family {
		if !await(func() bool { return allIn(states(pid), "ZX") }) {
			err = errors.Join(err, fmt.Errorf("child still there after %v", timeout))
		}
	}
	if kill := p.cmd.Process.Kill(); kill != nil && !errors.Is(kill, os.ErrProcessDone) {
		return errors.Join(err, kill)
	}
	<-p.exited
	return err
}

// end shuts the process down in an orderly way, and kills it if that fails.
func (p *process) end() error {
	if p.ended() {
		return nil
	}
	err := errors.Join(p.cmd.Process.Signal(p.quit), p.resume())
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(timeout):
		return p.kill()
	}
}

func signal(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // fails for one that has gone
	}
}

// allIn reports whether all states, one letter for each thread, are among those allowed. A process that is gone has
// none.
func allIn(states, allowed string) bool { return strings.Trim(states, allowed) == "" }

// await polls, because the operating system has no event for this.
func await(condition func() bool) bool {
	for deadline := time.Now().Add(timeout); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
