//go:build unix

package dbtest

import (
	"path/filepath"
	"strings"
	"testing"
)

// newest skips a test of programs that install-servers.sh has not fetched.
func newest(t *testing.T, products ...string) {
	t.Helper()
	for _, product := range products {
		if found, _ := filepath.Glob(filepath.Join(newerServers(), product+"-*", "packages")); len(found) == 0 {
			t.Skipf("no %s: internal/testkit/dbtest/install-servers.sh", product)
		}
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]struct{ product, not string }{
		"mysql": {"MySQL ", "MariaDB"}, "mariadb": {"MariaDB ", "MariaDB 10."}, "postgres": {"PostgreSQL ", "PostgreSQL 15"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newest(t, name)
			s := Named(t, name, "max_connections=50")
			got := s.Product(t)
			if !strings.HasPrefix(got, want.product) || strings.Contains(got, want.not) {
				t.Errorf("got %s", got)
			}
			t.Log(got)
			db := s.DSN(s.CreateDatabase(t))
			s.run(t, db, "CREATE TABLE rows_kept (id BIGINT PRIMARY KEY)")
			s.run(t, db, "INSERT INTO rows_kept VALUES (1)")
			s.Kill(t)
			s.Restart(t)
			if got := s.run(t, db, "SELECT count(*) FROM rows_kept"); got != "1" {
				t.Errorf("rows after a crash: got %s, want 1", got)
			}
		})
	}
	if got := record(t, func(tb testing.TB) { Named(tb, "oracle-7") }); got != `fatal: dbtest: no server is named "oracle-7"` {
		t.Error(got)
	}
}

// The tests of all packages run on the server that the environment names.
func TestServerOfTheEnvironment(t *testing.T) {
	newest(t, "mysql")
	t.Setenv("SNOW_MYSQL_SERVER", "mysql")
	if s := MariaDB(t); s.engine.name() != "MySQL" {
		t.Errorf("got %s", s.Product(t))
	}
}

func TestPooler(t *testing.T) {
	for _, name := range []string{"pgbouncer", "pgbouncer-newest"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "pgbouncer" {
				newest(t, "pgbouncer", "postgres")
			}
			s := Named(t, name)
			db := s.DSN(s.CreateDatabase(t))
			s.run(t, db, "CREATE TABLE rows_kept (id BIGINT PRIMARY KEY)")
			s.Kill(t)
			s.Restart(t)
			if got := s.run(t, s.DSN("postgres"), "SELECT 1"); got != "1" {
				t.Errorf("after a restart: got %s", got)
			}
			if s.Addr() == s.engine.addr(s.dsn) {
				t.Error("the DSN goes around the pooler")
			}
		})
	}
}

func TestReplica(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		primary := start(t)
		replica := primary.Replica(t)
		name := primary.CreateDatabase(t)
		primary.run(t, primary.DSN(name), "CREATE TABLE rows_kept (id BIGINT PRIMARY KEY)")
		primary.run(t, primary.DSN(name), "INSERT INTO rows_kept VALUES (1)")
		replica.CatchUp(t, primary)
		replica.Unfollow(t)
		primary.run(t, primary.DSN(name), "INSERT INTO rows_kept VALUES (4)")
		replica.Refollow(t)
		replica.CatchUp(t, primary)
		replica.Unfollow(t)
		primary.run(t, primary.DSN(name), "INSERT INTO rows_kept VALUES (2)")
		primary.Kill(t)
		replica.Promote(t)
		replica.run(t, replica.DSN(name), "INSERT INTO rows_kept VALUES (3)")
		if got := strings.Fields(replica.run(t, replica.DSN(name), "SELECT id FROM rows_kept ORDER BY id")); strings.Join(got, " ") != "1 3 4" {
			t.Errorf("rows of the new primary: got %s, want 1, 3 and 4", got)
		}
	})
}

func TestGaleraNodes(t *testing.T) {
	t.Parallel()
	nodes := Galera(t, 4)
	name := nodes[0].CreateDatabase(t)
	nodes[0].run(t, nodes[0].DSN(name), "CREATE TABLE rows_kept (id BIGINT PRIMARY KEY)")
	nodes[3].Kill(t)
	if !await(func() bool { return nodes[0].wsrep(t, "cluster_size") == "3" }) {
		t.Fatal("the others did not notice a kill")
	}
	nodes[0].run(t, nodes[0].DSN(name), "INSERT INTO rows_kept VALUES (1)")
	nodes[1].Isolate(t, true)
	if !await(func() bool { return nodes[1].wsrep(t, "cluster_status") == "non-Primary" }) {
		t.Error("an isolated node did not notice it")
	}
	nodes[0].run(t, nodes[0].DSN(name), "INSERT INTO rows_kept VALUES (2)")
	nodes[1].Isolate(t, false)
	nodes[1].run(t, nodes[1].DSN(name), "INSERT INTO rows_kept VALUES (3)")
	if got := nodes[1].run(t, nodes[1].DSN(name), "SELECT count(*) FROM rows_kept"); got != "3" {
		t.Errorf("rows at a node that was isolated: got %s, want 3", got)
	}
}

func TestGroup(t *testing.T) {
	t.Parallel()
	newest(t, "mysql")
	nodes := Group(t, 3)
	name := nodes[0].CreateDatabase(t)
	nodes[0].run(t, nodes[0].DSN(name), "CREATE TABLE rows_kept (id BIGINT PRIMARY KEY)")
	if !nodes[0].Primary(t) || nodes[1].Primary(t) {
		t.Error("the first node is not the one primary")
	}
	nodes[0].Kill(t)
	var primary *Server
	if !await(func() bool {
		for _, s := range nodes[1:] {
			if s.Primary(t) {
				primary = s
			}
		}
		return primary != nil
	}) {
		t.Fatal("no primary was elected")
	}
	primary.run(t, primary.DSN(name), "INSERT INTO rows_kept VALUES (1)")
	nodes[0].Restart(t)
	if !await(func() bool { return nodes[0].run(t, nodes[0].DSN(name), "SELECT count(*) FROM rows_kept") == "1" }) {
		t.Error("the node that was killed does not have what it missed")
	}
}
