//go:build unix

package leasefaults

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/sqlsnow"
)

// Acquire acquires a lease of a store.
type Acquire func(ctx context.Context, cfg sqlsnow.LeaseConfig) (Lease, error)

// A Dial connects a worker process with a store, whose address is in the form of its package.
type Dial func(dsn string) (Acquire, error)

// A Cluster is the servers of a store, with a majority that decides. Each method returns what ends the fault.
type Cluster interface {
	Addrs() []string                        // of the members
	KillLeader(tb testing.TB) (end func())  // ends the leader's process, and starts it again
	StopLeader(tb testing.TB) (end func())  // halts the leader's process
	LoseMember(tb testing.TB) (end func())  // ends the process of a follower, which then begins without its data
	LoseQuorum(tb testing.TB) (end func())  // ends the processes of a majority
	RestoreCopy(tb testing.TB) (end func()) // copies the data of all members, and puts the copy back
}

// A StoreTarget is a store of keys with versions to test with. A dsn is an address in the form of the store's package.
type StoreTarget struct {
	Cluster  Cluster
	DSN      func(addrs []string, space string) (dsn string) // of a space that no other scenario uses
	Init     func(ctx context.Context, dsn string, ns sqlsnow.Namespace) error
	Fence    func(ctx context.Context, dsn, namespace string) error
	OwnClock bool                                                                  // the clock that counts is the process's
	Executed func(ctx context.Context, dsn, namespace string) (n int64, err error) // how often rows were written
}

// RunStore runs the scenarios of a store as subtests. Call it once in a test binary, as [Run]. Worker processes dial the
// store, and do not call start.
func RunStore(t *testing.T, dial Dial, start func(t *testing.T) *StoreTarget) {
	if os.Getenv(jobVariable) != "" {
		workWith(dial)
	}
	target := start(t)
	var all sync.WaitGroup
	slots := make(chan struct{}, 5) // scenarios mostly wait
	for _, s := range storeScenarios(target) {
		if s.long && !testscale.Long() {
			t.Run(s.name, func(t *testing.T) { testscale.NeedLong(t) })
			continue
		}
		run := func() { t.Run(s.name, func(t *testing.T) { newStoreWorld(t, target, s).play() }) }
		if s.alone { // the last ones
			all.Wait()
			run()
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			run()
			<-slots
		})
	}
	all.Wait()
}

func newStoreWorld(t *testing.T, target *StoreTarget, s scenario) *world {
	t.Helper()
	w := &world{T: t, scenario: s, store: target}
	addrs, space := target.Cluster.Addrs(), strings.ToLower(rand.Text()[:16])
	w.direct = target.DSN(addrs, space)
	if s.proxied {
		for i, addr := range addrs {
			p := newProxy(t, addr)
			w.proxies = append(w.proxies, p)
			addrs[i] = p.addr
		}
	}
	s.namespace.Name, s.namespace.Layout = "faults", layout()
	w.job = job{DSN: target.DSN(addrs, space), Namespace: s.namespace.Name, Dir: t.TempDir()}
	if err := target.Init(t.Context(), w.direct, s.namespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if l, err := readLedger(w.job.Dir, layout()); t.Failed() {
			t.Logf("ledger at the end: %+v, %v", l, err)
		}
	})
	return w
}
