package merge

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/shardsnow/snow/bench/rows"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	snowmerge "github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
)

// ServersOptions say how much [MeasureServers] measures.
type ServersOptions struct {
	Rows     int // of both sources together
	Rounds   int // the middle one counts
	Progress func(string)
}

// ServersResult is what two servers took: a server with two databases of ten tables each, and a target on the other
// server.
type ServersResult struct {
	Version string `json:"version"` // of MariaDB
	Rows    int    `json:"rows"`
	Work    []Work `json:"work"` // the first one is the yardstick: mariadb-dump | mariadb
}

// Work is what one kind of work took in the middle one of its rounds.
type Work struct {
	Name   string  `json:"name"`
	Target float64 `json:"target"` // the wanted time over the yardstick's; 0 means none
	// half the distance between the fastest and the slowest round, as a share of the time
	Spread float64 `json:"spread"`
	Cost
}

// Cost is what a round took.
type Cost struct {
	Took    time.Duration `json:"took"`
	Source  time.Duration `json:"source"`  // processor time of the server that has the sources
	Written time.Duration `json:"written"` // processor time of the server that has the target
	Program time.Duration `json:"program"` // processor time of the merge, or of dump and load
	Bytes   int64         `json:"bytes"`   // the most that the merge had in memory
	Phases  []Phase       `json:"phases"`
}

// Processor is the processor time of all.
func (c Cost) Processor() time.Duration { return c.Source + c.Written + c.Program }

// servers are the database servers of a measurement.
type servers struct {
	from, to   *dbtest.Server
	sources    []snowmerge.Source
	databases  []string
	pids       [2]int
	tb         testing.TB
	dump, load string // programs
}

// MeasureServers measures a merge from one server to another beside a dump and load of the same rows. It starts the
// servers.
func MeasureServers(ctx context.Context, o ServersOptions) (result ServersResult, err error) {
	s := &servers{}
	if s.dump, err = exec.LookPath("mariadb-dump"); err != nil {
		return result, fmt.Errorf("%w: apt-get install mariadb-client", err)
	}
	if s.load, err = exec.LookPath("mariadb"); err != nil {
		return result, err
	}
	err = rows.Hosted(func(tb testing.TB) error {
		s.tb = tb
		options := []string{"innodb-buffer-pool-size=512M", "innodb-log-file-size=256M"}
		s.from, s.to = dbtest.MariaDB(tb, options...), dbtest.MariaDB(tb, options...)
		for i, server := range []*dbtest.Server{s.from, s.to} {
			if s.pids[i], result.Version, err = processOf(ctx, server); err != nil {
				return err
			}
		}
		o.Progress("sources")
		for _, name := range []string{"eu", "us"} {
			db, database, err := gameSource(ctx, tb, s.from, name, o.Rows/2)
			if err != nil {
				return err
			}
			defer db.Close()
			s.sources, s.databases = append(s.sources, snowmerge.Source{Name: name, DB: db}), append(s.databases, database)
		}
		for _, t := range gameTables() {
			result.Rows += 2 * max(1, o.Rows/2*t.percent/100)
		}
		result.Work, err = s.measure(ctx, o)
		return err
	})
	return result, err
}

// measure does the rounds. In each of them all kinds of work take turns.
func (s *servers) measure(ctx context.Context, o ServersOptions) ([]Work, error) {
	var work []Work
	costs := map[string][]Cost{}
	add := func(name string, target float64, c Cost) {
		if costs[name] = append(costs[name], c); len(costs[name]) == 1 {
			work = append(work, Work{Name: name, Target: target})
		}
		o.Progress(fmt.Sprintf("%s: %.2f s; processor: source %.2f s, target %.2f s, program %.2f s; %d MB; %s",
			name, c.Took.Seconds(), c.Source.Seconds(), c.Written.Seconds(), c.Program.Seconds(), c.Bytes>>20, phaseTimes(c.Phases)))
	}
	for range o.Rounds {
		c, err := s.dumpAndLoad(ctx)
		if err != nil {
			return nil, fmt.Errorf("dump and load: %w", err)
		}
		add("mariadb-dump, mariadb", 0, c)
		for _, ids := range []plan.IDs{plan.IDsSnow, plan.IDsDense} {
			for _, withoutFKs := range []bool{false, true} {
				dry, run, err := s.merge(ctx, ids, withoutFKs)
				if err != nil {
					return nil, fmt.Errorf("merge with %s ids: %w", ids, err)
				}
				if withoutFKs {
					add("merge, "+string(ids)+" ids, without foreign key checks", 2, run)
					continue
				}
				add("dry run, "+string(ids)+" ids", 0.5, dry)
				add("merge, "+string(ids)+" ids", 2, run)
			}
		}
	}
	for i := range work {
		w, all := &work[i], costs[work[i].Name]
		slices.SortFunc(all, func(a, b Cost) int { return int(a.Took - b.Took) })
		w.Cost = all[len(all)/2]
		w.Spread = float64(all[len(all)-1].Took-all[0].Took) / 2 / float64(w.Took)
	}
	return work, nil
}

func phaseTimes(phases []Phase) string {
	var parts []string
	for _, p := range phases {
		parts = append(parts, p.Name+" "+p.Took.Round(10*time.Millisecond).String())
	}
	return strings.Join(parts, ", ")
}

// dumpAndLoad copies the rows of both sources into databases of the target's server, as they are.
func (s *servers) dumpAndLoad(ctx context.Context) (Cost, error) {
	var into []string
	defer func() {
		for _, name := range into {
			_ = s.drop(ctx, name)
		}
	}()
	for range s.databases {
		into = append(into, s.to.CreateDatabase(s.tb))
	}
	return s.spend(func(c *Cost) error {
		for i, name := range s.databases {
			dump, err := client(ctx, s.dump, s.from.DSN(name), "--single-transaction", name)
			if err != nil {
				return err
			}
			load, err := client(ctx, s.load, s.to.DSN(into[i]), into[i])
			if err != nil {
				return err
			}
			if load.Stdin, err = dump.StdoutPipe(); err != nil {
				return err
			}
			if err := errors.Join(dump.Start(), load.Start()); err != nil {
				return err
			}
			if err := errors.Join(load.Wait(), dump.Wait()); err != nil {
				return fmt.Errorf("%w: %s%s", err, dump.Stderr, load.Stderr)
			}
			for _, done := range []*exec.Cmd{dump, load} {
				c.Program += done.ProcessState.UserTime() + done.ProcessState.SystemTime()
			}
		}
		return nil
	})
}

// client returns a program of MariaDB that talks to the server of a DSN.
func client(ctx context.Context, program, dsn string, args ...string) (*exec.Cmd, error) {
	at, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(at.Addr)
	if err != nil {
		return nil, err
	}
	options := []string{"--no-defaults", "--protocol=tcp", "--host=" + host, "--port=" + port, "--user=" + at.User}
	cmd := exec.CommandContext(ctx, program, append(options, args...)...)
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+at.Passwd)
	cmd.Stderr = new(bytes.Buffer)
	return cmd, nil
}

// merge does a dry run and a run into a new database.
func (s *servers) merge(ctx context.Context, ids plan.IDs, withoutFKs bool) (dry, run Cost, err error) {
	p, err := gamePlan(ctx, s.sources, ids)
	if err != nil {
		return dry, run, err
	}
	target, name, err := world(ctx, s.tb, s.to, p)
	if err != nil {
		return dry, run, err
	}
	defer target.Close()
	defer func() { _ = s.drop(ctx, name) }()
	j := job{Target: s.to.DSN(name), Sources: map[string]string{}, WithoutForeignKeys: withoutFKs}
	for i, source := range s.sources {
		j.Sources[source.Name] = s.from.DSN(s.databases[i])
	}
	for _, each := range []struct {
		dry  bool
		cost *Cost
	}{{true, &dry}, {false, &run}} {
		j.Dry = each.dry
		*each.cost, err = s.spend(func(c *Cost) error {
			done, err := j.process(ctx, p)
			c.Program, c.Bytes, c.Phases = done.Processor, done.Bytes, done.Phases
			return err
		})
		if err != nil {
			return dry, run, err
		}
	}
	return dry, run, nil
}

// spend does something and says what it took.
func (s *servers) spend(do func(*Cost) error) (c Cost, err error) {
	var before, after [2]time.Duration
	for i, pid := range s.pids {
		if before[i], err = processorTime(pid); err != nil {
			return c, err
		}
	}
	begin := time.Now()
	if err := do(&c); err != nil {
		return c, err
	}
	c.Took = time.Since(begin)
	for i, pid := range s.pids {
		if after[i], err = processorTime(pid); err != nil {
			return c, err
		}
	}
	c.Source, c.Written = after[0]-before[0], after[1]-before[1]
	return c, nil
}

func (s *servers) drop(ctx context.Context, name string) error {
	db, err := sql.Open("mysql", s.to.DSN(""))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "DROP DATABASE "+name)
	return err
}

// processOf returns the process of a server, and its version.
func processOf(ctx context.Context, server *dbtest.Server) (pid int, version string, err error) {
	db, err := sql.Open("mysql", server.DSN(""))
	if err != nil {
		return 0, "", err
	}
	defer db.Close()
	var file, folder string
	if err := db.QueryRowContext(ctx, "SELECT @@pid_file, @@datadir, VERSION()").Scan(&file, &folder, &version); err != nil {
		return 0, "", err
	}
	if !strings.HasPrefix(file, "/") {
		file = folder + "/" + file
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, "", err
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return pid, version, err
}

// processorTime asks Linux how long a process has been on processors.
func processorTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	total := time.Duration(0)
	for _, at := range []int{11, 12} { // utime and stime, in hundredths of a second
		n, err := strconv.ParseInt(fields[at], 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(n) * 10 * time.Millisecond
	}
	return total, nil
}
