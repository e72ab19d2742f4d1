package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// A server is one that the tests of databases run on instead of the system's.
type server struct {
	name     string // for internal/testkit/dbtest
	variable string // with which internal/testkit/dbtest hears of it
	suites   []string
	ofSystem bool   // its programs are the system's
	skip     string // tests of what the server can't do, for go test -skip
}

// Tests that are left out on a server.
const (
	// PgBouncer keeps a prepared statement's name in use after the server has refused the statement.
	failedStatements = "^TestLeasesOnPostgreSQL$/./^2_Without_Migrate"
	// A node of Galera can't come back after a kill, and its binary log is always of rows.
	otherNodes = "^(TestFaults|TestSegmentFaults|TestExcursionOfTheClock|TestReplicasOfStatements)$"
	// These tests of internal/testkit/dbtest leave out servers that were not fetched, so in make test they may find
	// none.
	newerPrograms = "^Test(Named|ServerOfTheEnvironment|Pooler|Group)$|./^MySQL$"
)

// On PgBouncer there are no merges, whose tests have a search_path for each database, and on one before 1.21, which
// knows no prepared statements, no contracts, which prepare all. TestPgBouncer has leases and segments on it.
//
// The system's MariaDB, PostgreSQL and SQLite have make test.
var servers = []server{
	{"mysql", "SNOW_MYSQL_SERVER", []string{"root", "leases", "functions", "segments", "numbers", "gormsnow", "drivers", "data layers", "examples", "two servers", "merge", "definitions", "worlds", "convert", "dbtest"}, false, ""},
	{"postgres", "SNOW_POSTGRES_SERVER", []string{"pg leases", "pg functions", "pg segments", "pg numbers", "pg gormsnow", "pg drivers", "pg data layers", "pg merge", "pg convert"}, false, ""},
	{"mariadb", "SNOW_MYSQL_SERVER", []string{"root", "leases", "functions", "segments", "numbers", "gormsnow", "drivers", "data layers", "examples", "two servers", "merge", "definitions", "worlds"}, false, ""},
	{"pgbouncer-newest", "SNOW_POSTGRES_SERVER", []string{"pg leases", "pg segments", "pg gormsnow", "pg data layers"}, false, failedStatements},
	{"pgbouncer", "SNOW_POSTGRES_SERVER", []string{"pg gormsnow", "pg data layers"}, true, ""},
	{"galera", "SNOW_MYSQL_SERVER", []string{"root", "leases", "segments", "gormsnow", "data layers"}, true, otherNodes},
}

// What make test has run, and what no other server changes: tests of another product, and tests that need none.
const (
	notMySQL    = "-skip=./^(postgres|PostgreSQL|sqlite|SQLite)"
	notPostgres = "-skip=OnSQLite$|^TestSQLite|^TestMultiplexed$|./^(mariadb|MariaDB|mysql|MySQL|sqlite|SQLite)"
	notServers  = "-skip=^TestGeneratedByEnt$"
)

// suites are the columns of the table. -timeout ends a package that hangs.
var suites = map[string]job{
	"root":           {".", []string{"-timeout=20m", "-run=^(TestLeasedKeysMerge|TestSnowKeysMerge|TestAutoIncrementKeysDoNot|TestReadmeProgram)$", ".", "./docs"}},
	"leases":         {".", []string{"-timeout=30m", "./sqlsnow"}},
	"functions":      {".", []string{"-timeout=30m", "./sqlsnow/functions"}},
	"segments":       {".", []string{"-timeout=30m", "./sqlsnow/segments"}},
	"numbers":        {".", []string{"-timeout=30m", "-run=^TestNumbers", "./sqlsnow/numbers"}},
	"gormsnow":       {".", []string{"-timeout=20m", "./gormsnow"}},
	"drivers":        {"drivers", []string{"-timeout=30m", notMySQL, "./gormcheck", "./route", "./sharding", "./outbox", "./lookup"}},
	"data layers":    {"examples/data-layers", []string{"-timeout=20m", notServers, "."}},
	"examples":       {"examples/shard-orders", []string{"-timeout=20m", "-run=^(TestStoryOnTwoServers|TestMySQL)$", "."}},
	"two servers":    {"examples/mysql-shards", []string{"-timeout=20m", "."}},
	"merge":          {"merge", []string{"-timeout=40m", ".", "./internal/chunk", "./internal/earlier", "./internal/ledger", "./internal/rekey", "./internal/steps", "./internal/verify"}},
	"definitions":    {"drivers", []string{"-timeout=20m", "-run=^(TestDefinitions|TestInvisibleKey|TestGeneratedInvisibleKey|TestVerifyComputed)$", "./merge"}},
	"worlds":         {"internal/testkit/mergetest", []string{"-timeout=40m", "."}},
	"convert":        {"drivers", []string{"-timeout=20m", notMySQL, "./convert"}},
	"dbtest":         {".", []string{"-timeout=20m", "-run=" + newerPrograms, "-skip=^(TestGaleraNodes|TestSharedServer)$", "./internal/testkit/dbtest"}},
	"pg leases":      {"drivers", []string{"-timeout=30m", "./lease"}},
	"pg functions":   {"drivers", []string{"-timeout=30m", "./functions"}},
	"pg segments":    {"drivers", []string{"-timeout=30m", "./segment"}},
	"pg numbers":     {"drivers", []string{"-timeout=30m", notPostgres, "./number"}},
	"pg gormsnow":    {"drivers", []string{"-timeout=20m", "./gorm"}},
	"pg data layers": {"examples/data-layers", []string{"-timeout=20m", "-run=^TestPgx", "."}},
	"pg drivers":     {"drivers", []string{"-timeout=30m", notPostgres, "./gormcheck", "./route", "./sharding", "./outbox", "./lookup"}},
	"pg merge":       {"drivers", []string{"-timeout=40m", notPostgres, "./merge"}},
	"pg convert":     {"drivers", []string{"-timeout=20m", notPostgres + "|^TestComingFromGormModel$", "./convert"}},
}

// chosen returns the servers in the list of names that SNOW_TEST_SERVERS may have, or all.
func chosen() ([]server, error) {
	names := strings.Fields(os.Getenv("SNOW_TEST_SERVERS"))
	var some []server
	for _, s := range servers {
		if slices.Contains(names, s.name) || len(names) == 0 {
			some = append(some, s)
		}
	}
	if len(names) > 0 && len(some) != len(names) {
		return nil, fmt.Errorf("SNOW_TEST_SERVERS is %q: not all of them are servers", names)
	}
	return some, nil
}

// A cell is a suite on a server.
type cell struct {
	server server
	suite  string
	*results
}

// runServers runs the suites on the newer servers and prints a table. If their programs can't be had it says so,
// and nothing has failed.
func runServers(ctx context.Context, w io.Writer, root string) (failed bool, err error) {
	some, err := chosen()
	if err != nil {
		return false, err
	}
	versions, err := installServers(root, w)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 3 {
		fmt.Fprintln(w, "servers: none, for want of packages")
		return false, nil
	} else if err != nil {
		return false, err
	}
	temp, folder, err := folders(root)
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	begin := time.Now()
	places := make(chan struct{}, serversOnce)
	var group sync.WaitGroup
	var cells []*cell
	for _, s := range some {
		for _, name := range s.suites {
			logs := filepath.Join(folder, s.name, fileName(strings.ReplaceAll(name, " ", "/")))
			if err := os.MkdirAll(logs, 0o755); err != nil {
				return false, err
			}
			c := &cell{s, name, newResults(logs, w)}
			c.on = s.name + ": "
			cells = append(cells, c)
			places <- struct{}{}
			group.Go(func() {
				j := suites[name].without(s.skip)
				if err := j.run(ctx, root, logs, temp, c.results, s.variable+"="+s.name); err != nil {
					c.broke(j, err)
				}
				<-places
			})
		}
	}
	group.Wait()
	tabulate(w, cells, time.Since(begin))
	passed, skipped, failures, processors := 0, 0, 0, time.Duration(0)
	for _, c := range cells {
		processors += c.processors
		passed += c.passed
		skipped += c.skips()
		failures += len(c.failures)
	}
	var names []string
	for _, s := range some {
		names = append(names, s.name+" "+versionOf(s, versions))
	}
	fmt.Fprintln(w, "servers:", strings.Join(names, ", "))
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped, %v of processors\n", passed, failures, skipped, processors.Round(time.Second))
	return failures > 0, ctx.Err()
}

// without returns the job that leaves out more tests. Of two -skip, go test would heed the last one.
func (j job) without(skip string) job {
	if skip == "" {
		return j
	}
	j.args = slices.Clone(j.args)
	for i, arg := range j.args {
		if strings.HasPrefix(arg, "-skip=") {
			j.args[i] += "|" + skip
			return j
		}
	}
	j.args = append([]string{"-skip=" + skip}, j.args...)
	return j
}

// tabulate prints a row for each server, with passed, failed and skipped of each suite, and the tests that failed.
func tabulate(w io.Writer, cells []*cell, took time.Duration) {
	fmt.Fprintf(w, "\npassed/failed/skipped on each server, in %v. Logs: %s\n", took.Round(time.Second), logs)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	last := ""
	for _, c := range cells {
		if c.server.name != last {
			if last != "" {
				fmt.Fprintln(table)
			}
			fmt.Fprint(table, c.server.name)
		}
		last = c.server.name
		fmt.Fprintf(table, "\t%s %d/%d/%d", strings.TrimPrefix(c.suite, "pg "), c.passed, len(c.failures), c.skips())
	}
	fmt.Fprintln(table)
	_ = table.Flush()
	for _, c := range cells {
		for _, f := range c.failures {
			fmt.Fprintf(w, "FAIL  %s: %s %s: %s | again: %s=%s %s | log: %s\n", c.server.name, strings.TrimPrefix(f.pkg, "github.com/shardsnow/"), f.test,
				shorten(f.cause, 160), c.server.variable, c.server.name, f.again(), f.log)
		}
	}
}

func versionOf(s server, versions map[string]string) string {
	if s.ofSystem {
		return "of the system"
	}
	return versions[strings.TrimSuffix(s.name, "-newest")]
}

// skips returns how many tests were skipped.
func (all *results) skips() (n int) {
	for _, some := range all.skipped {
		n += some
	}
	return n
}

// installServers fetches the programs and returns the versions of the products.
func installServers(root string, w io.Writer) (versions map[string]string, err error) {
	cmd := exec.Command(filepath.Join(root, "internal/testkit/dbtest/install-servers.sh"))
	cmd.Stderr = w
	out, err := cmd.Output()
	versions = make(map[string]string)
	for line := range strings.Lines(string(out)) {
		fmt.Fprint(w, line)
		// Such as: mysql-9.7: mysql-server-core 9.7.4-2 and 59 more packages
		if fields := strings.Fields(line); len(fields) > 3 && fields[3] == "and" {
			product, _, _ := strings.Cut(fields[0], "-")
			versions[product] = fields[2]
		}
	}
	return versions, err
}
