//go:build unix

package dbtest

import (
	"sync"
	"testing"
)

// shared is the server of this process that [SharedMariaDB] returns.
var shared struct {
	sync.Mutex
	mariadb *Server
}

// SharedMariaDB returns a server that all tests of this process use, as [MariaDB] starts it. The first call starts
// it, and it ends with the process. It is for tests that only need databases, which are dropped when their tests end. It
// can't be killed, stopped and so on. A test may change a global setting only if no other one runs, and sets it back.
func SharedMariaDB(tb testing.TB) *Server {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.mariadb == nil {
		shared.mariadb = MariaDB(untilExit{tb})
	}
	s := *shared.mariadb
	tb.Cleanup(func() {
		if tb.Failed() && s.dir != "" {
			tb.Logf("dbtest: %s: %s", s.engine.name(), s.logged())
		}
	})
	lent := s
	lent.dir, lent.process, lent.shared = "", nil, s.dir != ""
	return &lent
}

// untilExit is a test that cleans up nothing: the guard ends the server when the process has ended.
type untilExit struct{ testing.TB }

func (untilExit) Cleanup(func()) {}
