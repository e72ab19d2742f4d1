//go:build unix

package dbtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// galera is a node of a cluster.
type galera struct{ mariadb }

// provider is the path of the library that makes a cluster of MariaDB servers.
func (e galera) provider() string {
	if e.folder != "" {
		return e.path("usr/lib/galera/libgalera_smm.so")
	}
	return "/usr/lib/galera/libgalera_smm.so"
}

// Galera starts MariaDB servers that are the nodes of a cluster, which lives as long as the test. A node that was
// killed can't come back, because the programs that would copy the data to it are in packages that the tests do
// without.
//
// Without Debian's package galera-4 the test is skipped, or fails if databases are required.
func Galera(tb testing.TB, nodes int, options ...string) []*Server {
	tb.Helper()
	e := galera{}
	if _, err := os.Stat(e.provider()); err != nil {
		end := tb.Skipf
		if required() {
			end = tb.Fatalf
		}
		end("dbtest: libgalera_smm.so not found: apt-get install galera-4")
	}
	need(tb, e, e.programs())
	servers, addresses := make([]*Server, nodes), make([]string, nodes)
	uuid, position := "", ""
	cluster := func(s *Server, address string, peers []string) {
		s.options = append([]string{
			"wsrep-on=ON", "wsrep-provider=" + e.provider(), "wsrep-cluster-name=dbtest", "wsrep-cluster-address=gcomm://" + strings.Join(peers, ","),
			"wsrep-node-address=127.0.0.1", "binlog-format=ROW", "innodb-autoinc-lock-mode=2",
			// A node that is slow because the machine is busy is not dead: 5 s are the default.
			fmt.Sprintf("wsrep-provider-options=gmcast.listen_addr=tcp://%s;ist.recv_addr=%s;gcache.size=8M;"+
				"evs.suspect_timeout=PT20S;evs.inactive_timeout=PT40S;evs.install_timeout=PT20S", address, loopback(freePort())),
		}, options...)
	}
	for i := range servers {
		s := &Server{engine: e}
		servers[i] = s
		tb.Cleanup(func() { s.close(tb) })
		// A node that failed to start may hold traces that keep it from joining, so each try has its own files and
		// addresses.
		s.renew = func() error {
			if err := os.RemoveAll(s.dir); err != nil {
				return err
			}
			addresses[i] = loopback(freePort())
			cluster(s, addresses[i], addresses[:i])
			if err := s.prepare(); err != nil || i == 0 {
				return err
			}
			// Nothing was written yet, and all nodes have the same data, so the nodes that join need no copy.
			state := fmt.Sprintf("# GALERA saved state\nversion: 2.1\nuuid:    %s\nseqno:   %s\nsafe_to_bootstrap: 0\n", uuid, position)
			return os.WriteFile(filepath.Join(s.dir, "data", "grastate.dat"), []byte(state), 0o600)
		}
		s.joined = func(tb testing.TB) {
			tb.Helper()
			s.dsn = e.base(s.port)
			if !await(func() bool { return s.wsrep(tb, "local_state_comment") == "Synced" }) {
				tb.Fatalf("dbtest: a node did not join its cluster:\n%s", s.logTail())
			}
		}
		s.start(tb)
		uuid, position = s.wsrep(tb, "cluster_state_uuid"), s.wsrep(tb, "last_committed")
	}
	for i, s := range servers {
		cluster(s, addresses[i], addresses) // for a restart
	}
	return servers
}

// wsrep returns a status variable of a node.
func (s *Server) wsrep(tb testing.TB, name string) string {
	tb.Helper()
	return s.run(tb, s.dsn, "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'wsrep_"+name+"'")
}

// Isolate cuts a node of a cluster off from the other nodes, or connects it again. Clients reach it all the same.
func (s *Server) Isolate(tb testing.TB, isolated bool) {
	tb.Helper()
	value := 0
	if isolated {
		value = 1
	}
	s.run(tb, s.dsn, fmt.Sprintf("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=%d'", value))
	if !isolated {
		s.joined(tb)
	}
}
