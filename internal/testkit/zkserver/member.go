//go:build linux

package zkserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// patience is how often a member is asked before a test gives up: ten minutes on an idle machine.
const patience = 12000

// poll waits before the next question, because a server has no event for its state.
func poll() { time.Sleep(50 * time.Millisecond) }

// A Member is a ZooKeeper server.
type Member struct {
	id      int
	addr    string
	dir     string
	environ []string      // for the clock
	cmd     *exec.Cmd     // nil while it is down
	exited  chan struct{} // closed when the process is gone
}

// Addr returns the address for clients.
func (m *Member) Addr() string { return m.addr }

// Pid returns the id of the process of a member that runs.
func (m *Member) Pid() int { return m.cmd.Process.Pid }

func (m *Member) data() string   { return filepath.Join(m.dir, "data") }
func (m *Member) config() string { return filepath.Join(m.dir, "zoo.cfg") }
func (m *Member) log() string    { return filepath.Join(m.dir, "log") }

func (m *Member) prepare(tb testing.TB, config string) {
	tb.Helper()
	err := errors.Join(os.MkdirAll(m.data(), 0o700), os.WriteFile(m.config(), []byte(config), 0o600), m.name())
	if err != nil {
		tb.Fatalf("zkserver: member %d: %v", m.id, err)
	}
}

// name writes the number of the member, which is all that a new member has in its data.
func (m *Member) name() error {
	return os.WriteFile(filepath.Join(m.data(), "myid"), fmt.Append(nil, m.id), 0o600)
}

// Start starts the process of a member that is down, with the data that it has. It does not wait: see [Member.Await].
func (m *Member) Start(tb testing.TB) {
	tb.Helper()
	if m.cmd != nil {
		tb.Fatalf("zkserver: member %d: start: it is running", m.id)
	}
	log, err := os.OpenFile(m.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command("java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Djute.maxbuffer=4194304", "-cp", classPath(), begin, m.config())
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, m.dir
	cmd.Env = append(os.Environ(), m.environ...)
	// In a process group of its own, Ctrl-C does not reach it. It ends with the test process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started, exited := make(chan error), make(chan struct{})
	go func() {
		// Linux signals the child when the thread that forked it ends, so the thread must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(exited)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
		}
	}()
	if err := <-started; err != nil {
		tb.Fatalf("zkserver: member %d: start: %v", m.id, err)
	}
	m.cmd, m.exited = cmd, exited
}

// Await waits until the member serves clients, as a leader, a follower or alone.
func (m *Member) Await(tb testing.TB) {
	tb.Helper()
	for range patience {
		if m.mode() != "" {
			return
		}
		select {
		case <-m.exited:
			tb.Fatalf("zkserver: member %d: it has ended by itself; its log:\n%s", m.id, m.tail())
		default:
			poll()
		}
	}
	tb.Fatalf("zkserver: member %d does not serve; its log:\n%s", m.id, m.tail())
}

// Kill ends the member as a crash would. Writes that reached the operating system survive.
func (m *Member) Kill(tb testing.TB) {
	tb.Helper()
	m.signal(tb, syscall.SIGKILL)
	<-m.exited
	m.cmd = nil
}

// Stop halts the member. Its connections stay open, and nobody gets an answer until [Member.Continue].
func (m *Member) Stop(tb testing.TB) {
	tb.Helper()
	m.signal(tb, syscall.SIGSTOP)
	if err := dbtest.AwaitStop(m.cmd.Process.Pid); err != nil {
		tb.Fatalf("zkserver: member %d: %v", m.id, err)
	}
}

// Continue resumes a stopped member.
func (m *Member) Continue(tb testing.TB) { tb.Helper(); m.signal(tb, syscall.SIGCONT) }

// Restart kills the member if it runs, starts it, and waits until it serves.
func (m *Member) Restart(tb testing.TB) {
	tb.Helper()
	if m.cmd != nil {
		m.Kill(tb)
	}
	m.Start(tb)
	m.Await(tb)
}

// Wipe removes the data of a member that is down, as a lost disk does.
func (m *Member) Wipe(tb testing.TB) {
	tb.Helper()
	if m.cmd != nil {
		tb.Fatalf("zkserver: member %d: wipe: it is running", m.id)
	}
	if err := errors.Join(os.RemoveAll(m.data()), os.MkdirAll(m.data(), 0o700), m.name()); err != nil {
		tb.Fatalf("zkserver: member %d: %v", m.id, err)
	}
}

// RestartAt is Restart with a wall clock that is shifted by whole seconds from the machine's. It needs Debian's package
// libfaketime.
func (m *Member) RestartAt(tb testing.TB, offset time.Duration) {
	tb.Helper()
	m.environ = []string{
		"LD_PRELOAD=" + faker(tb), fmt.Sprintf("FAKETIME=%+ds", int64(offset/time.Second)), "FAKETIME_DONT_FAKE_MONOTONIC=1",
		// Java waits by the monotonic clock. Without this, every wait of a thread with a limit would end at once.
		"FAKETIME_FORCE_MONOTONIC_FIX=0",
	}
	m.Restart(tb)
}

func (m *Member) signal(tb testing.TB, s syscall.Signal) {
	tb.Helper()
	if m.cmd == nil {
		tb.Fatalf("zkserver: member %d: %v: it is down", m.id, s)
	}
	if err := m.cmd.Process.Signal(s); err != nil {
		tb.Fatalf("zkserver: member %d: %v: %v; its log:\n%s", m.id, s, err, m.tail())
	}
}

// end ends the process with its test.
func (m *Member) end(tb testing.TB) {
	if tb.Failed() {
		tb.Logf("zkserver: member %d: its log:\n%s", m.id, m.tail())
	}
	if m.cmd == nil {
		return
	}
	_ = m.cmd.Process.Kill() // fails if it has ended by itself
	<-m.exited
	left, _ := filepath.Glob(fmt.Sprintf("/dev/shm/*faketime_*_%d", m.cmd.Process.Pid))
	for _, path := range left {
		_ = os.Remove(path)
	}
}

// mode returns leader, follower or standalone, or nothing while the member does not serve.
func (m *Member) mode() string {
	for line := range strings.Lines(m.ask("srvr")) {
		if mode, ok := strings.CutPrefix(line, "Mode: "); ok {
			return strings.TrimSpace(mode)
		}
	}
	return ""
}

// Sessions returns how many sessions there are, also of clients that are not connected now.
func (m *Member) Sessions(tb testing.TB) int {
	tb.Helper()
	for line := range strings.Lines(m.ask("mntr")) {
		if text, ok := strings.CutPrefix(line, "zk_global_sessions\t"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				tb.Fatalf("zkserver: member %d: %q", m.id, line)
			}
			return n
		}
	}
	tb.Fatalf("zkserver: member %d does not say how many sessions it has", m.id)
	return 0
}

// ask sends a four letter word, and returns the answer, or nothing.
func (m *Member) ask(word string) string {
	c, err := net.DialTimeout("tcp", m.addr, time.Second)
	if err != nil {
		return ""
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second)) // a stopped member does not answer
	if _, err := io.WriteString(c, word); err != nil {
		return ""
	}
	answer, _ := io.ReadAll(c)
	return string(answer)
}

// tail returns the end of the log.
func (m *Member) tail() string {
	text, _ := os.ReadFile(m.log())
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-20):], []byte("\n")))
}
