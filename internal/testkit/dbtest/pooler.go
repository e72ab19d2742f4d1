//go:build unix

package dbtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Pooled starts a PgBouncer in transaction mode in front of a PostgreSQL server, with the given number of
// connections to a database, and returns the DSN of a database through it. It lives as long as the test. Settings
// go to PgBouncer, as "name = value".
//
// Without Debian's package pgbouncer the test is skipped, or fails if databases are required.
func (s *Server) Pooled(tb testing.TB, database string, connections int, settings ...string) string {
	tb.Helper()
	return s.engine.withDatabase(s.pooler(tb, installation{}, connections, settings...), database)
}

// pooler starts the PgBouncer and returns the base of its DSNs.
func (s *Server) pooler(tb testing.TB, at installation, connections int, settings ...string) string {
	tb.Helper()
	s.private(tb, "pool")
	path, err := at.find("pgbouncer")
	if err != nil {
		end := tb.Skipf
		if required() {
			end = tb.Fatalf
		}
		end("dbtest: pgbouncer not found: %s", at.source("pgbouncer"))
	}
	account, err := s.engine.account() // it refuses to run as root
	if err != nil {
		tb.Fatal(err)
	}
	home, err := workdir()
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := os.MkdirTemp(home, "")
	if err != nil {
		tb.Fatal(err)
	}
	port, config, users, logs := freePort(), filepath.Join(dir, "ini"), filepath.Join(dir, "users"), filepath.Join(dir, "log")
	text := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
		"auth_type = scram-sha-256\nauth_file = %s\nauth_user = %s\npool_mode = transaction\ndefault_pool_size = %d\n%s\n",
		s.port, port, users, user, connections, strings.Join(settings, "\n"))
	for path, text := range map[string]string{config: text, users: fmt.Sprintf("%q %q\n", user, secret())} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	if err := give(dir, account); err != nil {
		tb.Fatal(err)
	}
	log, err := os.Create(logs)
	if err != nil {
		tb.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(path, config)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = dir, log, log, attributes(account, syscall.SIGKILL)
	p, err := launch(cmd, dir, syscall.SIGKILL)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.end(); err != nil {
			tb.Error(err)
		}
		if tb.Failed() {
			text, _ := os.ReadFile(logs)
			tb.Logf("dbtest: the log of PgBouncer:\n%s", text)
		}
		_ = os.RemoveAll(dir)
	})
	ready := func() bool {
		c, err := net.Dial("tcp", loopback(port))
		if err == nil {
			c.Close()
		}
		return err == nil
	}
	if !await(func() bool { return p.ended() || ready() }) || p.ended() {
		text, _ := os.ReadFile(logs)
		tb.Fatalf("dbtest: pgbouncer does not start:\n%s", text)
	}
	return s.engine.base(port)
}
