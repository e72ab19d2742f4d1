//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// result is the result of a run of the program.
type result struct {
	code           int
	stdout, stderr string
}

func runProgram(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// runMerge runs a command of snow merge.
func runMerge(t *testing.T, args ...string) result {
	t.Helper()
	return runProgram(t, merging(args)...)
}

// merging returns the arguments of a command of snow merge, which is confirmed.
func merging(args []string) []string {
	if args[0] == "run" || slices.Contains(args, "-do") && slices.Contains(args, "run") {
		args = append(slices.Clone(args), "--yes")
	}
	return append([]string{"merge"}, args...)
}

// reference returns what a flag takes for the DSN of a server.
func reference(tb testing.TB, dsn string) string {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "dsn")
	if err := os.WriteFile(file, []byte(dsn), 0o600); err != nil {
		tb.Fatal(err)
	}
	return "@" + file
}

// signalled is a writer that tells when a word was written.
type signalled struct {
	mu   sync.Mutex
	text bytes.Buffer
	word string
	seen chan struct{}
	done bool
}

func (s *signalled) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(b)
	if !s.done && strings.Contains(s.text.String(), s.word) {
		s.done = true
		close(s.seen)
	}
	return len(b), nil
}

func (s *signalled) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// temporaryFolder gives the program an empty folder for its databases, and
// fails the test if anything is left there.
func temporaryFolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary folder: %v, %v", left, err)
		}
	})
}

func wantDemonstration(t *testing.T, got result) {
	t.Helper()
	if got.code != 0 {
		t.Fatalf("exit status %d, stderr %q, stdout:\n%s", got.code, got.stderr, got.stdout)
	}
	for _, want := range []string{
		"$ snow merge inspect --dialect ",
		"  mails.body: json to items, players\n",
		"✓ s2 had keys from snow: none of its ",
		"A year later, s3 joins the world",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("the output lacks %q:\n%s", want, got.stdout)
		}
	}
	if n := strings.Count(got.stdout, "Everything is as it should be."); n != 2 {
		t.Errorf("%d merges are as they should be, want 2:\n%s", n, got.stdout)
	}
}

func TestDemonstration(t *testing.T) {
	temporaryFolder(t)
	file := filepath.Join(t.TempDir(), "night.html")
	wantDemonstration(t, runProgram(t, "-rows", "1000", "-report", file))
	// The page is of the first merge.
	if page := readFile(t, file); !strings.Contains(page, "<h1>Merge of s1, s2</h1>") || !strings.Contains(page, "Everything is as it should be.") {
		t.Errorf("the page: %s", page)
	}
}

func TestDemonstrationOfACrash(t *testing.T) {
	t.Setenv(asProgram, "1") // for the process that is killed
	temporaryFolder(t)
	got := runProgram(t, "-rows", "2000", "-kill-after", "900")
	wantDemonstration(t, got)
	if !strings.Contains(got.stdout, "signal: killed. What it had done is in the ledger") {
		t.Errorf("nothing was killed:\n%s", got.stdout)
	}
}

func TestDemonstrationOnServers(t *testing.T) {
	for _, s := range []struct {
		flag, database string
		server         func(testing.TB, ...string) *dbtest.Server
	}{
		{"-mysql", "", dbtest.MariaDB},
		{"-postgres", "postgres", dbtest.Postgres},
	} {
		t.Run(s.flag, func(t *testing.T) {
			t.Setenv(asProgram, "1")
			dsn := s.server(t).DSN(s.database)
			temporaryFolder(t)
			for range 2 { // it leaves no databases behind
				wantDemonstration(t, runProgram(t, "-rows", "600", "-kill-after", "400", s.flag, dsn))
			}
		})
	}
}

func TestWrongFlags(t *testing.T) {
	secret := "root:geheim@tcp(127.0.0.1:1)/shop"
	t.Setenv("SECRET", secret)
	for _, tt := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"-rows", "x"}, 2, "-rows: parse error"},
		{[]string{"-rows", "1"}, 2, "want at least 200"},
		{[]string{"-mysql", "a", "-postgres", "b"}, 2, "not both"},
		{[]string{"-mysql", "geheim"}, 1, "want user:password@tcp"},
		{[]string{"-mysql", "env:THERE_IS_NO_SUCH"}, 1, "the environment has no THERE_IS_NO_SUCH"},
		{[]string{secret}, 2, "arguments after the flags"},
		{[]string{"merge", secret}, 2, "unknown command"},
		{[]string{"merge", "run"}, 2, "--source is missing"},
		{[]string{"merge", "run", "-source", secret}, 2, "want NAME=DSN"},
		{[]string{"merge", "run", "-source", "a=a.db"}, 2, "--plan is missing"},
		{[]string{"merge", "run", "-source", "a=a.db", "-plan", "p"}, 2, "--target is missing"},
		{[]string{"merge", "run", "-dialect", "oracle", "-source", "a=env:SECRET", "-target", "env:SECRET", "-plan", "p"}, 2, "want mysql, mariadb, postgres or sqlite"},
		{[]string{"merge", "inspect", "-dialect", "mysql", "-source", "a=" + secret, "-plan", "p"}, 2, "--source a: the list of processes"},
		{[]string{"merge", "inspect", "-dialect", "mysql", "-source", "a=env:SECRET", "-plan", "p", secret}, 2, "there are other arguments"},
		{[]string{"merge", "inspect", "-dialect", "mysql", "-source", "a=env:SECRET", "-plan", "p"}, 1, "source a: "},
		// the DSN shows the dialect
		{[]string{"merge", "inspect", "-source", "a=env:SECRET", "-plan", "p"}, 1, "source a: "},
		{[]string{"merge", "inspect", "-source", "a=env:THERE_IS_NO_SUCH", "-plan", "p"}, 2, "the environment has no THERE_IS_NO_SUCH"},
		{[]string{"merge", "inspect", "-source", "a=a.db", "-plan", "p", "-accept-certain", "geheim"}, 2, "--accept-certain: want a number above 0"},
		{[]string{"merge", "lookup", "-target", "x.db", "s1", "players"}, 2, "want SOURCE TABLE ID"},
		{[]string{"merge", "lookup", "-target", "x.db", "s1", "players", "x"}, 2, "want a number"},
		{[]string{"merge", "export", "-target", "x.db", "-json"}, 2, "CSV only"},
		{[]string{"merge", "schema", "-plan", "there-is-none.yaml"}, 1, "there-is-none.yaml"},
		{[]string{"merge", "export", "-target", "x.db", "-list", "names"}, 2, "want ids, left-out or renamed"},
		{[]string{"merge", "inspect", "-source", "a=a.db", "-plan", "p", "-ids", "small"}, 2, "want snow, offset or dense"},
		{[]string{"merge", "inspect", "-source", "a=a.db", "-plan", "p", "-leave", "5"}, 2, "--leave: want"},
	} {
		got := runProgram(t, tt.args...)
		if got.code != tt.code || !strings.Contains(got.stderr, tt.stderr) {
			t.Errorf("%q: exit status %d, stderr %q; want %d and %q", tt.args, got.code, got.stderr, tt.code, tt.stderr)
		}
		if strings.Contains(got.stderr+got.stdout, "geheim") {
			t.Errorf("%q: the output has the password: %s", tt.args, got.stderr)
		}
	}
	for _, args := range [][]string{{"help"}, {"-help"}, {"merge", "-help"}, {"merge", "run", "-help"}} {
		if got := runProgram(t, args...); got.code != 0 || !strings.Contains(got.stdout+got.stderr, "snow merge") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// A run that nobody confirms writes nothing.
func TestNotConfirmed(t *testing.T) {
	s := newStage(t, "sqlite", 400)
	target := s.world(t)
	args := append([]string{"merge"}, s.run(target)...)
	if got := runProgram(t, args...); got.code != 4 || !strings.Contains(got.stderr, "SQLite: rows of s1, s2 will be written to the target, ") {
		t.Errorf("exit status %d, stderr %q", got.code, got.stderr)
	}
	if n := s.expire(t, target); n != 0 {
		t.Errorf("%d chunks are written", n)
	}
}

// With -json each command prints one document.
func TestJSON(t *testing.T) {
	s := newStage(t, "sqlite", 400)
	target := s.create(t)
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	for _, args := range [][]string{
		append([]string{"inspect", "-plan", plan}, s.sources()...),
		append([]string{"settle", "-plan", plan}, s.sources()...),
		{"namespace", "-target", target, "-namespace", "game"},
		append([]string{"schema", "-plan", s.plan}, s.sources()...),
		append([]string{"schema", "-plan", s.plan, "-target", target}, s.sources()...),
		s.command("dry-run", target), s.run(target), s.command("verify", target),
		{"lookup", "-target", target, "s1", "players", "1000000"},
	} {
		got := runMerge(t, append(args, "-json")...)
		document := got.stdout
		if args[0] == "lookup" { // the row does not exist
			document = got.stderr
		} else if got.code != 0 {
			t.Errorf("%s: exit status %d, stderr %q", args[0], got.code, got.stderr)
		}
		if value := map[string]any{}; json.Unmarshal([]byte(document), &value) != nil || len(value) == 0 {
			t.Errorf("%s: no document of JSON: %s", args[0], document)
		}
	}
}
