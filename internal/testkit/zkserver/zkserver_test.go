//go:build linux

package zkserver_test

import (
	"testing"

	"github.com/shardsnow/snow/internal/testkit/zkserver"
)

// A new leader is elected when the leader is killed or does not answer, and none without a majority.
func TestEnsemble(t *testing.T) {
	e := zkserver.Start(t, 3)
	first := e.Leader(t)
	first.Kill(t)
	second := e.Leader(t)
	if second == first {
		t.Fatalf("the leader is the member that was killed: %s", first.Addr())
	}
	first.Restart(t)
	second.Stop(t)
	if third := e.Leader(t); third == second {
		t.Errorf("the leader is the member that was stopped: %s", second.Addr())
	}
	second.Continue(t)
	for _, m := range e.Members {
		m.Await(t)
	}
	if len(e.Followers(t)) != 2 || len(e.Addrs()) != 3 {
		t.Errorf("got %d followers and %d addresses, want 2 and 3", len(e.Followers(t)), len(e.Addrs()))
	}
}
