// Command testrun runs the tests of every module of the repository, even if one fails, and prints a summary. With
// -long it runs the tests that take long instead: hundreds of kills, random databases, long simulations. With
// -before-long it leaves out what -long repeats at greater length. With -servers it runs the tests of databases on
// newer servers than the system's, and SNOW_TEST_SERVERS may choose among them.
//
// The output of tests and servers goes to test-logs, to a file for each package.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	long := flag.Bool("long", false, "run the tests that take long")
	before := flag.Bool("before-long", false, "leave out the tests of which -long does more")
	newer := flag.Bool("servers", false, "run the tests of databases on MySQL, newer MariaDB and PostgreSQL, poolers and Galera")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	test := func() (bool, error) { return run(ctx, os.Stdout, kind{long: *long, beforeLong: *before}) }
	if *newer {
		test = func() (bool, error) {
			root, err := os.Getwd()
			if err != nil {
				return false, err
			}
			return runServers(ctx, os.Stdout, root)
		}
	}
	failed, err := test()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

const (
	logs = "test-logs" // the folder of the output, in the repository's root

	// Jobs at the same time. Tests mostly wait; newer servers need more memory than the system's; and some tests that
	// take long need all processors.
	atOnce, serversOnce, longOnce = 4, 3, 2

	// The folder of initialised databases, in the folder of the databases. It takes a second to initialise one.
	templates = "templates"
)

// A kind says which tests are run: the usual ones by default.
type kind struct {
	long       bool // those that take long
	beforeLong bool // the usual ones, without those of which the long ones do more
}

func run(ctx context.Context, w io.Writer, k kind) (failed bool, err error) {
	root, err := os.Getwd()
	if err != nil {
		return false, err
	}
	modules, err := modules(root)
	if err != nil {
		return false, err
	}
	jobs, most := longJobs, longOnce
	if !k.long {
		most = atOnce
		if jobs, err = usual(root, modules); err != nil {
			return false, err
		}
	}
	if k.beforeLong {
		for i := range jobs {
			jobs[i] = jobs[i].beforeLong()
		}
	}
	if err := announce(w, root, modules, k.long); err != nil {
		return false, err
	}
	if err := install(root, w, k.long); err != nil {
		return false, err
	}
	temp, folder, err := folders(root)
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	begin := time.Now()
	all := newResults(folder, w)
	places := make(chan struct{}, most)
	var group sync.WaitGroup
	for _, j := range jobs {
		places <- struct{}{}
		group.Go(func() {
			if err := j.run(ctx, root, folder, temp, all); err != nil {
				all.broke(j, err)
			}
			<-places
		})
	}
	group.Wait()
	return all.sumUp(time.Since(begin)), ctx.Err()
}

// folders makes an empty folder for the databases and one for the logs.
func folders(root string) (temp, folder string, err error) {
	folder = filepath.Join(root, logs)
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return "", "", err
	}
	if temp, err = os.MkdirTemp(memory(), "snow-test-"); err != nil {
		return "", "", err
	}
	// Others may enter, because a server may run as another user.
	return temp, folder, errors.Join(os.Chmod(temp, 0o711), os.Mkdir(filepath.Join(temp, templates), 0o711), os.Chmod(filepath.Join(temp, templates), 0o711))
}

// modules returns the folders with a go.mod, the root first.
func modules(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path != root && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.Name() == "go.mod":
			dir, err := filepath.Rel(root, filepath.Dir(path))
			dirs = append(dirs, dir)
			return err
		}
		return nil
	})
	slices.Sort(dirs) // the root, which is ".", comes first
	return dirs, err
}

// A job is one go test in a module.
type job struct {
	dir  string   // of the module
	args []string // of go test
}

// apart are jobs of some packages of a module. Most run without the race detector, which takes two to four times the
// processor: they have one goroutine, or find nothing with it that other tests do not. Scattered statements of GORM and
// the checks of models run with it in gormsnow and gormsnow/route. The goroutines of a merge run with it in random
// worlds, in the tests of merge's rooms, and in tests of several writers in make test-long. The contracts of leases
// and segments run with it on MariaDB. On PostgreSQL and SQLite all of them run the same code, and functions of SQL
// run in servers. Two jobs of one package wait for databases most of the time.
var apart = []job{
	{"drivers", []string{"-parallel=2", module + "drivers/convert"}},
	{".", []string{"-run=" + oneGoroutine, rootPackage}},
	{".", []string{"-race", "-skip=" + oneGoroutine, rootPackage}},
	{".", []string{"-p=3", "-parallel=4", module + "docs", module + "internal/protocol", module + "internal/testkit/dbtest", module + "internal/tools/release", module + "internal/tools/releasecheck", module + "internal/tools/testrun"}},
	{"drivers", []string{"-run=OnPostgreSQL$", module + "drivers/merge"}},
	{"drivers", []string{"-skip=OnPostgreSQL$", module + "drivers/merge"}},
	{"drivers", []string{
		"-p=3", "-parallel=4", module + "drivers/functions", module + "drivers/lease", module + "drivers/segment",
		module + "drivers/gormcheck", module + "drivers/grants", module + "drivers/lookup", module + "drivers/outbox", module + "drivers/route", module + "drivers/sharding",
	}},
	{"internal/testkit/etcdtest", []string{module + "internal/testkit/etcdtest"}},
	{"internal/testkit/mergetest", []string{"-race", "-run=^TestRandom", module + "internal/testkit/mergetest"}},
	{"internal/testkit/mergetest", []string{"-skip=^TestRandom", module + "internal/testkit/mergetest"}},
	{"merge", []string{"-p=3", "-parallel=4", module + "merge", module + "merge/plan", module + "merge/report"}},
	{"cmd/snow", []string{"-p=3", module + "cmd/snow/internal/audit", module + "cmd/snow/internal/layoutfit"}},
	{"examples/merge-servers", []string{module + "examples/merge-servers"}},
}

// withoutRace are modules whose tests run without the race detector: they measure, or have one goroutine.
var withoutRace = []string{"bench", "examples/edges"}

// The import path of the root begins the one of every package.
const (
	rootPackage = "github.com/shardsnow/snow"
	module      = rootPackage + "/"
)

// oneGoroutine are the tests of the root that take the processor for long and have one goroutine.
const oneGoroutine = "^(TestBetweenAgreesWithOracle|TestGeneratorAgreesWithModel|TestWallClockIsSeenUnderLoad)$"

// slowest are the modules whose tests take longest. They come first, so that nothing waits for them in the end.
var slowest = []string{".", "drivers", "internal/testkit/mergetest", "merge", "examples/merge-servers", "cmd/snow"}

// usual returns the jobs of all modules. -timeout ends a package that hangs; it is far longer than a package takes on a
// busy machine.
func usual(root string, modules []string) (jobs []job, err error) {
	modules = slices.Clone(modules)
	slices.SortStableFunc(modules, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	for _, dir := range modules {
		rest, named := []string{"./..."}, []string{}
		for _, j := range apart {
			if j.dir == dir {
				jobs = append(jobs, job{dir, append([]string{"-timeout=45m"}, j.args...)})
				named = append(named, j.args...)
			}
		}
		if len(named) > 0 {
			if rest, err = packages(root, dir); err != nil {
				return nil, err
			}
			rest = slices.DeleteFunc(rest, func(pkg string) bool { return slices.Contains(named, pkg) })
		}
		if len(rest) > 0 {
			args := []string{"-p=3", "-parallel=4", "-timeout=45m"}
			if !slices.Contains(withoutRace, dir) {
				args = append(args, "-race")
			}
			jobs = append(jobs, job{dir, append(args, rest...)})
		}
	}
	return jobs, nil
}

// rank is the place of a module among the slowest, or behind them.
func rank(dir string) int {
	if i := slices.Index(slowest, dir); i >= 0 {
		return i
	}
	return len(slowest)
}

// packages returns the import paths of a module's packages.
func packages(root, dir string) ([]string, error) {
	cmd := exec.Command("go", "list", "./...")
	cmd.Dir, cmd.Env = filepath.Join(root, dir), append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	return strings.Fields(string(out)), nil
}

// plainSQLite keeps the race detector out of SQLite itself: C code translated to Go, where a connection is used by one
// goroutine at a time. Its driver and all other code have the detector. Tests on SQLite take a third of the time.
const plainSQLite = "-gcflags=github.com/ncruces/go-sqlite3-wasm/...=-race=false"

// run executes the tests, which make lint and make check vet. Failures of tests are in the results; an error is one of
// this program.
func (j job) run(ctx context.Context, root, folder, temp string, all *results, env ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-count=1", "-vet=off"}, j.args...)...)
	if j.races() {
		cmd.Args = slices.Insert(cmd.Args, 2, plainSQLite)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir = filepath.Join(root, j.dir)
	// Databases are in TMPDIR. The go command has a folder of its own, because TMPDIR may not allow programs to be
	// executed.
	cmd.Env = append(os.Environ(), "GOWORK=off", "SNOW_REQUIRE_DB=1", "SNOW_TEST_LOGS="+folder, "GOTMPDIR="+os.TempDir(), "TMPDIR="+temp,
		"SNOW_TEST_TEMPLATES="+filepath.Join(temp, templates))
	cmd.Env = append(cmd.Env, env...)
	if j.long() {
		cmd.Env = append(cmd.Env, longVariable(true))
	}
	said, err := os.CreateTemp(folder, fileName(j.dir)+"-*.stderr.log")
	if err != nil {
		return err
	}
	defer said.Close()
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := all.read(j, out); err != nil {
		_ = cmd.Process.Kill()
		return err
	}
	err = cmd.Wait()
	all.used(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
	if err != nil {
		all.ended(j, said.Name(), err)
	}
	return nil
}

// announce says what the tests will install and how long they will take.
func announce(w io.Writer, root string, modules []string, long bool) error {
	what, minutes := "the tests", 12
	if long {
		what, minutes = "the tests that take long", 18
	}
	missing, all, err := downloads(root, modules)
	if err != nil {
		return err
	}
	ask := exec.Command(filepath.Join(root, installer), "-n")
	ask.Env = append(os.Environ(), longVariable(long))
	packages, err := ask.Output()
	if err != nil {
		return fmt.Errorf("%s -n: %w", installer, err)
	}
	fmt.Fprintf(w, "This runs %s of %d Go modules, with the race detector, on private MariaDB, PostgreSQL and SQLite databases.\n", what, len(modules))
	fmt.Fprintf(w, "  installs:  %s\n", firstOf(strings.TrimSpace(string(packages)), "nothing"))
	fmt.Fprintf(w, "  downloads: %d of %d Go modules, at most\n", missing, all)
	fmt.Fprintf(w, "  takes:     about %d minutes on 2 idle cores (here: %d); the first time about 5 more, to compile\n", minutes, runtime.NumCPU())
	fmt.Fprintf(w, "  logs:      %s, a file for each package\n", logs)
	return nil
}

// installer is the script that installs the servers.
const installer = "internal/testkit/dbtest/install.sh"

// longVariable tells tests and the installer whether the tests that take long are run.
func longVariable(long bool) string {
	if long {
		return "SNOW_TEST_LONG=1"
	}
	return "SNOW_TEST_LONG="
}

func install(root string, w io.Writer, long bool) error {
	cmd := exec.Command(filepath.Join(root, installer))
	cmd.Env = append(os.Environ(), longVariable(long))
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", installer, err)
	}
	return nil
}

// downloads counts the Go modules in the go.sum files, and how many of them are not in the module cache.
func downloads(root string, modules []string) (missing, all int, err error) {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return 0, 0, err
	}
	cache := filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
	seen := make(map[string]bool)
	for _, dir := range modules {
		sums, err := os.ReadFile(filepath.Join(root, dir, "go.sum"))
		if os.IsNotExist(err) {
			continue
		} else if err != nil {
			return 0, 0, err
		}
		for line := range strings.Lines(string(sums)) {
			fields := strings.Fields(line)
			if len(fields) != 3 || strings.HasSuffix(fields[1], "/go.mod") {
				continue
			}
			zip := filepath.Join(cache, escape(fields[0]), "@v", escape(fields[1])+".zip")
			if !seen[zip] {
				seen[zip] = true
				if _, err := os.Stat(zip); err != nil {
					missing++
				}
			}
		}
	}
	return missing, len(seen), nil
}

// escape returns a module's path as the module cache spells it, because some file systems ignore case.
func escape(path string) string {
	var b strings.Builder
	for _, r := range path {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
