package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// An event is a line of go test -json: see go doc test2json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build-output and build-fail
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// A failure is a test, or a package, that failed.
type failure struct {
	job   job
	pkg   string
	test  string // empty for the package itself
	cause string
	log   string
}

// A name is a test of a package; the package itself where test is empty.
type name struct{ pkg, test string }

// results are the outcomes of the tests of all jobs.
type results struct {
	folder string
	w      io.Writer // of the summary
	on     string    // the server, before the name of a package

	mu               sync.Mutex
	passed, packages int
	processors       time.Duration // that jobs have used, with their servers
	failures         []failure
	skipped          map[string]int    // by reason
	output           map[name][]string // of tests that have not ended
	builds           map[string]string // the first line of a failed build
	files            map[string]*os.File
}

func newResults(folder string, w io.Writer) *results {
	return &results{
		folder: folder, w: w, skipped: make(map[string]int), output: make(map[name][]string),
		builds: make(map[string]string), files: make(map[string]*os.File),
	}
}

// read reads the events of a job.
func (all *results) read(j job, r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			continue // not from a test; messages of the go command are in the file of its standard error
		}
		if err := all.add(j, e); err != nil {
			return err
		}
	}
}

func (all *results) add(j job, e event) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	at := name{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		if text := strings.TrimSpace(e.Output); all.builds[e.ImportPath] == "" && !strings.HasPrefix(text, "#") {
			all.builds[e.ImportPath] = text
		}
		return all.write(e.ImportPath, e.Output)
	case "output":
		all.output[at] = append(all.output[at], e.Output)
		return all.write(e.Package, e.Output)
	case "pass":
		delete(all.output, at)
		if e.Test != "" {
			all.passed++
		}
	case "skip":
		if e.Test != "" {
			all.skipped[reason(all.output[at])]++
		}
		delete(all.output, at)
	case "fail":
		all.fail(j, e, at)
	}
	if e.Test == "" && (e.Action == "pass" || e.Action == "fail") {
		all.packages++
		word := map[string]string{"pass": "ok  ", "fail": "FAIL"}[e.Action]
		fmt.Fprintf(all.w, "%s  %-55s %6.1fs\n", word, all.on+e.Package, e.Elapsed)
		for _, f := range all.failures { // the summary may be far away, or never come
			if f.job.is(j) && f.pkg == e.Package {
				fmt.Fprintf(all.w, "      %s: %s\n", firstOf(f.test, "the package"), shorten(f.cause, 160))
			}
		}
		if f := all.files[e.Package]; f != nil {
			delete(all.files, e.Package)
			return f.Close()
		}
	}
	return nil
}

// fail records a failure, unless it only repeats the failure of a subtest or, for a package, of one of its tests.
func (all *results) fail(j job, e event, at name) {
	output := all.output[at]
	delete(all.output, at)
	for _, f := range all.failures {
		if f.job.is(j) && f.pkg == at.pkg && (at.test == "" || strings.HasPrefix(f.test, at.test+"/")) {
			return
		}
	}
	cause := cause(output)
	if e.FailedBuild != "" {
		cause = all.builds[e.FailedBuild]
	}
	if at.test == "" {
		for running, output := range all.output { // the package ended while they were running
			if running.pkg == at.pkg && running.test != "" {
				cause = running.test + ": " + firstOf(causeOf(output), cause)
			}
		}
	}
	all.failures = append(all.failures, failure{j, at.pkg, at.test, cause, all.path(at.pkg)})
}

// ended records that go test ended with an error, unless a test of the job has failed.
func (all *results) ended(j job, said string, err error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, f := range all.failures {
		if f.job.is(j) {
			return
		}
	}
	text, _ := os.ReadFile(said)
	first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	all.failures = append(all.failures, failure{j, j.dir, "", firstOf(first, err.Error()), said})
}

// used records how long a job has used processors.
func (all *results) used(d time.Duration) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.processors += d
}

// broke records a job whose tests could not be run.
func (all *results) broke(j job, err error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.failures = append(all.failures, failure{j, j.dir, "", err.Error(), all.folder})
}

// write appends to the log of a package.
func (all *results) write(pkg, text string) error {
	f := all.files[pkg]
	if f == nil {
		var err error
		if f, err = os.OpenFile(all.path(pkg), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
			return err
		}
		all.files[pkg] = f
	}
	_, err := f.WriteString(text)
	return err
}

func (all *results) path(pkg string) string { return filepath.Join(all.folder, fileName(pkg)+".log") }

// fileName returns the name of a file for a package's path.
func fileName(pkg string) string {
	pkg, _, _ = strings.Cut(pkg, " ") // the go command adds [pkg.test]
	pkg = strings.TrimPrefix(pkg, "github.com/shardsnow/")
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:`, r) {
			return '-'
		}
		return r
	}, pkg)
}

// cause returns the line that explains a failure best.
func cause(output []string) string {
	return firstOf(causeOf(output), "the package failed, but none of its tests: see its log")
}

// complains matches messages of a failure: the output of go test does not distinguish Error from Log.
var complains = regexp.MustCompile(`(?i)got|want|not|error|fail|refused`)

// causeOf returns the first line of a panic or a race, or else the first message that sounds like a failure, or
// else the first message, or nothing.
func causeOf(output []string) string {
	var first, complaint string
	for i, line := range output {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.Contains(line, "WARNING: DATA RACE") {
			return line
		}
		if !strings.Contains(line, ".go:") || strings.HasPrefix(line, "goroutine ") {
			continue
		}
		if strings.HasSuffix(line, ":") && i+1 < len(output) && !strings.Contains(output[i+1], "--- FAIL") {
			line += " " + strings.TrimSpace(output[i+1])
		}
		_, message, _ := strings.Cut(line, ".go:")
		first = firstOf(first, line)
		if complains.MatchString(message) {
			complaint = firstOf(complaint, line)
		}
	}
	return firstOf(complaint, first)
}

// reason returns the message of a skipped test.
func reason(output []string) string {
	for _, line := range output {
		if _, after, ok := strings.Cut(line, ".go:"); ok {
			_, text, _ := strings.Cut(after, ": ")
			return strings.TrimSpace(text)
		}
	}
	return "no reason given"
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

const most = 6 // failures in a summary of about ten lines

// sumUp prints a summary, and reports whether anything failed.
func (all *results) sumUp(took time.Duration) (failed bool) {
	w := all.w
	fmt.Fprintf(w, "\n%d packages in %v, %v of processors. Logs: %s\n", all.packages, took.Round(time.Second), all.processors.Round(time.Second), logs)
	for i, f := range all.failures {
		if i == most {
			fmt.Fprintf(w, "FAIL  %d more: grep -- '--- FAIL' %s/*.log\n", len(all.failures)-most, logs)
			break
		}
		title := strings.TrimSpace(f.pkg + " " + f.test)
		fmt.Fprintf(w, "FAIL  %s: %s | again: %s | log: %s\n", title, shorten(f.cause, 160), f.again(), filepath.Join(logs, filepath.Base(f.log)))
	}
	skipped := 0
	for reason, n := range all.skipped {
		skipped += n
		fmt.Fprintf(w, "skip  %d: %s\n", n, shorten(reason, 120))
	}
	if note := os.Getenv("SNOW_TEST_NOTE"); note != "" {
		fmt.Fprintln(w, note)
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", all.passed, len(all.failures), skipped)
	return len(all.failures) > 0
}

// again returns the command that runs only the failed test.
func (f failure) again() string {
	pkg := strings.TrimPrefix(strings.TrimPrefix(f.pkg, "github.com/shardsnow/snow"), "/")
	command := "make stress N=1 BUSY=0 PKG=" + firstOf(pkg, ".")
	if f.test != "" {
		parts := strings.Split(f.test, "/")
		for i := range parts {
			parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
		}
		// Make reads a dollar sign as a variable, and the shell reads a quote as the end.
		run := strings.NewReplacer("$", "$$", "'", ".").Replace(strings.Join(parts, "/"))
		command += " RUN='" + run + "'"
	}
	if f.job.long() {
		command = "SNOW_TEST_LONG=1 " + command
	}
	return command
}

func shorten(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
