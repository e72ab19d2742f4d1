//go:build unix

package dbtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// galeraProvider is the path of Debian's library that makes a cluster of MariaDB servers.
const galeraProvider = "/usr/lib/galera/libgalera_smm.so"

// Galera starts MariaDB servers that are the nodes of a cluster, which lives as long as the test.
//
// Without Debian's package galera-4 the test is skipped, or fails if databases are required.
func Galera(tb testing.TB, nodes int) []*Server {
	tb.Helper()
	if _, err := os.Stat(galeraProvider); err != nil {
		end := tb.Skipf
		if required() {
			end = tb.Fatalf
		}
		end("dbtest: libgalera_smm.so not found: apt-get install galera-4")
	}
	servers := make([]*Server, nodes)
	const status = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = "
	join, uuid, position := "", "", ""
	for i := range servers {
		address := loopback(freePort())
		s := &Server{engine: mariadb{}, options: []string{
			"wsrep-on=ON", "wsrep-provider=" + galeraProvider, "wsrep-cluster-name=dbtest", "wsrep-cluster-address=gcomm://" + join,
			"wsrep-node-address=127.0.0.1", "binlog-format=ROW", "innodb-autoinc-lock-mode=2",
			fmt.Sprintf("wsrep-provider-options=gmcast.listen_addr=tcp://%s;ist.recv_addr=%s;gcache.size=8M", address, loopback(freePort())),
		}}
		servers[i] = s
		need(tb, s.engine, s.engine.programs())
		tb.Cleanup(func() { s.close(tb) })
		if err := s.prepare(); err != nil {
			tb.Fatalf("dbtest: %s: prepare: %v", s.engine.name(), err)
		}
		if i > 0 {
			// Nothing was written yet, and all nodes have the same data, so the nodes that join need no copy.
			state := fmt.Sprintf("# GALERA saved state\nversion: 2.1\nuuid:    %s\nseqno:   %s\nsafe_to_bootstrap: 0\n", uuid, position)
			if err := os.WriteFile(filepath.Join(s.dir, "data", "grastate.dat"), []byte(state), 0o600); err != nil {
				tb.Fatal(err)
			}
		}
		s.start(tb)
		s.dsn = s.engine.base(s.port)
		if !await(func() bool { return s.run(tb, s.dsn, status+"'wsrep_local_state_comment'") == "Synced" }) {
			tb.Fatalf("dbtest: node %d did not join:\n%s", i, s.logTail())
		}
		if i == 0 {
			join = address
		}
		uuid, position = s.run(tb, s.dsn, status+"'wsrep_cluster_state_uuid'"), s.run(tb, s.dsn, status+"'wsrep_last_committed'")
	}
	return servers
}
