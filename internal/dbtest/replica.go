//go:build unix

package dbtest

import (
	"fmt"
	"net"
	"testing"
)

// Follow makes a private MariaDB server a replica of another one, which was started with the options log-bin and server-id; the
// replica needs its own server-id. It repeats everything that the other server has done since its start.
func (s *Server) Follow(tb testing.TB, primary *Server) {
	tb.Helper()
	s.private(tb, "follow")
	host, port, err := net.SplitHostPort(primary.Addr())
	if err != nil {
		tb.Fatal(err)
	}
	s.run(tb, s.dsn, fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%s, MASTER_USER='%s', MASTER_PASSWORD='%s', MASTER_USE_GTID=slave_pos;"+
		" START SLAVE", host, port, user, password))
}

// CatchUp waits until a replica has repeated everything that its primary has done up to now.
func (s *Server) CatchUp(tb testing.TB, primary *Server) {
	tb.Helper()
	position := primary.run(tb, primary.dsn, "SELECT @@global.gtid_binlog_pos")
	wait := fmt.Sprintf("SELECT MASTER_GTID_WAIT('%s', %d)", position, int(timeout.Seconds()))
	if got := s.run(tb, s.dsn, wait); got != "0" {
		tb.Fatalf("dbtest: %s: it is not at %s after %v:\n%s", s.engine.name(), position, timeout, s.run(tb, s.dsn, "SHOW SLAVE STATUS"))
	}
}
