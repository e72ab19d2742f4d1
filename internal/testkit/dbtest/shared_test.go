//go:build unix

package dbtest

import (
	"strings"
	"testing"
)

func TestSharedServer(t *testing.T) {
	need(t, mariadb{}, mariadb{}.programs())
	var first *Server
	var name string
	t.Run("first", func(t *testing.T) {
		first = SharedMariaDB(t)
		name = first.CreateDatabase(t)
		if got := record(t, first.Kill); !strings.Contains(got, "other tests use this one") {
			t.Errorf("kill: got %q, want a failure", got)
		}
	})
	second := SharedMariaDB(t)
	if second.Addr() != first.Addr() {
		t.Errorf("address: got %s, want %s", second.Addr(), first.Addr())
	}
	second.run(t, second.dsn, second.engine.create(name)) // would be refused if it had not been dropped
	if private := MariaDB(t); private.Addr() == first.Addr() {
		t.Error("MariaDB returned the shared server")
	}
}
