//go:build unix

package leasefaults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// A segmentJob is the job of a worker process that makes ids of segments.
type segmentJob struct {
	DSNs []string
	Step int64
}

const (
	segmentTag  = "faults"
	segmentPace = 4 * time.Millisecond // between two batches, because no format limits the rate of segments
)

// loadSegments makes ids of segments until the command "close". Expired in its reports means that no numbers are left.
func (w *worker) loadSegments(file io.Writer) error {
	dbs := make([]*sql.DB, len(w.Segments.DSNs))
	for i, dsn := range w.Segments.DSNs {
		var err error
		if dbs[i], err = sql.Open(w.Driver, dsn); err != nil {
			return err
		}
		dbs[i].SetMaxOpenConns(2)
	}
	var s *segments.Segments
	for s == nil {
		var err error
		s, err = segments.Open(w.issue, dbs, w.Dialect, segments.Config{
			Tag: segmentTag, Step: w.Segments.Step, MaxStep: w.Segments.Step, Logger: slog.New(w),
		})
		if err == nil {
			break
		}
		w.update(func(r *report) { r.refuse(err) })
		select {
		case <-w.issue.Done():
			return nil
		case <-time.After(retryTime):
		}
	}
	w.update(func(r *report) { r.Acquired++ })
	err := w.drain(s, file)
	return errors.Join(err, s.Close(context.Background())) // the process ends with its parent
}

func (w *worker) drain(s *segments.Segments, file io.Writer) error {
	ids := make([]snow.ID, batch)
	var issued uint64
	expired := false
	for round := 1; w.Limit == 0 || issued < w.Limit; round++ {
		n, err := 0, error(nil)
		if round%2 == 0 {
			if err = s.Fill(w.issue, ids); err == nil {
				n = batch
			}
		} else {
			for ; n < batch && err == nil; n++ {
				ids[n], err = s.Next(w.issue)
			}
			if err != nil {
				n--
			}
		}
		if n > 0 {
			if err := write(file, ids[:n]); err != nil {
				return err
			}
			issued += uint64(n)
		}
		back := s.Stats().Regressions
		w.update(func(r *report) {
			r.Issued += uint64(n)
			r.Regressed = back
			if expired && n > 0 {
				r.Resumed++
			}
		})
		expired = expired && n == 0
		switch {
		case w.issue.Err() != nil:
			return nil
		case errors.Is(err, segments.ErrEmpty):
			if !expired {
				expired = true
				w.update(func(r *report) { r.Expired++; r.Outages = append(r.Outages, err.Error()) })
			}
		case err != nil:
			return err
		}
		select {
		case <-w.issue.Done():
			return nil
		case <-time.After(segmentPace):
		}
	}
	<-w.issue.Done()
	return nil
}

// A segmentWorld is servers, and processes that take numbers from all of them.
type segmentWorld struct {
	*world
	servers []*dbtest.Server
	dbs     []*sql.DB
	proxies []*proxy
	step    int64
	skips   bool // ids of a process may descend, because there are several databases
}

// RunSegments tests segments with faults, as [Run] does leases. Call it once in a test binary, from a test function
// that does nothing else. No id may be issued twice, and ids must flow whenever a database answers.
func RunSegments(t *testing.T, target Target) {
	if os.Getenv(jobVariable) != "" {
		Work()
	}
	for _, given := range []string{"SNOW_MYSQL_DSN", "SNOW_POSTGRES_DSN"} {
		t.Setenv(given, "") // only private servers can be killed
	}
	var all sync.WaitGroup // scenarios mostly wait
	defer all.Wait()
	for _, s := range []struct {
		name    string
		alone   bool
		long    bool
		servers int
		step    int64
		play    func(w *segmentWorld)
	}{
		{"200 processes on one tag, killed", true, true, 1, 50, (*segmentWorld).crowd},
		{"database killed", false, false, 1, 200, (*segmentWorld).crash},
		{"database stopped until numbers run out", false, true, 1, 200, (*segmentWorld).halt},
		{"connections cut in the middle of takes, and answers late", false, false, 2, 50, (*segmentWorld).cut},
		{"two of three databases down", false, true, 3, 100, (*segmentWorld).twoDown},
		{"database restored", false, false, 1, 50, (*segmentWorld).restore},
	} {
		run := func(t *testing.T) {
			if s.long {
				testscale.NeedLong(t)
			}
			w := &segmentWorld{world: &world{T: t, target: target}, step: s.step, skips: s.servers > 1}
			w.job = job{
				Driver: target.Driver, Dialect: target.Dialect, Dir: t.TempDir(), Segments: &segmentJob{Step: s.step},
			}
			for range s.servers {
				w.add()
			}
			s.play(w)
		}
		if s.alone {
			t.Run(s.name, run)
			continue
		}
		all.Go(func() { t.Run(s.name, run) })
	}
}

// add starts a server.
func (w *segmentWorld) add() {
	w.Helper()
	server := w.target.Server(w, "max_connections=450")
	dsn := server.DSN(server.CreateDatabase(w))
	db, err := sql.Open(w.target.Driver, dsn)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = db.Close() })
	if err := sqlsnow.Migrate(w.Context(), db, w.target.Dialect); err != nil {
		w.Fatal(err)
	}
	p := newProxy(w, server.Addr())
	w.servers, w.dbs, w.proxies = append(w.servers, server), append(w.dbs, db), append(w.proxies, p)
	w.job.Segments.DSNs = append(w.job.Segments.DSNs, strings.Replace(dsn, server.Addr(), p.addr, 1))
}

// judge ends all processes, merges the ids that were issued, and returns how many numbers were taken and never issued.
func (w *segmentWorld) judge() (skipped int64) {
	w.Helper()
	each(w.processes, func(p *process) { p.leave() })
	each(w.processes, func(p *process) {
		p.left(w)
		if fault := p.fault(); fault != "" {
			w.Errorf("%s: %s", p.name, fault)
		}
	})
	l, err := readLedger(w.job.Dir, layout())
	if err != nil {
		w.Fatal(err)
	}
	for _, db := range w.dbs {
		var next, modulus, takes int64
		if err := db.QueryRowContext(w.Context(), "SELECT next_id, modulus, takes FROM snow_segments").Scan(&next, &modulus, &takes); err != nil {
			w.Fatal(err)
		}
		skipped += (next - 1) / modulus
	}
	skipped -= int64(l.IDs)
	w.Logf("%d ids of %d processes, %d duplicates, %d numbers skipped", l.IDs, l.Files, l.Duplicates, skipped)
	if l.IDs == 0 || l.Duplicates > 0 && !w.scenario.lossy || l.Descents > 0 && !w.skips {
		w.Errorf("%d ids, %d of them twice, %d descents:\n%s", l.IDs, l.Duplicates, l.Descents, strings.Join(l.Examples, "\n"))
	}
	return skipped
}

// crowd kills some of many processes. Each process skips less than two steps, and the ids that it had not written.
func (w *segmentWorld) crowd() {
	const limit = 400
	processes := w.start(200, func(j *job) { j.Limit = limit })
	each(processes[:50], func(p *process) {
		p.await(w, "issued ids", func(r report) bool { return r.Issued > 0 })
		p.kill(w)
	})
	each(processes[50:], func(p *process) { p.await(w, "issued all its ids", func(r report) bool { return r.Issued >= limit }) })
	if skipped := w.judge(); skipped < 0 || skipped > 200*(2*w.step+batch) {
		w.Errorf("%d numbers were skipped by 200 processes, want %d of each at most", skipped, 2*w.step+batch)
	}
}

// crash kills the database under load.
func (w *segmentWorld) crash() {
	processes := w.start(6)
	flow(w, processes...)
	for range 3 {
		fresh := w.start(2)
		w.servers[0].Kill(w)
		each(processes, func(p *process) {
			p.await(w, "ran out of numbers", func(r report) bool { return r.Expired > r.Resumed })
		})
		w.servers[0].Restart(w)
		flow(w, append(fresh, processes...)...)
		each(fresh, func(p *process) { p.kill(w) })
	}
	w.judge()
}

// halt stops the database with SIGSTOP.
func (w *segmentWorld) halt() {
	processes := w.start(6)
	flow(w, processes...)
	w.servers[0].Stop(w)
	each(processes, func(p *process) {
		p.await(w, "ran out of numbers", func(r report) bool { return r.Expired > r.Resumed })
	})
	w.servers[0].Continue(w)
	flow(w, processes...)
	w.judge()
}

// cut cuts connections, so that processes never learn whether their takes were executed. Some are executed long after.
func (w *segmentWorld) cut() {
	processes := w.start(8)
	flow(w, processes...)
	for _, p := range w.proxies {
		p.odds.Store(30)
	}
	for _, p := range w.proxies {
		processes[0].await(w, "saw all kinds of cuts", func(report) bool {
			for kind := range p.cuts {
				if p.cuts[kind].Load() < 10 {
					return false
				}
			}
			return true
		})
	}
	for _, p := range w.proxies {
		p.odds.Store(0)
	}
	flow(w, processes...)
	w.judge()
}

// twoDown kills one of three databases and stops another. Ids come from the third, to the end, and nobody runs out
// of them but for its answers that come too late: on a busy machine.
func (w *segmentWorld) twoDown() {
	processes := w.start(6)
	flow(w, processes...)
	seen := make(map[*process]int) // outages
	for down := range 3 {
		w.servers[down].Kill(w)
		w.servers[(down+1)%3].Stop(w)
		late := w.start(2)
		for range 5 {
			flow(w, append(late, processes...)...)
		}
		w.servers[(down+1)%3].Continue(w)
		w.servers[down].Restart(w)
		each(late, func(p *process) { p.kill(w) })
		flow(w, processes...)
		up := (down + 2) % 3
		for _, p := range processes {
			r, _ := p.report()
			for _, outage := range r.Outages[seen[p]:] {
				if !timedOut(outage, up) {
					w.Errorf("%s: had no numbers, though database %d was up: %s", p.name, up, outage)
				}
			}
			seen[p] = len(r.Outages)
		}
	}
	w.judge()
}

// timedOut reports whether a database had not answered in time, according to the error of segments that have no
// numbers.
func timedOut(outage string, database int) bool {
	_, failure, _ := strings.Cut(outage, fmt.Sprintf("database %d: ", database))
	failure, _, _ = strings.Cut(failure, "\ndatabase ")
	return strings.Contains(failure, context.DeadlineExceeded.Error())
}

// restore sets the database back. Whoever has seen more finds out and stops everybody, until the row is raised.
func (w *segmentWorld) restore() {
	w.scenario.lossy = true // processes that take numbers before that repeat ids
	processes := w.start(4)
	flow(w, processes...)
	w.servers[0].Keep(w)
	flow(w, processes...)
	flow(w, processes...)
	w.servers[0].PutBack(w)
	each(processes, func(p *process) {
		p.await(w, "ran out of numbers", func(r report) bool { return r.Regressed > 0 && r.Expired > r.Resumed })
	})
	var state int
	if err := w.dbs[0].QueryRowContext(w.Context(), "SELECT state FROM snow_segments").Scan(&state); err != nil || state != 2 {
		w.Fatalf("state: got %d and %v, want 2", state, err)
	}
	if err := segments.Raise(w.Context(), w.dbs[0], w.target.Dialect, segmentTag, 10_000_000); err != nil {
		w.Fatal(err)
	}
	flow(w, processes...)
	w.judge()
}
