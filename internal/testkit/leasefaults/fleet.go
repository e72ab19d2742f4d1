//go:build unix

package leasefaults

import (
	"os"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

// A Job is what a worker process does.
type Job = job

// A Report is what a worker process has done.
type Report = report

// A Fleet is the worker processes of a scenario on a store, outside of [RunStore], with the ledger of their ids. Its methods
// must be called from the test's own goroutine.
type Fleet struct{ w *world }

// A Process is a worker process of a Fleet.
type Process = process

// WorkStore does the job of a worker process if this process is one, and does not return then. dial connects it with the
// store.
func WorkStore(dial Dial) {
	if os.Getenv(jobVariable) != "" {
		workWith(dial)
	}
}

// NewFleet returns a fleet without processes, whose processes lease from a namespace with [Layout]. The test binary must
// call [WorkStore].
func NewFleet(t *testing.T, dsn, namespace string) *Fleet {
	w := &world{T: t, store: &StoreTarget{}}
	w.job = job{DSN: dsn, Namespace: namespace, Dir: t.TempDir()}
	t.Cleanup(func() {
		if l, err := readLedger(w.job.Dir, layout()); t.Failed() {
			t.Logf("ledger at the end: %+v, %v", l, err)
		}
	})
	return &Fleet{w}
}

// Layout returns the layout of the namespaces that fleets use.
func Layout() snow.Layout { return layout() }

// Start starts worker processes. Their job is to acquire one lease, patiently, unless changes change it.
func (f *Fleet) Start(n int, changes ...func(*Job)) []*Process {
	f.w.Helper()
	return f.w.start(n, changes...)
}

// Shifted builds the program of worker processes whose wall clocks can be shifted: see Job.WallShift and Process.SetWall.
func (f *Fleet) Shifted() func(*Job) {
	f.w.Helper()
	program := f.w.buildShifted()
	return func(j *Job) { j.program = program }
}

// Begin waits until each of the processes has a lease and issues ids.
func (f *Fleet) Begin(processes []*Process) { f.w.Helper(); f.w.begin(processes) }

// Renew waits until each of the processes has renewed its lease twice more, and issues ids.
func (f *Fleet) Renew(processes []*Process) { f.w.Helper(); f.w.renew(processes) }

// Live waits until each of the processes has run for a while.
func (f *Fleet) Live(processes []*Process, d time.Duration) { f.w.Helper(); f.w.live(processes, d) }

// Flow waits until each of the processes issues ids.
func (f *Fleet) Flow(processes []*Process) { f.w.Helper(); flow(f.w, processes...) }

// Expire waits, during an outage, until none of the processes has a tick left, and checks that they used their windows up.
func (f *Fleet) Expire(processes []*Process) {
	f.w.Helper()
	f.w.expire(processes)
	f.w.toTheCeiling(processes)
}

// Judge ends all processes and checks all ids that were issued: see the package's documentation. With lossy, ids may
// exist twice.
func (f *Fleet) Judge(lossy bool) {
	f.w.Helper()
	f.w.scenario.lossy = lossy
	f.w.judge()
}

// Await waits until a report fulfils the condition, and returns it. what completes the sentence "it has not".
func (p *process) Await(tb testing.TB, what string, condition func(Report) bool) Report {
	tb.Helper()
	return p.await(tb, what, condition)
}

// Report returns the latest report.
func (p *process) Report() Report {
	r, _ := p.report()
	return r
}

// Kill ends the process with SIGKILL.
func (p *process) Kill(tb testing.TB) { tb.Helper(); p.kill(tb) }

// Stop halts the process with SIGSTOP, until Resume.
func (p *process) Stop(tb testing.TB) { tb.Helper(); p.stop(tb) }

// Resume lets a process go on that Stop has halted.
func (p *process) Resume(tb testing.TB) { tb.Helper(); p.resume(tb) }

// Leave closes the leases of the process, ends it, and returns its last report.
func (p *process) Leave(tb testing.TB) Report {
	tb.Helper()
	p.leave()
	return p.left(tb)
}

// SetWall sets how wrong the wall clock of the process is, in whole seconds.
func (p *process) SetWall(by time.Duration) { p.command("wall " + by.String()) }

// A Proxy stands between worker processes and a server, and does to their connections what networks do.
type Proxy struct{ p *proxy }

// NewProxy returns a proxy that lets everything pass and lives as long as the test.
func NewProxy(tb testing.TB, server string) *Proxy { tb.Helper(); return &Proxy{newProxy(tb, server)} }

// Addr returns where clients reach the proxy.
func (p *Proxy) Addr() string { return p.p.addr }

// Refuse cuts all connections and refuses new ones, until Accept.
func (p *Proxy) Refuse() { p.p.refuse() }

// Accept lets clients connect again.
func (p *Proxy) Accept(tb testing.TB) { tb.Helper(); p.p.accept(tb) }
