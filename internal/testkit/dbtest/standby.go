//go:build unix

package dbtest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Standby starts a standby of a private PostgreSQL server, which lives as long as the test. Its name in the server's
// synchronous_standby_names is "walreceiver".
func (s *Server) Standby(tb testing.TB) *Server {
	tb.Helper()
	s.private(tb, "have a standby")
	copied := &Server{engine: s.engine}
	tb.Cleanup(func() { copied.close(tb) })
	home, err := workdir()
	if err != nil {
		tb.Fatal(err)
	}
	if copied.dir, err = os.MkdirTemp(home, ""); err != nil {
		tb.Fatal(err)
	}
	account, err := s.engine.account()
	if err == nil {
		err = give(copied.dir, account)
	}
	if err != nil {
		tb.Fatal(err)
	}
	host, port, err := net.SplitHostPort(s.engine.addr(s.dsn))
	if err != nil {
		tb.Fatal(err)
	}
	path, err := s.engine.find("pg_basebackup")
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(path, "--pgdata="+filepath.Join(copied.dir, "data"), "--host="+host, "--port="+port,
		"--username="+user, "--checkpoint=fast", "--write-recovery-conf", "--no-sync")
	cmd.Dir, cmd.Env = copied.dir, append(os.Environ(), "PGPASSWORD="+secret())
	cmd.SysProcAttr = attributes(account, s.engine.quit())
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("dbtest: pg_basebackup: %v: %s", err, out)
	}
	copied.start(tb)
	copied.dsn = s.engine.base(copied.port)
	return copied
}
