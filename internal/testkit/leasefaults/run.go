//go:build unix

package leasefaults

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Target is the kind of server and the driver to test with.
type Target struct {
	Dialect sqlsnow.Dialect
	Server  func(tb testing.TB, options ...string) *dbtest.Server
	Driver  string // name in database/sql
	Import  string // path of the package that registers it
}

// A scenario is a sequence of faults. It has a world of its own.
type scenario struct {
	name      string
	namespace sqlsnow.Namespace // Name and Layout are filled in
	proxied   bool              // worker processes reach the server through a proxy
	alone     bool              // no other scenario runs meanwhile, because it needs all processors
	private   bool              // it needs a server of its own, because other scenarios would not survive its faults
	follower  bool              // the private server has a replica, and everybody goes through the proxy
	lossy     bool              // ids may be issued twice
	long      bool              // it takes long
	clock     bool              // it is about a process's clock that differs from the server's
	play      func(w *world)
}

func scenarios() []scenario {
	var all []scenario
	// The longest and the heaviest scenarios come first.
	for _, some := range [][]scenario{failovers(), storms(), clocks(), outages(), pauses(), pins(), pods()} {
		all = append(all, some...)
	}
	return all
}

// Run runs every scenario as a subtest. Call it once in a test binary, from a test function that does nothing else:
// worker processes run this test again, and do not return from Run.
func Run(t *testing.T, target Target) {
	if os.Getenv(jobVariable) != "" {
		Work()
	}
	for _, given := range []string{"SNOW_MYSQL_DSN", "SNOW_POSTGRES_DSN"} {
		t.Setenv(given, "") // only private servers can be killed
	}
	shared := target.Server(t, "max_connections=400")
	// Scenarios mostly wait. t.Parallel would run only as many as there are processors.
	var all sync.WaitGroup
	slots := make(chan struct{}, 5)
	for _, s := range scenarios() {
		if s.long && !testscale.Long() {
			t.Run(s.name, func(t *testing.T) { testscale.NeedLong(t) })
			continue
		}
		server, replica, database := shared, (*dbtest.Server)(nil), ""
		if !s.private {
			database = shared.CreateDatabase(t)
		}
		run := func() {
			t.Run(s.name, func(t *testing.T) {
				if s.private {
					server = target.Server(t)
					if s.follower {
						replica = server.Replica(t)
					}
					database = server.CreateDatabase(t)
				}
				newWorld(t, target, s, server, replica, database).play()
			})
		}
		if s.alone {
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

// A world is the server, the proxy and the processes of a scenario.
type world struct {
	*testing.T
	scenario  scenario
	target    Target
	server    *dbtest.Server
	replica   *dbtest.Server // nil without
	proxy     *proxy         // nil without
	store     *StoreTarget   // nil for an SQL database
	direct    string         // the DSN of a store without proxies
	proxies   []*proxy       // of a store, or only proxy
	db        *sql.DB
	job       job // of every worker process; start completes it
	processes []*process
}

func newWorld(t *testing.T, target Target, s scenario, server, replica *dbtest.Server, database string) *world {
	t.Helper()
	w := &world{T: t, scenario: s, target: target, server: server, replica: replica}
	dsn := server.DSN(database)
	if s.follower {
		w.proxy = newProxy(t, server.Addr())
		dsn = strings.Replace(dsn, server.Addr(), w.proxy.addr, 1)
	}
	var err error
	if w.db, err = sql.Open(target.Driver, dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.db.Close() })
	if err := sqlsnow.Migrate(t.Context(), w.db, target.Dialect); err != nil {
		t.Fatal(err)
	}
	s.namespace.Name, s.namespace.Layout = "faults", layout()
	if err := sqlsnow.Init(t.Context(), w.db, target.Dialect, s.namespace); err != nil {
		t.Fatal(err)
	}
	if s.proxied {
		w.proxy = newProxy(t, server.Addr())
		w.proxies = []*proxy{w.proxy}
		dsn = strings.Replace(dsn, server.Addr(), w.proxy.addr, 1)
	}
	w.job = job{Driver: target.Driver, Dialect: target.Dialect, DSN: dsn, Namespace: s.namespace.Name, Dir: t.TempDir()}
	t.Cleanup(func() {
		if l, err := readLedger(w.job.Dir, layout()); t.Failed() {
			t.Logf("ledger at the end: %+v, %v", l, err)
		}
	})
	return w
}

// play runs the scenario and checks its result.
func (w *world) play() {
	w.scenario.play(w)
	if !w.Failed() {
		w.judge()
	}
}

// start starts worker processes. Their job is to acquire one lease, patiently, unless changes change it.
func (w *world) start(n int, changes ...func(*job)) []*process {
	w.Helper()
	for range n {
		j := w.job
		j.Patient = true
		j.Every = reportTime * time.Duration(max(1, n/10)) // reports of many processes would use up the machine
		j.Holder = fmt.Sprintf("w%03d", len(w.processes))
		for _, change := range changes {
			change(&j)
		}
		program := []string{j.program}
		if j.program == "" || w.store != nil { // a test binary
			top, _, _ := strings.Cut(w.Name(), "/")
			program = []string{cmp.Or(j.program, os.Args[0]), "-test.run=^" + top + "$"}
		}
		w.processes = append(w.processes, spawn(w, program, j))
	}
	return w.processes[len(w.processes)-n:]
}

// judge ends all processes and checks all ids that were issued.
func (w *world) judge() {
	w.Helper()
	var reported uint64
	for _, p := range w.processes {
		p.leave()
	}
	for _, p := range w.processes {
		r := p.left(w)
		if fault := p.fault(); fault != "" {
			w.Errorf("%s: %s", p.name, fault)
		}
		reported += r.Issued
	}
	l, err := readLedger(w.job.Dir, layout())
	if err != nil {
		w.Fatal(err)
	}
	w.Logf("%d ids of %d leases and %d numbers; %d duplicates, %d shared ticks", l.IDs, l.Files, l.Numbers, l.Duplicates, l.Shared)
	if l.IDs == 0 || uint64(l.IDs) < reported {
		w.Errorf("the files hold %d ids, and %d were reported", l.IDs, reported)
	}
	if l.Descents > 0 || !w.scenario.lossy && l.Duplicates+l.Shared > 0 {
		w.Errorf("%d duplicate ids, %d ticks shared by leases, %d descents:\n%s",
			l.Duplicates, l.Shared, l.Descents, strings.Join(l.Examples, "\n"))
	}
}

// each calls f with every process in turn.
func each(processes []*process, f func(*process)) {
	for _, p := range processes {
		f(p)
	}
}

// begin waits until each of the processes has a lease and issues ids.
func (w *world) begin(processes []*process) {
	w.Helper()
	for _, p := range processes {
		p.await(w, "acquired a lease", func(r report) bool { return r.Acquired > 0 })
	}
	flow(w, processes...)
}

// renew waits until each of the processes has renewed its lease twice more, and issues ids.
func (w *world) renew(processes []*process) {
	w.Helper()
	before := renewals(processes)
	for _, p := range processes {
		p.await(w, "renewed", func(r report) bool { return r.Renewals >= before[p]+2 })
	}
	flow(w, processes...)
}

// renewals returns how often each of the processes has renewed its lease.
func renewals(processes []*process) map[*process]uint64 {
	n := make(map[*process]uint64)
	for _, p := range processes {
		r, _ := p.report()
		n[p] = r.Renewals
	}
	return n
}

// live waits until each of the processes has run for a while.
func (w *world) live(processes []*process, d time.Duration) {
	w.Helper()
	before := make(map[*process]uint64)
	for _, p := range processes {
		r, _ := p.report()
		before[p] = r.Serial + uint64(d/reportTime)
	}
	for _, p := range processes {
		p.await(w, "run on", func(r report) bool { return r.Serial >= before[p] })
	}
}

// expire waits, during an outage, until none of the processes has a tick left. A process that was slow to renew may
// have had none before the outage.
func (w *world) expire(processes []*process) {
	w.Helper()
	w.reported(processes)
	for _, p := range processes {
		p.await(w, "expired", func(r report) bool { return r.Expired > r.Resumed })
	}
}

// reported waits until what the processes have done is in their reports.
func (w *world) reported(processes []*process) {
	w.Helper()
	begun := make(map[*process]uint64)
	for _, p := range processes {
		r, _ := p.report()
		begun[p] = r.Serial
	}
	for _, p := range processes {
		p.await(w, "reported", func(r report) bool { return r.Serial > begun[p]+1 })
	}
}

// toTheCeiling checks that expired processes used their windows up, except for less than a batch, and for ticks when
// they did not run.
func (w *world) toTheCeiling(processes []*process) {
	w.Helper()
	for _, p := range processes {
		r, _ := p.report()
		if most := layout().Tick()*(batch/4+1) + r.Idle; r.Short < 0 || r.Short > most {
			w.Errorf("%s: ids stopped %v before the ceiling, want 0 to %v", p.name, r.Short, most)
		}
	}
}
