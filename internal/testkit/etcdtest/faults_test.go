//go:build unix

package etcdtest

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/shardsnow/snow/etcdsnow"
	"github.com/shardsnow/snow/internal/testkit/leasefaults"
	"github.com/shardsnow/snow/internal/testkit/testscale"
)

func TestMain(m *testing.M) {
	if IsMember() {
		Serve()
	}
	leasefaults.WorkStore(Dial)
	os.Exit(m.Run())
}

// A scene is a cluster with a namespace, and worker processes.
type scene struct {
	*Cluster
	*leasefaults.Fleet
}

// newScene starts a cluster. Windows are short, but longer than an election.
func newScene(t *testing.T, workers int, window time.Duration) *scene {
	t.Helper()
	s := &scene{Cluster: Start(t)}
	ns := etcdsnow.Namespace{Name: "faults", Layout: leasefaults.Layout(), Workers: workers, Window: window}
	if err := etcdsnow.Init(t.Context(), s.Client, "", ns); err != nil {
		t.Fatal(err)
	}
	s.Fleet = leasefaults.NewFleet(t, s.DSN(), "faults")
	return s
}

// The scenarios of all stores.
func TestFaults(t *testing.T) {
	leasefaults.RunStore(t, Dial, func(t *testing.T) *leasefaults.StoreTarget {
		return &leasefaults.StoreTarget{
			Cluster: Start(t), OwnClock: true,
			DSN: func(addrs []string, space string) string { return strings.Join(addrs, ",") + "/" + space },
			Init: func(ctx context.Context, dsn string, ns etcdsnow.Namespace) error {
				return at(dsn, func(c *clientv3.Client, prefix string) error { return etcdsnow.Init(ctx, c, prefix, ns) })
			},
			Fence: func(ctx context.Context, dsn, namespace string) error {
				return at(dsn, func(c *clientv3.Client, prefix string) error { return etcdsnow.Fence(ctx, c, prefix, namespace) })
			},
			Executed: func(ctx context.Context, dsn, namespace string) (n int64, err error) {
				err = at(dsn, func(c *clientv3.Client, prefix string) error {
					reply, err := c.Get(ctx, prefix+"/workers/"+namespace+"/", clientv3.WithPrefix())
					if err != nil {
						return err
					}
					for _, kv := range reply.Kvs {
						n += kv.Version // how often the key was written
					}
					return nil
				})
				return n, err
			},
		}
	})
}

// at calls do with a client of its own.
func at(dsn string, do func(c *clientv3.Client, prefix string) error) error {
	c, prefix, err := connect(dsn)
	if err != nil {
		return err
	}
	return errors.Join(do(c, prefix), c.Close())
}

// patient gives an attempt a deadline, because without a majority etcd does not answer.
func patient(j *leasefaults.Job) { j.Timeout = attempt }

// The leader is cut off from the other members, and not from clients.
func TestLeaderIsAlone(t *testing.T) {
	testscale.NeedLong(t)
	s := newScene(t, 12, 6*time.Second)
	holders := s.Fleet.Start(6, patient)
	s.Begin(holders)
	for range 3 {
		former := s.Leader()
		s.Isolate(former)
		fresh := s.Fleet.Start(2, patient)
		s.Begin(fresh)
		s.Renew(holders)
		s.Heal()
		s.Renew(holders)
		for _, p := range fresh {
			p.Kill(t)
		}
	}
	s.Judge(false)
}

// After a restore and Fence, processes that hold numbers go on, and new ones get numbers whose windows come later.
func TestSnapshotIsRestored(t *testing.T) {
	s := newScene(t, 8, 3*time.Second)
	holders := s.Fleet.Start(3, patient)
	s.Begin(holders)
	path := s.Snapshot()
	later := s.Fleet.Start(3, patient) // the snapshot knows nothing of their numbers
	s.Begin(later)
	s.Renew(holders)
	for _, p := range s.Proxies {
		p.Refuse()
	}
	s.Restore(path)
	if err := etcdsnow.Fence(t.Context(), s.Client, "", "faults"); err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Proxies {
		p.Accept(t)
	}
	fresh := s.Fleet.Start(3, patient)
	s.Fleet.Expire(later)
	for _, p := range fresh {
		r := p.Await(t, "been refused", func(r leasefaults.Report) bool { return r.NoWorker > 0 })
		if r.Acquired > 0 {
			t.Errorf("a process got a number right after Fence: %+v", r)
		}
	}
	s.Judge(false)
}

// Without Fence, the processes whose windows were forgotten find out when they renew.
func TestSnapshotIsRestoredWithoutFence(t *testing.T) {
	testscale.NeedLong(t)
	s := newScene(t, 8, 6*time.Second)
	holders := s.Fleet.Start(3, patient)
	s.Begin(holders)
	path := s.Snapshot()
	s.Renew(holders)
	s.Restore(path)
	for _, p := range holders {
		p.Await(t, "noticed that its window was forgotten", func(r leasefaults.Report) bool { return r.Regressed+r.Displaced > 0 })
	}
	s.Flow(holders)
	s.Judge(true)
}

// A clock that is wrong by a day, from the beginning or later, and one that drifts, cost others their numbers at most.
func TestClocksAreWrong(t *testing.T) {
	testscale.NeedLong(t)
	s := newScene(t, 12, 4*time.Second)
	shifted := s.Shifted()
	healthy := s.Fleet.Start(3, patient)
	s.Begin(healthy)
	behind := s.Fleet.Start(1, patient, shifted, func(j *leasefaults.Job) { j.WallShift = -24 * time.Hour })[0]
	behind.Await(t, "been refused for its clock", func(r leasefaults.Report) bool { return r.Clock > 2 })
	ahead := s.Fleet.Start(2, patient, shifted, func(j *leasefaults.Job) { j.WallShift = 24 * time.Hour })
	s.Begin(ahead)
	s.Renew(healthy)
	drifting := s.Fleet.Start(1, patient, shifted)
	s.Begin(drifting)
	for i := range 40 { // a second for each tenth of a second
		drifting[0].SetWall(time.Duration(i) * time.Second)
		s.Live(drifting, 100*time.Millisecond)
	}
	stepped := s.Fleet.Start(1, patient, shifted)
	s.Begin(stepped)
	for _, by := range []time.Duration{24 * time.Hour, 0, -24 * time.Hour, 0} {
		stepped[0].SetWall(by)
		s.Live(stepped, 3*time.Second)
		s.Flow(healthy)
	}
	if r := behind.Report(); r.Acquired > 0 {
		t.Errorf("a clock that is a day behind: %+v", r)
	}
	s.Judge(false)
}
