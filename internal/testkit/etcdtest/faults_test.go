//go:build unix

package etcdtest

import (
	"os"
	"testing"
	"time"

	"github.com/shardsnow/snow/etcdsnow"
	"github.com/shardsnow/snow/internal/testkit/leasefaults"
	"github.com/shardsnow/snow/internal/testkit/testscale"
)

func TestMain(m *testing.M) {
	switch {
	case IsMember():
		Serve()
	case leasefaults.IsWorker():
		leasefaults.Work(Open)
	}
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
	s.Fleet = leasefaults.NewFleet(t, "github.com/shardsnow/snow/internal/testkit/etcdtest", s.DSN(), "faults")
	return s
}

// patient gives an attempt a deadline, because without a majority etcd does not answer.
func patient(j *leasefaults.Job) { j.Timeout = attempt }

func TestLeaderIsKilled(t *testing.T) {
	s := newScene(t, 12, 8*time.Second)
	holders := s.Fleet.Start(6, patient)
	s.Begin(holders)
	rounds := 1
	if testscale.Long() {
		rounds = 5
	}
	for range rounds {
		leader := s.Leader()
		leader.Kill(t)
		fresh := s.Fleet.Start(2, patient)
		s.Begin(fresh)
		s.Renew(holders)
		leader.Restart(t)
		for _, p := range fresh {
			p.Kill(t)
		}
	}
	s.Judge(false)
}

func TestLeaderIsStopped(t *testing.T) {
	testscale.NeedLong(t)
	s := newScene(t, 12, 6*time.Second)
	holders := s.Fleet.Start(6, patient)
	s.Begin(holders)
	for range 3 {
		leader := s.Leader()
		leader.Stop(t)
		s.Renew(holders)
		leader.Resume(t) // it believes for a moment that it leads
		s.Renew(holders)
	}
	s.Judge(false)
}

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

// Without a majority, ids flow to the end of the window, nobody gets a number, and everything goes on afterwards.
func TestNoMajority(t *testing.T) {
	s := newScene(t, 12, 4*time.Second)
	holders := s.Fleet.Start(5, patient)
	s.Begin(holders)
	for _, m := range s.Members[:2] {
		m.Kill(t)
	}
	s.Expire(holders)
	late := s.Fleet.Start(2, patient)
	for _, p := range late {
		r := p.Await(t, "been refused", func(r leasefaults.Report) bool { return r.Refused > 0 })
		if r.Acquired > 0 {
			t.Errorf("a process acquired a lease without a majority: %+v", r)
		}
	}
	for _, m := range s.Members[:2] {
		m.Restart(t)
	}
	s.Begin(late)
	s.Flow(holders)
	for _, p := range holders {
		if r := p.Report(); r.Ended > 0 || r.Failures == 0 {
			t.Errorf("%d leases ended and %d renewals failed, want none and some", r.Ended, r.Failures)
		}
	}
	s.Judge(false)
}

// Connections are cut while requests are under way, so that transactions are carried out whose reply is lost, and others
// are carried out late.
func TestRepliesAreLost(t *testing.T) {
	s := newScene(t, 16, 3*time.Second)
	holders := s.Fleet.Start(6, patient)
	s.Begin(holders)
	for _, p := range s.Proxies {
		p.Cut(10)
	}
	enough := int64(5)
	if testscale.Long() {
		enough = 50
	}
	fresh := s.Fleet.Start(3, patient)
	holders[0].Await(t, "seen all kinds of cuts", func(leasefaults.Report) bool {
		var before, after, late int64
		for _, p := range s.Proxies {
			b, a, l := p.Cuts()
			before, after, late = before+b, after+a, late+l
		}
		return before >= enough && after >= enough && late >= enough
	})
	for _, p := range s.Proxies {
		p.Cut(0)
	}
	s.Renew(holders)
	s.Begin(fresh)
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

// A thousand processes that acquire at once get all numbers, each one once.
func TestStorm(t *testing.T) {
	testscale.NeedLong(t)
	const processes, each, numbers = 10, 100, 64
	s := newScene(t, numbers, 10*time.Minute)
	all := s.Fleet.Start(processes, func(j *leasefaults.Job) { j.Leases, j.Limit, j.Wait, j.Patient = each, 32, true, false })
	for _, p := range all {
		p.Await(t, "been ready", func(r leasefaults.Report) bool { return r.Serial > 0 })
	}
	for _, p := range all {
		p.Go()
	}
	var acquired, none uint64
	for _, p := range all {
		r := p.Await(t, "ended its attempts", func(r leasefaults.Report) bool { return r.Acquired+r.Refused == each })
		acquired, none = acquired+r.Acquired, none+r.NoWorker
		if r.Refused != r.NoWorker {
			t.Errorf("refused: %s", r.Failure)
		}
	}
	for _, p := range all {
		p.Await(t, "issued the ids of its leases", func(r leasefaults.Report) bool { return r.Issued >= r.Acquired*32 })
	}
	if leases, used := s.Ledger(); acquired != numbers || none != processes*each-numbers || leases != numbers || used != numbers {
		t.Errorf("%d leases of %d numbers, %d acquired and %d found no number; want %d numbers", leases, used, acquired, none, numbers)
	}
	s.Judge(false)
}

// Processes are killed at random moments, and others take their numbers when their windows are over.
func TestProcessesAreKilled(t *testing.T) {
	testscale.NeedLong(t)
	s := newScene(t, 8, 2*time.Second)
	for round := range 6 {
		all := s.Fleet.Start(6, patient)
		if round%2 == 0 {
			s.Begin(all)
		} else {
			all[round].Await(t, "started", func(r leasefaults.Report) bool { return r.Serial > 0 })
		}
		for _, p := range all {
			p.Kill(t)
		}
	}
	s.Begin(s.Fleet.Start(6, patient))
	if leases, _ := s.Ledger(); leases <= 8 {
		t.Errorf("%d leases, want more than there are numbers", leases)
	}
	s.Judge(false)
}
