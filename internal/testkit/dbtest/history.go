//go:build unix

package dbtest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Shutdown ends the server in an orderly way, and rolls back the transactions that are open.
func (s *Server) Shutdown(tb testing.TB) {
	tb.Helper()
	p := s.running(tb, "shut down")
	s.process = nil
	p.quit = syscall.SIGTERM
	if _, ok := s.engine.(postgres); ok {
		p.quit = syscall.SIGINT // SIGTERM waits for clients
	}
	if err := p.end(); err != nil {
		tb.Fatalf("dbtest: %s: shut down: %v", s.engine.name(), err)
	}
}

// Keep copies the server's data for [Server.PutBack], as a crash would leave it on disk at this instant. The server
// is halted while the copy is made. Only the last copy is kept.
func (s *Server) Keep(tb testing.TB) {
	tb.Helper()
	s.Stop(tb)
	err := s.copyData("data", "kept")
	s.Continue(tb)
	if err != nil {
		tb.Fatalf("dbtest: %s: keep: %v", s.engine.name(), err)
	}
}

// PutBack kills the server and starts it again with the data that [Server.Keep] copied. Later commits are lost, as in a
// failover to a replica that lags behind.
func (s *Server) PutBack(tb testing.TB) {
	tb.Helper()
	s.private(tb, "put back")
	if s.process != nil {
		s.Kill(tb)
	}
	if err := s.copyData("kept", "data"); err != nil {
		tb.Fatalf("dbtest: %s: put back: %v", s.engine.name(), err)
	}
	s.start(tb)
}

// copyData replaces one of the directories in the server's home by a copy of another one.
func (s *Server) copyData(from, to string) error {
	source, target := filepath.Join(s.dir, from), filepath.Join(s.dir, to)
	if _, err := os.Stat(source); err != nil {
		return err
	}
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := os.CopyFS(target, os.DirFS(source)); err != nil {
		return err
	}
	return s.own(target)
}

// own makes a data directory private and gives it to the server's account.
func (s *Server) own(data string) error {
	if err := os.Chmod(data, 0o700); err != nil {
		return err
	}
	account, err := s.engine.account()
	if err != nil {
		return err
	}
	return give(data, account)
}
