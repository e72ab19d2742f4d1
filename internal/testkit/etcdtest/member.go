//go:build unix

package etcdtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// memberVariable is set in processes that are members.
const memberVariable = "SNOW_ETCD_MEMBER"

// settings are what a member's process is told.
type settings struct {
	Name     string
	Dir      string // of its data
	Client   string // where it listens for clients
	Peer     string // where it listens for members
	Public   string // where members reach it
	Cluster  string // all members
	Token    string
	Existing bool // the member is added to a cluster that runs
}

// IsMember reports whether this process is a member. Such a process must call Serve.
func IsMember() bool { return os.Getenv(memberVariable) != "" }

// Serve runs the member in the environment of this process. It ends with its standard input, so that a test that dies
// leaves no process behind.
func Serve() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve() error {
	var s settings
	if err := json.Unmarshal([]byte(os.Getenv(memberVariable)), &s); err != nil {
		return err
	}
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir, cfg.InitialCluster, cfg.InitialClusterToken = s.Name, s.Dir, s.Cluster, s.Token
	if s.Existing {
		cfg.ClusterState = embed.ClusterStateFlagExisting
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = urls(s.Client), urls(s.Client)
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = urls(s.Peer), urls(s.Public)
	cfg.TickMs, cfg.ElectionMs = 100, 1500
	cfg.LogLevel, cfg.LogOutputs = "error", []string{"stderr"}
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	select {
	case <-e.Server.ReadyNotify():
	case err := <-e.Err():
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return <-e.Err()
}

func urls(addr string) []url.URL { return []url.URL{{Scheme: "http", Host: addr}} }

// A Member is a process of a cluster. Its methods must be called from the test's own goroutine.
type Member struct {
	settings
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	exited chan struct{}
	errors bytes.Buffer
}

// spawn starts the process. It does not wait until the member is ready, which needs a majority.
func (m *Member) spawn(tb testing.TB) {
	tb.Helper()
	text, err := json.Marshal(m.settings)
	if err != nil {
		tb.Fatal(err)
	}
	m.cmd = exec.Command(os.Args[0])
	m.cmd.Env = append(os.Environ(), memberVariable+"="+string(text))
	m.cmd.Stderr = &m.errors // read after its end only
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if m.stdin, err = m.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	exited, cmd := make(chan struct{}), m.cmd
	m.exited = exited
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
}

// Stop halts the member with SIGSTOP, until Resume.
func (m *Member) Stop(tb testing.TB) {
	tb.Helper()
	m.signal(tb, syscall.SIGSTOP)
	if err := dbtest.AwaitStop(m.cmd.Process.Pid); err != nil {
		tb.Fatalf("member %s: %v", m.Name, err)
	}
}

// Resume lets the member go on.
func (m *Member) Resume(tb testing.TB) { tb.Helper(); m.signal(tb, syscall.SIGCONT) }

// Kill ends the member with SIGKILL. Restart starts it again, with the data that it has.
func (m *Member) Kill(tb testing.TB) {
	tb.Helper()
	m.signal(tb, syscall.SIGKILL)
	<-m.exited
}

// Restart starts a member that was killed.
func (m *Member) Restart(tb testing.TB) { tb.Helper(); m.spawn(tb) }

func (m *Member) signal(tb testing.TB, s syscall.Signal) {
	tb.Helper()
	select {
	case <-m.exited:
		tb.Fatalf("member %s is gone: %s", m.Name, &m.errors)
	default:
	}
	if err := m.cmd.Process.Signal(s); err != nil {
		tb.Fatalf("member %s: %v: %v", m.Name, s, err)
	}
}

// end ends the member at the end of the test.
func (m *Member) end(tb testing.TB) {
	_ = m.cmd.Process.Kill()
	<-m.exited
	if tb.Failed() && m.errors.Len() > 0 {
		tb.Logf("member %s:\n%.4000s", m.Name, &m.errors)
	}
}
