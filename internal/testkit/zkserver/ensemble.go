//go:build linux

package zkserver

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An Ensemble is a group of ZooKeeper servers that elect a leader, or a single server. Its methods must be called from
// the test's own goroutine, except Addrs.
type Ensemble struct {
	Members []*Member
}

// Start starts an ensemble of n members, and returns when it has a leader. The options are lines of the configuration
// file, such as forceSync=no.
func Start(tb testing.TB, n int, options ...string) *Ensemble {
	tb.Helper()
	need(tb)
	ports := freePorts(tb, 3*n)
	e := &Ensemble{}
	dir, err := os.MkdirTemp("", "zkserver-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Errorf("zkserver: %v", err)
		}
	})
	var peers []string
	if n > 1 {
		for i := range n {
			peers = append(peers, fmt.Sprintf("server.%d=127.0.0.1:%d:%d", i+1, ports[n+i], ports[2*n+i]))
		}
	}
	for i := range n {
		m := &Member{id: i + 1, addr: fmt.Sprintf("127.0.0.1:%d", ports[i]), dir: filepath.Join(dir, fmt.Sprint(i+1))}
		config := append([]string{
			"tickTime=500", "initLimit=40", "syncLimit=8",
			"dataDir=" + m.data(),
			"clientPortAddress=127.0.0.1", fmt.Sprintf("clientPort=%d", ports[i]),
			"maxClientCnxns=0", "admin.enableServer=false", "4lw.commands.whitelist=srvr,ruok,mntr",
		}, peers...)
		config = append(config, options...)
		m.prepare(tb, strings.Join(config, "\n")+"\n")
		e.Members = append(e.Members, m)
	}
	tb.Cleanup(func() {
		for _, m := range e.Members {
			m.end(tb)
		}
	})
	for _, m := range e.Members {
		m.Start(tb)
	}
	for _, m := range e.Members {
		m.Await(tb)
	}
	return e
}

// Addrs returns the addresses of the members for clients.
func (e *Ensemble) Addrs() []string {
	addrs := make([]string, len(e.Members))
	for i, m := range e.Members {
		addrs[i] = m.Addr()
	}
	return addrs
}

// Leader waits until there is a leader among the members that run, and returns it. A single server is its own leader.
func (e *Ensemble) Leader(tb testing.TB) *Member {
	tb.Helper()
	for range patience {
		for _, m := range e.Members {
			if mode := m.mode(); mode == "leader" || mode == "standalone" {
				return m
			}
		}
		poll()
	}
	tb.Fatal("zkserver: there is no leader")
	return nil
}

// Followers returns the members that are not the leader.
func (e *Ensemble) Followers(tb testing.TB) []*Member {
	tb.Helper()
	leader := e.Leader(tb)
	var all []*Member
	for _, m := range e.Members {
		if m != leader {
			all = append(all, m)
		}
	}
	return all
}

// Copy kills all members, copies their data, and starts them again. Restore brings the copy back.
func (e *Ensemble) Copy(tb testing.TB) (restore func()) {
	tb.Helper()
	kept := tb.TempDir()
	e.down(tb, func(m *Member) error { return os.CopyFS(filepath.Join(kept, fmt.Sprint(m.id)), os.DirFS(m.data())) })
	return func() {
		tb.Helper()
		e.down(tb, func(m *Member) error {
			if err := os.RemoveAll(m.data()); err != nil {
				return err
			}
			return os.CopyFS(m.data(), os.DirFS(filepath.Join(kept, fmt.Sprint(m.id))))
		})
	}
}

// down calls a function for each member while all of them are down.
func (e *Ensemble) down(tb testing.TB, do func(m *Member) error) {
	tb.Helper()
	for _, m := range e.Members {
		m.Kill(tb)
	}
	for _, m := range e.Members {
		if err := do(m); err != nil {
			tb.Fatalf("zkserver: member %d: %v", m.id, err)
		}
	}
	for _, m := range e.Members {
		m.Start(tb)
	}
	for _, m := range e.Members {
		m.Await(tb)
	}
}

// freePorts returns ports that nobody listens at.
func freePorts(tb testing.TB, n int) []int {
	tb.Helper()
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		defer l.Close() // all at once, so that they differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}
