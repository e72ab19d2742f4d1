//go:build unix

package leasefaults

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// patience bounds a wait by a number of reports of a process. Reports come every reportTime on an idle machine and
// later on a busy one, so the bound grows where everything takes longer.
const patience = 3000

// A process is a worker process as its parent sees it. Its methods must be called from the test's own goroutine.
type process struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	exited chan struct{} // closed when the process is gone and all of its output was read

	mu      sync.Mutex
	last    report
	changed chan struct{} // closed at the next report
	errors  bytes.Buffer  // standard error

	closing bool
}

// spawn starts a program as a worker process.
func spawn(tb testing.TB, program []string, j job) *process {
	tb.Helper()
	p := &process{name: j.Holder, exited: make(chan struct{}), changed: make(chan struct{})}
	text, err := json.Marshal(j)
	if err != nil {
		tb.Fatal(err)
	}
	p.cmd = exec.Command(program[0], program[1:]...)
	p.cmd.Env = append(os.Environ(), jobVariable+"="+string(text), podIndex+"="+j.Pod)
	p.cmd.Stderr = writer(func(b []byte) (int, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.errors.Write(b)
	})
	// In a process group of its own, the system continues and ends a stopped process when its parent is gone.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go p.listen(out)
	tb.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		if tb.Failed() {
			tb.Logf("%s", p)
		}
	})
	return p
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

func (p *process) listen(out io.Reader) {
	defer close(p.exited)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var r report
		if err := json.Unmarshal(line, &r); err != nil {
			fmt.Fprintf(writer(p.cmd.Stderr.Write), "unexpected output: %s", line)
			continue
		}
		p.mu.Lock()
		p.last = r
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
	}
	_ = p.cmd.Wait() // its reports say more than its exit code
}

// String returns everything that is known of the process, for failures.
func (p *process) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("worker process %s: %s\n%v\n%s", p.name, p.cmd.ProcessState, p.last, p.errors.String())
}

// report returns the latest report, and a channel that is closed at the next one.
func (p *process) report() (report, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last, p.changed
}

// fault returns what went wrong in the process that must not happen in any process, or nothing.
func (p *process) fault() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch said := p.errors.String(); {
	case p.last.Broken != "":
		return p.last.Broken
	case strings.Contains(said, "DATA RACE"), strings.Contains(said, "panic:"), strings.Contains(said, "fatal error:"):
		return "it crashed or raced"
	}
	return ""
}

// await waits until a report fulfils the condition, and returns it.
func (p *process) await(tb testing.TB, what string, condition func(report) bool) report {
	tb.Helper()
	first, _ := p.report()
	for {
		r, changed := p.report()
		if fault := p.fault(); fault != "" {
			tb.Fatalf("%s: waiting until it %s: %s", p.name, what, fault)
		}
		if r.Serial > 0 && condition(r) {
			return r
		}
		if r.Serial > first.Serial+patience {
			tb.Fatalf("%s: has not %s after %d reports: %+v", p.name, what, patience, r)
		}
		select {
		case <-changed:
		case <-p.exited:
			if r, _ := p.report(); condition(r) {
				return r
			}
			tb.Fatalf("%s: ended before it %s", p.name, what)
		}
	}
}

// flow waits until each of the processes issues more ids than it has by now. Reports that were on their way do not
// count.
func flow(tb testing.TB, processes ...*process) {
	tb.Helper()
	now := make(map[*process]report)
	for _, p := range processes {
		now[p], _ = p.report()
	}
	for _, p := range processes {
		now[p] = p.await(tb, "reported", func(r report) bool { return r.Serial >= now[p].Serial+2 })
	}
	for _, p := range processes {
		p.await(tb, "issued ids", func(r report) bool { return r.Issued >= now[p].Issued+batch })
	}
}

// command sends a command. If the process is gone, the wait for the effect of the command fails.
func (p *process) command(line string) { _, _ = io.WriteString(p.stdin, line+"\n") }

// stop halts the process with SIGSTOP, and resume lets it go on.
func (p *process) stop(tb testing.TB)   { p.signal(tb, syscall.SIGSTOP) }
func (p *process) resume(tb testing.TB) { p.signal(tb, syscall.SIGCONT) }

func (p *process) signal(tb testing.TB, s syscall.Signal) {
	tb.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		tb.Fatalf("%s: %v: %v", p.name, s, err)
	}
}

// kill ends the process with SIGKILL.
func (p *process) kill(tb testing.TB) {
	tb.Helper()
	p.signal(tb, syscall.SIGKILL)
	<-p.exited
}

// leave closes the leases of the process and ends it. It does not wait.
func (p *process) leave() {
	if !p.closing {
		p.closing = true
		p.command("close")
	}
}

// left waits for the end that leave asked for.
func (p *process) left(tb testing.TB) report {
	tb.Helper()
	<-p.exited // or the test's -timeout
	r, _ := p.report()
	return r
}
