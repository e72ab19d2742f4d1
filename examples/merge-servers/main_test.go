//go:build unix

package main

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/shardsnow/snow/internal/dbtest"
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
		"$ merge-servers inspect -dialect ",
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
	wantDemonstration(t, runProgram(t, "-rows", "1000"))
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
	for _, tt := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"-rows", "x"}, 2, "-rows: parse error"},
		{[]string{"-rows", "1"}, 2, "want at least 200"},
		{[]string{"-mysql", "a", "-postgres", "b"}, 2, "not both"},
		{[]string{"-mysql", "geheim"}, 1, "want user:password@tcp"},
		{[]string{secret}, 2, "no such command"},
		{[]string{"run"}, 2, "-dialect is missing"},
		{[]string{"run", "-dialect", "oracle"}, 2, "want sqlite, mysql or postgres"},
		{[]string{"run", "-dialect", "mysql"}, 2, "-source is missing"},
		{[]string{"run", "-dialect", "mysql", "-source", secret}, 2, "want NAME=DSN"},
		{[]string{"run", "-dialect", "mysql", "-source", "a=" + secret}, 2, "-plan is missing"},
		{[]string{"inspect", "-dialect", "mysql", "-source", "a=" + secret, "-plan", "p", secret}, 2, "arguments after the flags"},
		{[]string{"inspect", "-dialect", "mysql", "-source", "a=" + secret, "-plan", "p"}, 1, "source a: "},
		{[]string{"inspect", "-dialect", "mysql", "-source", "a=env:THERE_IS_NO_SUCH", "-plan", "p"}, 1, "the environment has no THERE_IS_NO_SUCH"},
		{[]string{"lookup", "-dialect", "sqlite", "-target", "x.db", "s1", "players"}, 2, "want SOURCE TABLE ID"},
		{[]string{"lookup", "-dialect", "sqlite", "-target", "x.db", "s1", "players", "x"}, 1, "want a number"},
		{[]string{"export", "-dialect", "sqlite", "-target", "x.db", "-list", "names"}, 2, "want ids, left-out or renamed"},
		{[]string{"schema", "-dialect", "sqlite", "-plan", "there-is-none.yaml"}, 1, "there-is-none.yaml"},
	} {
		got := runProgram(t, tt.args...)
		if got.code != tt.code || !strings.Contains(got.stderr, tt.stderr) {
			t.Errorf("%q: exit status %d, stderr %q; want %d and %q", tt.args, got.code, got.stderr, tt.code, tt.stderr)
		}
		if strings.Contains(got.stderr+got.stdout, "geheim") {
			t.Errorf("%q: the output has the password: %s", tt.args, got.stderr)
		}
	}
	for _, args := range [][]string{{"help"}, {"-help"}, {"run", "-help"}} {
		if got := runProgram(t, args...); got.code != 0 || !strings.Contains(got.stdout+got.stderr, "-source") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}
