//go:build unix

package dbtest

import (
	"fmt"
	"strings"
	"testing"
)

// Group starts MySQL servers that replicate as a group in single-primary mode, and lives as long as the test. The
// first one is the primary. When it is killed, the others elect another while more than half of the group is left;
// the node that was killed joins again with [Server.Restart], as a secondary. [Server.Primary] tells which one is
// the primary.
//
// Without MySQL's programs in the folder of newer servers the test is skipped, or fails if databases are required.
func Group(tb testing.TB, nodes int, options ...string) []*Server {
	tb.Helper()
	e := mysql{installation: newer("mysql")}
	servers, addresses := make([]*Server, nodes), make([]string, nodes)
	for i := range addresses {
		addresses[i] = loopback(freePort())
	}
	for i := range servers {
		s := &Server{engine: e}
		servers[i] = s
		s.options = append([]string{
			fmt.Sprint("server-id=", i+1), "gtid-mode=ON", "enforce-gtid-consistency=ON", "performance-schema=ON", "report-host=127.0.0.1",
			"plugin-load-add=group_replication.so", "loose-group-replication-start-on-boot=OFF",
			"loose-group-replication-group-name=aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa",
			"loose-group-replication-local-address=" + addresses[i], "loose-group-replication-group-seeds=" + strings.Join(addresses, ","),
			"loose-group-replication-ip-allowlist=127.0.0.1/8", "loose-group-replication-recovery-get-public-key=ON",
			"loose-group-replication-unreachable-majority-timeout=5", "loose-group-replication-member-expel-timeout=0",
		}, options...)
		s.open(tb)
		if i == 0 {
			s.run(tb, s.dsn, "SET GLOBAL group_replication_bootstrap_group = ON; START GROUP_REPLICATION; SET GLOBAL group_replication_bootstrap_group = OFF")
		}
		s.joined = func(tb testing.TB) {
			tb.Helper()
			if i > 0 || s.member(tb) == "OFFLINE" {
				s.run(tb, s.dsn, fmt.Sprintf("START GROUP_REPLICATION USER='%s', PASSWORD='%s'", user, secret()))
			}
			if !await(func() bool { return s.member(tb) == "ONLINE" }) {
				tb.Fatalf("dbtest: a node did not join its group:\n%s", s.logTail())
			}
		}
		s.joined(tb)
	}
	return servers
}

// member returns what a node says of its own state in the group.
func (s *Server) member(tb testing.TB) string {
	tb.Helper()
	return s.run(tb, s.dsn, "SELECT MEMBER_STATE FROM performance_schema.replication_group_members WHERE MEMBER_PORT = @@port OR MEMBER_STATE = 'OFFLINE'")
}

// Primary reports whether the nodes that see this one's group agree that it is the primary, and that it accepts writes.
func (s *Server) Primary(tb testing.TB) bool {
	tb.Helper()
	role := s.run(tb, s.dsn, "SELECT COUNT(*) FROM performance_schema.replication_group_members"+
		" WHERE MEMBER_PORT = @@port AND MEMBER_ROLE = 'PRIMARY' AND MEMBER_STATE = 'ONLINE' AND @@super_read_only = 0")
	return role == "1"
}
