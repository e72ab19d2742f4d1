//go:build linux

package zksnow

import (
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/internal/testkit/zkserver"
)

// TestWhoseTime shows whose clock dates a write: the leader's, whichever member the client talks to. A protocol in
// which the client dates nothing makes the client's clock irrelevant.
func TestWhoseTime(t *testing.T) {
	testscale.NeedLong(t)
	e := zkserver.Start(t, 3)
	leader := e.Leader(t)
	for _, m := range e.Followers(t) {
		m.RestartAt(t, 10*time.Hour)
	}
	ahead := func(want time.Duration) {
		t.Helper()
		for _, m := range e.Members {
			store := newStoreOf(dial(t, m.Addr()), "/time")
			us, err := store.Now(t.Context())
			for err != nil { // the member has just begun to follow the leader, or to lead
				us, err = store.Now(t.Context())
			}
			if got := time.Until(time.UnixMicro(us)); got.Round(time.Hour) != want {
				t.Errorf("through %s: the time is %v ahead, want %v", m.Addr(), got, want)
			}
		}
	}
	if e.Leader(t) != leader {
		t.Fatal("another member leads now, whose clock is wrong")
	}
	ahead(0)
	leader.Restart(t)
	if e.Leader(t) == leader {
		t.Fatal("the same member leads again")
	}
	ahead(10 * time.Hour)
}
