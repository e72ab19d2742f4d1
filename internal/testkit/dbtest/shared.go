//go:build unix

package dbtest

import (
	"sync"
	"testing"
)

// shared are the servers of this process that [SharedMariaDB] and [SharedPostgres] return.
var shared struct {
	sync.Mutex
	mariadb, postgres *Server
}

// SharedMariaDB returns a server that all tests of this process use, as [MariaDB] starts it. The first call starts
// it, and it ends with the process. It is for tests that only need databases, which are dropped when their tests end. It
// can't be killed, stopped and so on. A test may change a global setting only if no other one runs, and sets it back.
func SharedMariaDB(tb testing.TB) *Server {
	tb.Helper()
	return lend(tb, &shared.mariadb, MariaDB)
}

// SharedPostgres is [SharedMariaDB] for [Postgres].
func SharedPostgres(tb testing.TB) *Server {
	tb.Helper()
	return lend(tb, &shared.postgres, Postgres)
}

func lend(tb testing.TB, all **Server, start func(testing.TB, ...string) *Server) *Server {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if *all == nil {
		*all = start(untilExit{tb})
	}
	s := **all
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
